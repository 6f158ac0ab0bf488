#include "engine/domain_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

namespace gang::engine {
namespace {

constexpr std::uint32_t kNoDomain = cluster::TopologyLevel::kNoDomain;
/// Domains that are told one by one.
constexpr std::size_t kLinesMax = 100;
/// FNV-1a.
constexpr std::uint64_t kHashBasis = 14695981039346656037ULL;
constexpr std::uint64_t kHashPrime = 1099511628211ULL;

std::shared_ptr<const cluster::TopologyLevel> level_of(const DomainQuestion& question) {
  return question.snapshot.level(question.demand.topology_keys.front());
}

/// What an emptied cluster holds.
std::int64_t capped(std::int64_t fits, const ClassDemand& demand) {
  return std::min<std::int64_t>(fits, demand.member_count);
}

}  // namespace

DomainChoice::DomainChoice(const DomainQuestion& question)
    : of_(question), level_(level_of(question)) {
  pin();
  if (!problem_.empty()) return;
  find_domains();
  if (!problem_.empty()) return;
  for (const ClassDemand& one : of_.demand.classes) {
    sums_.push_back(&of_.tables.sums(of_.snapshot, one, *level_));
  }
  count_members();
  measure();
  rest_.resize(domains_.size());
  std::iota(rest_.begin(), rest_.end(), 0);
}

/// Members that run decide the domain.
void DomainChoice::pin() {
  std::set<std::string> values;
  for (const RunningMember& member : of_.demand.running) {
    const auto rank = of_.snapshot.rank_of(member.node_name);
    if (!rank) {
      problem_ = fmt::format("node {} of member {} does not exist", member.node_name, member.pod);
      return;
    }
    const cluster::NodeIndex node = of_.snapshot.by_name()[*rank];
    const std::uint32_t domain = level_ == nullptr ? kNoDomain : level_->domain_of(node);
    if (domain == kNoDomain) {
      problem_ =
          fmt::format("node {} of member {} has no label {}", member.node_name, member.pod, key());
      return;
    }
    pinned_ = domain;
    values.insert(value(domain));
  }
  if (values.size() < 2) return;
  problem_ = fmt::format("running members hold more than one domain of {}: {}", key(),
                         fmt::join(values, ", "));
}

void DomainChoice::find_domains() {
  const std::size_t count = level_ == nullptr ? 0 : level_->domains.size();
  domains_.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const bool is_choice = pinned_ ? *pinned_ == i : !level_->domains[i]->nodes.empty();
    if (is_choice) domains_.push_back({.domain = i});
  }
  if (!domains_.empty()) return;
  problem_ = fmt::format("no feasible placements found; no node has the label {}", key());
}

void DomainChoice::count_members() {
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    const ClassDemand& demand = of_.demand.classes[i];
    const std::vector<std::int64_t> members = members_of(i);
    bool fits = false;
    for (DomainBound& bound : domains_) {
      bound.members += capped(members[bound.domain], demand);
      bound.on_fleet += capped(sums_[i]->fits(bound.domain).on_fleet, demand);
      fits = fits || members[bound.domain] > 0;
    }
    fits_somewhere_.push_back(fits);
  }
}

/// Of a class, by domain.
std::vector<std::int64_t> DomainChoice::members_of(std::size_t index) const {
  const CapacityTable& table = *of_.classes[index].table;
  if (of_.devices != nullptr && needs_devices(of_.demand.classes[index], table)) {
    return room_with_devices(index);
  }
  std::vector<std::int64_t> members(level_->domains.size(), 0);
  for (const DomainBound& bound : domains_) {
    members[bound.domain] = sums_[index]->fits(bound.domain).now;
  }
  for (const std::uint32_t rank : avoided_ranks()) {
    const std::uint32_t domain = level_->domain_of(of_.snapshot.by_name()[rank]);
    if (domain != kNoDomain) members[domain] -= table.entry(rank).capacity;
  }
  return members;
}

std::vector<std::int64_t> DomainChoice::room_with_devices(std::size_t index) const {
  const CapacityTable& table = *of_.classes[index].table;
  const DeviceRoom room(*of_.devices, of_.snapshot);
  const std::vector<std::uint32_t> avoided = avoided_ranks();
  std::vector<std::int64_t> members(level_->domains.size(), 0);
  for (std::uint32_t rank = 0; rank < table.size(); ++rank) {
    const std::uint32_t domain = level_->domain_of(of_.snapshot.by_name()[rank]);
    if (domain == kNoDomain || std::ranges::binary_search(avoided, rank)) continue;
    members[domain] += room.on(of_.demand.classes[index], table, rank);
  }
  return members;
}

/// Ascending.
std::vector<std::uint32_t> DomainChoice::avoided_ranks() const {
  std::vector<std::uint32_t> ranks;
  for (const std::string& node_name : of_.demand.avoided_nodes) {
    if (const auto rank = of_.snapshot.rank_of(node_name)) ranks.push_back(*rank);
  }
  std::ranges::sort(ranks);
  return ranks;
}

/// Each resource once, counted as the class that asks for most of it counts.
void DomainChoice::measure() {
  std::map<cluster::ResourceId, std::pair<Measure, Wide>> by_resource;
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    const ClassDemand& demand = of_.demand.classes[i];
    for (std::size_t j = 0; j < demand.pod_class->requests.size(); ++j) {
      const cluster::ResourceAmount& request = demand.pod_class->requests[j];
      auto& [measure, most] = by_resource[request.resource];
      const Wide taken = static_cast<Wide>(request.amount) * demand.member_count;
      measure.taken += taken;
      if (taken <= std::exchange(most, std::max(most, taken))) continue;
      measure.sums = sums_[i];
      measure.request = j;
      measure.total = sums_[i]->total(j);
      measure.name = of_.snapshot.resources()[request.resource.value];
    }
  }
  for (auto& [resource, one] : by_resource) {
    if (one.first.total > 0) measures_.push_back(std::move(one.first));
  }
  measure_devices();
  std::ranges::sort(measures_, [](const Measure& a, const Measure& b) {
    const Wide of_a = std::min<Wide>(a.taken, a.total) * b.total;
    const Wide of_b = std::min<Wide>(b.taken, b.total) * a.total;
    return of_a != of_b ? of_a > of_b : a.name < b.name;
  });
}

/// Devices that no claim holds, where nodes do not share them.
void DomainChoice::measure_devices() {
  if (of_.devices == nullptr) return;
  Measure measure{.name = "devices"};
  for (const ClassDemand& demand : of_.demand.classes) {
    measure.taken += static_cast<Wide>(demand.devices_asked) * demand.member_count;
    measure.taken += demand.devices_shared;
  }
  free_devices_.assign(level_->domains.size(), 0);
  for (const cluster::NodeIndex node : of_.snapshot.by_name()) {
    const NodeDevices& here = of_.devices->counts().of(node);
    measure.total += here.free + here.used;
    const std::uint32_t domain = level_->domain_of(node);
    if (domain != kNoDomain) free_devices_[domain] += here.free;
  }
  if (measure.taken > 0 && measure.total > 0) measures_.push_back(std::move(measure));
}

std::int64_t DomainChoice::free(const Measure& measure, std::uint32_t domain) const {
  return measure.sums == nullptr ? free_devices_[domain]
                                 : measure.sums->free(domain, measure.request);
}

bool DomainChoice::is_better(const DomainBound& a, const DomainBound& b) const {
  if (a.members != b.members) return a.members > b.members;
  for (const Measure& measure : measures_) {
    const std::int64_t of_a = free(measure, a.domain);
    const std::int64_t of_b = free(measure, b.domain);
    if (of_a != of_b) return of_a < of_b;
  }
  return value(a.domain) < value(b.domain);
}

/// Mostly the first is all that is asked for: it is found in one pass, an order comes later.
std::optional<DomainBound> DomainChoice::next(std::int64_t need) {
  if (rest_.empty()) return std::nullopt;
  const auto is_later = [this](std::size_t a, std::size_t b) {
    return is_better(domains_[b], domains_[a]);
  };
  if (is_heap_) {
    std::ranges::pop_heap(rest_, is_later);
  } else if (rest_.size() < domains_.size()) {
    std::ranges::make_heap(rest_, is_later);
    is_heap_ = true;
    std::ranges::pop_heap(rest_, is_later);
  } else {
    std::iter_swap(std::ranges::max_element(rest_, is_later), rest_.end() - 1);
  }
  const DomainBound best = domains_[rest_.back()];
  rest_.pop_back();
  if (best.members >= need) return best;
  rest_.clear();
  return std::nullopt;
}

bool DomainChoice::has_next(std::int64_t need) const {
  return std::ranges::any_of(rest_,
                             [&](std::size_t other) { return domains_[other].members >= need; });
}

bool DomainChoice::has_better(const DomainBound& known) const {
  return std::ranges::any_of(rest_,
                             [&](std::size_t other) { return is_better(domains_[other], known); });
}

DomainBound DomainChoice::nearest() const {
  return *std::ranges::min_element(domains_, [this](const DomainBound& a, const DomainBound& b) {
    if (a.members != b.members) return a.members > b.members;
    return value(a.domain) < value(b.domain);
  });
}

void DomainChoice::rule_out(const DomainBound& domain) {
  std::ranges::find(domains_, domain.domain, &DomainBound::domain)->on_fleet = 0;
}

bool DomainChoice::fleet_allows(std::int64_t need) const {
  return std::ranges::any_of(domains_,
                             [need](const DomainBound& one) { return one.on_fleet >= need; });
}

PlacementText DomainChoice::text(const DomainBound& best) const {
  const std::string name = fmt::format("{}={}", key(), value(best.domain));
  return {.best = fmt::format("0/{} placements are available, best placement {}: ", count(), name),
          .pinned = pinned_ ? "running members hold " + name : "",
          .fits_somewhere = fits_somewhere_};
}

std::vector<std::string> DomainChoice::lines() const {
  std::vector<DomainBound> by_value = domains_;
  std::ranges::sort(by_value, {}, [this](const DomainBound& one) { return value(one.domain); });
  std::int64_t pending = 0;
  for (const ClassDemand& demand : of_.demand.classes) pending += demand.member_count;
  const bool is_exact = of_.devices == nullptr && of_.classes.size() == 1;
  std::vector<std::string> lines;
  for (const DomainBound& one : by_value) {
    if (lines.size() == kLinesMax) {
      lines.push_back(fmt::format("and {} more", by_value.size() - kLinesMax));
      break;
    }
    lines.push_back(fmt::format("{}={}: {}{} of {} members fit{}", key(), value(one.domain),
                                is_exact ? "" : "at most ", one.members, pending,
                                blocking_text(one.domain)));
  }
  return lines;
}

/// Of the first class that has members left over there: "; 3 Insufficient cpu", or "".
std::string DomainChoice::blocking_text(std::uint32_t domain) const {
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    if (sums_[i]->fits(domain).now >= of_.demand.classes[i].member_count) continue;
    const CapacityTable& table = *of_.classes[i].table;
    const std::vector<ReasonLine>& lines = table.rules().lines;
    std::vector<std::int64_t> counts(lines.size(), 0);
    for (const cluster::NodeIndex node : level_->domains[domain]->nodes) {
      const LineSet reasons = table.entry(of_.tables.rank_of(node)).reasons;
      for (std::size_t line = 0; line < lines.size(); ++line) counts[line] += reasons >> line & 1;
    }
    const auto most = std::ranges::max_element(counts);
    if (most == counts.end() || *most == 0) return "";
    return fmt::format("; {} {}", *most,
                       lines[static_cast<std::size_t>(most - counts.begin())].text);
  }
  return "";
}

std::uint64_t DomainChoice::causes() const {
  if (!problem_.empty()) {
    std::uint64_t hash = kHashBasis;
    for (const char c : problem_) hash = (hash ^ static_cast<std::uint8_t>(c)) * kHashPrime;
    return hash;
  }
  std::uint64_t causes = fleet_allows(std::max(1, of_.demand.need)) ? kHashBasis : 1;
  const std::vector<std::uint32_t> avoided = avoided_ranks();
  for (const DraftClass& one : of_.classes) {
    LineSet lines = 0;
    for (const cluster::NodeIndex node : domain(nearest())->nodes) {
      const std::uint32_t rank = of_.tables.rank_of(node);
      const bool is_avoided = std::ranges::binary_search(avoided, rank);
      lines |= is_avoided ? one.table->rules().avoided_line : one.table->entry(rank).reasons;
    }
    causes = (causes ^ lines) * kHashPrime;
  }
  return causes;
}

}  // namespace gang::engine
