#include "cluster/class_table.h"

#include <utility>

namespace gang::cluster {
namespace {

/// In the order of the containers; in a container by name.
std::vector<ContainerAsk> container_asks_of(const api::Pod& pod, ResourceTable& resources) {
  std::vector<ContainerAsk> asks;
  for (std::uint32_t at = 0; at < pod.containers.size(); ++at) {
    const api::Container& container = pod.containers[at];
    const auto& entries = container.requests.entries();
    for (std::uint32_t position = 0; position < entries.size(); ++position) {
      const auto& [name, quantity] = entries[position];
      const std::int64_t count = quantity.value();
      if (count <= 0 || !api::may_be_devices(name)) continue;
      asks.push_back({.container = at,
                      .position = position,
                      .kind = container.kind,
                      .container_name = container.name,
                      .resource = resources.intern(name),
                      .count = count});
    }
  }
  return asks;
}

/// Fills everything but the id. An unreadable pod is its own text and a pod slot, nothing else.
PodClass class_of(const api::Pod& pod, ResourceTable& resources) {
  PodClass result;
  result.unreadable = pod.meta.unreadable;
  if (!result.unreadable.empty()) {
    result.requests.push_back({kPods, 1});
    return result;
  }
  resources.amounts_of(pod, api::RequestBasis::kSpec, result.requests);
  result.nonzero = api::nonzero_requests(pod, api::RequestBasis::kSpec);
  result.node_selector = pod.node_selector;
  result.required_affinity = pod.required_affinity;
  result.preferred_affinity = pod.preferred_affinity;
  result.tolerations = pod.tolerations;
  result.host_ports = pod.host_ports;
  result.rules = pod.rules;
  result.container_asks = container_asks_of(pod, resources);
  result.names_claim = pod.extended_claim.has_value();
  return result;
}

bool same_fields(const PodClass& a, const PodClass& b) {
  return a.requests == b.requests && a.nonzero == b.nonzero && a.unreadable == b.unreadable &&
         a.rules == b.rules && a.host_ports == b.host_ports && a.node_selector == b.node_selector &&
         a.tolerations == b.tolerations && a.required_affinity == b.required_affinity &&
         a.preferred_affinity == b.preferred_affinity && a.repelled_by == b.repelled_by &&
         a.container_asks == b.container_asks && a.names_claim == b.names_claim;
}

void fold_term(HashFold& fold, const api::NodeSelectorTerm& term) {
  for (const auto* list : {&term.expressions, &term.fields}) {
    fold.add(list->size());
    for (const api::NodeSelectorRequirement& requirement : *list) {
      fold.add(requirement.key).add(requirement.op);
      for (const std::string& value : requirement.values) fold.add(value);
    }
  }
}

std::uint32_t hash_of(const PodClass& c) {
  HashFold fold;
  for (const ResourceAmount& request : c.requests) {
    fold.add(request.resource.value).add(static_cast<std::uint64_t>(request.amount));
  }
  fold.add(static_cast<std::uint64_t>(c.nonzero.cpu_milli)).add(c.unreadable);
  for (const auto& [key, value] : c.node_selector) fold.add(key).add(value);
  for (const api::Toleration& t : c.tolerations) {
    fold.add(t.key).add(t.op).add(t.value).add(t.effect);
  }
  for (const api::HostPort& port : c.host_ports) fold.add(static_cast<std::uint64_t>(port.port));
  if (c.required_affinity) {
    for (const api::NodeSelectorTerm& term : c.required_affinity->terms) fold_term(fold, term);
  }
  for (const ContainerAsk& ask : c.container_asks) {
    fold.add(ask.container_name).add(static_cast<std::uint64_t>(ask.count));
  }
  fold.add(std::uint64_t{c.names_claim});
  for (const TermId term : c.repelled_by) fold.add(std::uint64_t{term.value});
  for (const api::PreferredTerm& preferred : c.preferred_affinity) {
    fold.add(static_cast<std::uint64_t>(preferred.weight));
    fold_term(fold, preferred.term);
  }
  return fold.value();
}

}  // namespace

ClassTable::Handle ClassTable::acquire(const api::Pod& pod, ResourceTable& resources) {
  PodClass wanted = class_of(pod, resources);
  if (wanted.unreadable.empty()) {
    wanted.repelled_by = terms_.matching(pod.meta.key.name_space, pod.meta.labels);
  }
  return acquire(std::move(wanted));
}

ClassTable::Handle ClassTable::acquire_again(Handle before, const std::string& name_space,
                                             const api::StringMap& labels) {
  PodClass wanted = *at(before);
  if (wanted.unreadable.empty()) wanted.repelled_by = terms_.matching(name_space, labels);
  return acquire(std::move(wanted));
}

ClassTable::Handle ClassTable::acquire(PodClass wanted) {
  const std::uint32_t hash = hash_of(wanted);
  Handle handle =
      index_.find(hash, [&](Handle candidate) { return same_fields(*at(candidate), wanted); });
  if (handle == FlatIndex::kNone) {
    handle = insert(std::move(wanted), hash);
  } else if (entries_[handle].holders == 0) {
    std::erase(resting_, handle);
  }
  ++entries_[handle].holders;
  return handle;
}

ClassTable::Handle ClassTable::insert(PodClass pod_class, std::uint32_t hash) {
  Handle handle = static_cast<Handle>(entries_.size());
  if (unused_.empty()) {
    entries_.emplace_back();
  } else {
    handle = unused_.back();
    unused_.pop_back();
  }
  pod_class.id = ClassId{++ids_given_};
  terms_.read(pod_class.repelled_by);
  entries_[handle] = {std::make_shared<const PodClass>(std::move(pod_class)), hash, 0};
  index_.insert(hash, handle);
  return handle;
}

void ClassTable::release(Handle handle) {
  Entry& entry = entries_[handle];
  if (--entry.holders > 0) return;
  if (!entry.pod_class->repelled_by.empty()) return drop(handle);
  resting_.push_back(handle);
  if (resting_.size() <= kRestingMax) return;
  drop(resting_.front());
  resting_.erase(resting_.begin());
}

void ClassTable::drop(Handle handle) {
  Entry& entry = entries_[handle];
  index_.erase(entry.hash, handle);
  terms_.unread(entry.pod_class->repelled_by);
  entry.pod_class.reset();
  unused_.push_back(handle);
}

}  // namespace gang::cluster
