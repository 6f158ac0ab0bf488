#include "cluster/term_table.h"

#include <algorithm>

namespace gang::cluster {
namespace {

std::optional<std::string> value_of(const NodeInfo* facts, const std::string& key) {
  const std::string* value = facts == nullptr ? nullptr : api::find(facts->labels, key);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

}  // namespace

bool TermTable::place(PodSlot pod, NodeIndex node, const NodeInfo* facts,
                      const std::vector<api::PodAntiAffinityTerm>& terms) {
  const auto held = held_.find(pod);
  if (held != held_.end()) {
    if (held->second.node == node && held->second.terms.size() == terms.size()) return false;
    take_away(pod);
  }
  if (terms.empty()) return false;
  bool is_new = false;
  Held brings{.node = node, .terms = {}};
  for (const api::PodAntiAffinityTerm& term : terms) {
    const TermId id = intern(term, is_new);
    ++terms_.at(id).holders;
    OnNode& on_node = on_nodes_[{node, id}];
    if (++on_node.holders == 1) set_value(id, on_node, value_of(facts, term.topology_key));
    brings.terms.push_back(id);
  }
  held_.emplace(pod, std::move(brings));
  return is_new;
}

void TermTable::take_away(PodSlot pod) {
  const auto held = held_.find(pod);
  if (held == held_.end()) return;
  for (const TermId id : held->second.terms) {
    const auto on_node = on_nodes_.find({held->second.node, id});
    if (--on_node->second.holders == 0) {
      set_value(id, on_node->second, std::nullopt);
      on_nodes_.erase(on_node);
    }
    --terms_.at(id).holders;
    drop_if_unused(id);
  }
  held_.erase(held);
}

void TermTable::note_node(NodeIndex node, const NodeInfo* facts) {
  for (auto at = on_nodes_.lower_bound({node, TermId{}});
       at != on_nodes_.end() && at->first.first == node; ++at) {
    const TermId id = at->first.second;
    set_value(id, at->second, value_of(facts, terms_.at(id).key->first.topology_key));
  }
}

void TermTable::note_nodes(const Columns& columns) {
  for (auto& [place, on_node] : on_nodes_) {
    const auto& [node, id] = place;
    set_value(id, on_node, value_of(columns.info(node), terms_.at(id).key->first.topology_key));
  }
}

bool TermTable::note_namespace(const std::string& name, std::optional<api::StringMap> labels) {
  const auto known = name_spaces_.find(name);
  const bool is_same = known == name_spaces_.end() ? !labels : labels && known->second == *labels;
  if (is_same) return false;
  if (labels) {
    name_spaces_[name] = *std::move(labels);
  } else {
    name_spaces_.erase(known);
  }
  return !by_selector_.empty();
}

const api::StringMap* TermTable::labels_of_namespace(const std::string& name) const {
  const auto known = name_spaces_.find(name);
  return known == name_spaces_.end() ? nullptr : &known->second;
}

bool TermTable::matches(const Term& term, const std::string& name_space,
                        const api::StringMap& labels) const {
  const api::PodAntiAffinityTerm& rule = term.key->first;
  if (!rule.selector) return false;
  bool is_inside = std::ranges::find(rule.namespaces, name_space) != rule.namespaces.end();
  if (!is_inside && rule.namespace_selector) {
    const auto known = name_spaces_.find(name_space);
    is_inside =
        known == name_spaces_.end() || api::matches(*rule.namespace_selector, known->second);
  }
  return is_inside && api::matches(*rule.selector, labels);
}

std::vector<TermId> TermTable::matching(const std::string& name_space,
                                        const api::StringMap& labels) const {
  std::vector<TermId> result;
  if (terms_.empty()) return result;
  const auto inside = by_namespace_.find(name_space);
  if (inside != by_namespace_.end()) {
    for (const TermId id : inside->second) {
      if (matches(terms_.at(id), name_space, labels)) result.push_back(id);
    }
  }
  for (const TermId id : by_selector_) {
    if (matches(terms_.at(id), name_space, labels)) result.push_back(id);
  }
  std::ranges::sort(result);
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

void TermTable::read(const std::vector<TermId>& terms) {
  for (const TermId id : terms) {
    if (++terms_.at(id).readers == 1) changed_.insert(id);
  }
}

void TermTable::unread(const std::vector<TermId>& terms) {
  for (const TermId id : terms) {
    if (--terms_.at(id).readers > 0) continue;
    changed_.insert(id);
    drop_if_unused(id);
  }
}

std::shared_ptr<const TermDomains> TermTable::publish() {
  if (changed_.empty()) return published_;
  TermDomains domains = published_ == nullptr ? TermDomains() : *published_;
  for (const TermId id : changed_) {
    const auto known = terms_.find(id);
    if (known == terms_.end() || known->second.readers == 0) {
      domains.erase(id);
      continue;
    }
    const Term& term = known->second;
    TermDomain domain{.key = term.key->first.topology_key, .values = {}};
    domain.values.reserve(term.values.size());
    for (const auto& [value, nodes] : term.values) domain.values.push_back(value);
    domains[id] = std::make_shared<const TermDomain>(std::move(domain));
  }
  changed_.clear();
  published_ = domains.empty() ? nullptr : std::make_shared<const TermDomains>(std::move(domains));
  return published_;
}

TermId TermTable::intern(const api::PodAntiAffinityTerm& term, bool& is_new) {
  const auto [place, inserted] = ids_.try_emplace(term, TermId{ids_given_ + 1});
  if (!inserted) return place->second;
  const TermId id{++ids_given_};
  is_new = true;
  terms_.emplace(id, Term{.key = place});
  for (const std::string& name_space : term.namespaces) by_namespace_[name_space].insert(id);
  if (term.namespace_selector) by_selector_.insert(id);
  return id;
}

void TermTable::drop_if_unused(TermId id) {
  const auto known = terms_.find(id);
  if (known->second.holders > 0 || known->second.readers > 0) return;
  for (const std::string& name_space : known->second.key->first.namespaces) {
    const auto place = by_namespace_.find(name_space);
    if (place == by_namespace_.end()) continue;
    place->second.erase(id);
    if (place->second.empty()) by_namespace_.erase(place);
  }
  by_selector_.erase(id);
  ids_.erase(known->second.key);
  terms_.erase(known);
}

/// Moves the count of a node from the value it had.
void TermTable::set_value(TermId id, OnNode& on_node, std::optional<std::string> value) {
  if (on_node.value == value) return;
  Term& term = terms_.at(id);
  bool changed = false;
  if (on_node.value) {
    const auto place = term.values.find(*on_node.value);
    if (--place->second == 0) {
      term.values.erase(place);
      changed = true;
    }
  }
  if (value) changed |= ++term.values[*value] == 1;
  on_node.value = std::move(value);
  if (changed && term.readers > 0) changed_.insert(id);
}

}  // namespace gang::cluster
