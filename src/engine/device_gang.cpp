#include "engine/device_gang.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace gang::engine {
namespace {

constexpr std::int64_t kAllWeight = 1'000;
/// As many as nobody has.
constexpr std::int64_t kCountMost = 1'000'000;

/// What a claim's requests ask for at most.
std::int64_t weight_of(const api::ClaimSpec& spec) {
  std::int64_t weight = 0;
  const auto of_ask = [](const api::DeviceAsk& ask) {
    return ask.mode == api::AllocationMode::kAll ? kAllWeight : std::min(ask.count, kCountMost);
  };
  for (const api::DeviceRequest& request : spec.requests) {
    std::int64_t most = request.exactly ? of_ask(*request.exactly) : 0;
    for (const api::DeviceAsk& ask : request.first_available) most = std::max(most, of_ask(ask));
    weight += most;
  }
  return weight;
}

/// Gives equal specs one number.
class SpecNumbers {
 public:
  std::size_t number_of(const api::ClaimSpec& spec) {
    const auto known =
        std::ranges::find_if(specs_, [&spec](const api::ClaimSpec* one) { return *one == spec; });
    const auto number = static_cast<std::size_t>(known - specs_.begin());
    if (known == specs_.end()) specs_.push_back(&spec);
    return number;
  }

 private:
  std::vector<const api::ClaimSpec*> specs_;
};

/// What makes a member differ: its class, and for each claim whether it is shared (or allocated),
/// and which claim or spec it is.
using Likeness = std::pair<std::uint32_t, std::vector<std::pair<bool, std::size_t>>>;

void add_choices(const api::ClaimSpec& spec, DeviceKind& kind) {
  for (const api::DeviceRequest& request : spec.requests) {
    if (request.first_available.empty()) continue;
    ++kind.choices;
    const auto count = static_cast<std::uint32_t>(request.first_available.size());
    kind.alternatives = std::max(kind.alternatives, count);
  }
}

/// Equal for specs that differ in nothing by which devices are chosen, but for amounts and
/// tolerations.
std::string text_of(const api::ClaimSpec& spec) {
  std::string text;
  const auto add = [&text](const api::DeviceAsk& ask) {
    text += ask.class_name + "*" + std::to_string(ask.count);
    for (const api::DeviceSelector& one : ask.selectors) text += one.expression.value_or("") + ";";
    text += "|";
  };
  for (const api::DeviceRequest& request : spec.requests) {
    text += request.name + ":";
    if (request.exactly) add(*request.exactly);
    for (const api::DeviceAsk& ask : request.first_available) add(ask);
  }
  for (const api::DeviceConstraint& one : spec.constraints) text += one.attribute + "&";
  return text + "\n";
}

std::string text_of(const DeviceKind& kind, const std::vector<cluster::GangClaim>& claims) {
  std::string text;
  for (const std::size_t claim : kind.members.front().claims) {
    text += text_of(claims[claim].claim->spec);
  }
  return text;
}

}  // namespace

std::int64_t least_of(const api::ClaimSpec& spec) {
  std::int64_t sum = 0;
  for (const api::DeviceRequest& request : spec.requests) {
    const auto least = [](const api::DeviceAsk& ask) {
      if (ask.admin_access.value_or(false)) return std::int64_t{0};
      const bool is_count = ask.mode == api::AllocationMode::kExactCount;
      return is_count ? std::min(ask.count, kCountMost) : std::int64_t{1};
    };
    std::int64_t of_request = request.exactly ? least(*request.exactly) : kCountMost;
    for (const api::DeviceAsk& ask : request.first_available) {
      of_request = std::min(of_request, least(ask));
    }
    sum += of_request;
  }
  return sum;
}

std::vector<DeviceKind> device_kinds(std::vector<DeviceMember> members,
                                     const std::vector<cluster::GangClaim>& claims) {
  std::vector<std::int32_t> users(claims.size(), 0);
  for (const DeviceMember& member : members) {
    for (const std::size_t claim : member.claims) ++users[claim];
  }
  SpecNumbers specs;
  std::map<Likeness, std::size_t> known;
  Likeness likeness;
  std::vector<DeviceKind> kinds;
  for (DeviceMember& member : members) {
    likeness.first = member.class_index;
    likeness.second.clear();
    DeviceKind kind{.class_index = member.class_index,
                    .members = {},
                    .has_own = member.extended_count > 0,
                    .weight = member.extended_count};
    for (const std::size_t claim : member.claims) {
      const bool is_open = claims[claim].allocation == nullptr;
      const bool is_own = is_open && users[claim] == 1 && !claims[claim].of_group;
      const api::ClaimSpec& spec = claims[claim].claim->spec;
      likeness.second.emplace_back(is_own, is_own ? specs.number_of(spec) : claim);
      kind.has_own |= is_own;
      kind.has_shared |= is_open && !is_own;
      if (is_open) kind.weight += weight_of(spec);
      if (is_own) kind.least += least_of(spec);
      if (is_open) add_choices(spec, kind);
    }
    const auto [at, is_new] = known.try_emplace(likeness, kinds.size());
    if (is_new) kinds.push_back(std::move(kind));
    kinds[at->second].members.push_back(std::move(member));
  }
  if (kinds.size() > 1) {
    for (DeviceKind& kind : kinds) kind.text = text_of(kind, claims);
  }
  std::ranges::stable_sort(kinds, [](const DeviceKind& a, const DeviceKind& b) {
    return std::tie(b.has_shared, b.weight, a.text) < std::tie(a.has_shared, a.weight, b.text);
  });
  return kinds;
}

}  // namespace gang::engine
