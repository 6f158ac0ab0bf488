#include "engine/class_rules.h"

#include <algorithm>
#include <utility>

#include "engine/filter.h"
#include "gang/base/check.h"

namespace gang::engine {

namespace {

bool is_accelerator(const std::string& name, const Options& options) {
  if (!options.accelerators.empty()) {
    return std::ranges::find(options.accelerators, name) != options.accelerators.end();
  }
  return api::is_extended(name);
}

/// Nodes named by the term's metadata.name In fields (their intersection), if it has any.
std::optional<std::vector<std::string>> names_of(const api::NodeSelectorTerm& term) {
  std::optional<std::vector<std::string>> names;
  for (const api::NodeSelectorRequirement& field : term.fields) {
    if (field.key != "metadata.name" || field.op != "In") continue;
    std::vector<std::string> values = field.values;
    std::ranges::sort(values);
    if (!names) {
      names = std::move(values);
      continue;
    }
    std::vector<std::string> both;
    std::ranges::set_intersection(*names, values, std::back_inserter(both));
    names = std::move(both);
  }
  return names;
}

std::optional<std::vector<std::string>> named_nodes_of(const cluster::PodClass& pod_class) {
  if (!pod_class.required_affinity || pod_class.required_affinity->terms.empty()) return {};
  std::vector<std::string> all;
  for (const api::NodeSelectorTerm& term : pod_class.required_affinity->terms) {
    const std::optional<std::vector<std::string>> names = names_of(term);
    if (!names) return {};
    all.insert(all.end(), names->begin(), names->end());
  }
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace

ClassRules::ClassRules(std::shared_ptr<const cluster::PodClass> of, const Options& options,
                       const cluster::ResourceNames& names)
    : pod_class(std::move(of)) {
  CHECK(pod_class->requests.size() <= kRequestsMax);
  if (options.toleration_comparison) comparison = api::TolerationComparison::kOn;
  plans_extended = !pod_class->container_asks.empty();
  named_nodes = named_nodes_of(*pod_class);
  for (const cluster::ResourceAmount& request : pod_class->requests) {
    const cluster::ResourceId resource = request.resource;
    requests_cpu_or_memory |= resource == cluster::kCpu || resource == cluster::kMemory;
    if (is_accelerator(names[resource.value], options)) accelerators.push_back(request);
  }
  for (const FactsFilter& filter : facts_filters()) {
    facts_lines |= LineSet{1} << lines.size();
    lines.push_back({.filter = filter.name, .text = filter.text});
  }
  avoided_line = LineSet{1} << lines.size();
  facts_lines |= avoided_line;
  lines.push_back({.filter = kKubeletRejection.name, .text = kKubeletRejection.text});
  for (const UsageFilter& filter : usage_filters()) {
    usage_first_line.push_back(static_cast<std::uint32_t>(lines.size()));
    for (std::string& text : filter.texts(*pod_class, names)) {
      lines.push_back({.filter = filter.name, .text = std::move(text)});
    }
  }
  CHECK(lines.size() <= 64);
  domains.resize(pod_class->repelled_by.size());
}

bool ClassRules::update_domains(const cluster::Snapshot& snapshot) {
  bool changed = false;
  for (std::size_t i = 0; i < domains.size(); ++i) {
    auto domain = snapshot.term(pod_class->repelled_by[i]);
    if (domain == domains[i]) continue;
    domains[i] = std::move(domain);
    changed = true;
  }
  return changed;
}

bool ClassRules::update_served(const cluster::Snapshot& snapshot) {
  if (!plans_extended || extended == snapshot.devices()->extended_resources()) return false;
  extended = snapshot.devices()->extended_resources();
  LineSet now = 0;
  for (std::size_t i = 0; i < pod_class->requests.size(); ++i) {
    const std::string& name = snapshot.resources()[pod_class->requests[i].resource.value];
    if (extended->contains(name)) now |= LineSet{1} << i;
  }
  return std::exchange(served, now) != now;
}

}  // namespace gang::engine
