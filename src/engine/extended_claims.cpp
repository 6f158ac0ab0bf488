#include "engine/extended_claims.h"

#include <algorithm>
#include <optional>

#include "gang/base/list_text.h"

namespace gang::engine {
namespace {

using cluster::ContainerAsk;

bool is_long_running(const ContainerAsk& ask) {
  return ask.kind != api::ContainerKind::kInit;
}

std::string request_name(const ContainerAsk& ask) {
  return "container-" + std::to_string(ask.container) + "-request-" + std::to_string(ask.position);
}

api::DeviceRequest request_for(const std::string& name, const std::string& class_name,
                               std::int64_t count) {
  api::DeviceRequest request{.name = name, .exactly = std::nullopt, .first_available = {}};
  request.exactly = api::DeviceAsk{.class_name = class_name, .count = count};
  return request;
}

/// Adds requests and mappings of one resource.
class ResourceRequests {
 public:
  ResourceRequests(const std::vector<ContainerAsk>& asks, const ServedResource& served,
                   ExtendedClaim& claim)
      : served_(served), claim_(claim) {
    for (const ContainerAsk& ask : asks) {
      if (ask.resource == served.resource) asks_.push_back(&ask);
    }
  }

  void add() {
    for (const ContainerAsk* ask : asks_) {
      if (!is_long_running(*ask)) continue;
      add_request(request_name(*ask), ask->count);
      map(*ask, request_name(*ask));
    }
    find_extra();
    if (extra_ != nullptr) add_request(request_name(*extra_), extra_count_);
    for (const ContainerAsk* ask : asks_) {
      if (is_long_running(*ask)) continue;
      if (reuse(*ask) > 0) map(*ask, request_name(*extra_));
    }
  }

 private:
  /// What requests of containers that run later leave the init container to ask for itself.
  std::int64_t rest_of(const ContainerAsk& init) const {
    std::int64_t rest = init.count;
    for (const ContainerAsk* ask : asks_) {
      if (is_long_running(*ask) && ask->container >= init.container) rest -= ask->count;
    }
    return std::max<std::int64_t>(0, rest);
  }

  /// The largest rest serves all init containers, which run one after another.
  void find_extra() {
    for (const ContainerAsk* ask : asks_) {
      if (is_long_running(*ask) || rest_of(*ask) <= extra_count_) continue;
      extra_ = ask;
      extra_count_ = rest_of(*ask);
    }
  }

  /// Maps the init container to later requests until they suffice; returns what is missing.
  std::int64_t reuse(const ContainerAsk& init) {
    std::int64_t rest = init.count;
    for (const ContainerAsk* ask : asks_) {
      if (rest <= 0) break;
      if (!is_long_running(*ask) || ask->container < init.container) continue;
      map(init, request_name(*ask));
      rest -= ask->count;
    }
    return rest;
  }

  void add_request(const std::string& name, std::int64_t count) {
    claim_.claim.spec.requests.push_back(request_for(name, served_.class_name, count));
  }

  void map(const ContainerAsk& ask, const std::string& request) {
    claim_.mappings.push_back({.container_name = ask.container_name,
                               .resource_name = served_.name,
                               .request_name = request});
  }

  std::vector<const ContainerAsk*> asks_;  ///< for the resource, by container
  const ServedResource& served_;
  ExtendedClaim& claim_;
  const ContainerAsk* extra_ = nullptr;
  std::int64_t extra_count_ = 0;
};

}  // namespace

ExtendedClaim extended_claim_of(const std::vector<ContainerAsk>& asks,
                                const std::vector<ServedResource>& served) {
  ExtendedClaim made;
  std::vector<ServedResource> by_name = served;
  std::ranges::sort(by_name, {}, &ServedResource::name);
  std::vector<std::string> names;
  for (const ServedResource& one : by_name) names.push_back(one.name);
  made.claim.meta.key.name = "for extended resource " + list_text(names);
  for (const ServedResource& one : by_name) ResourceRequests(asks, one, made).add();
  std::ranges::sort(made.claim.spec.requests, {}, &api::DeviceRequest::name);
  return made;
}

bool ExtendedClaims::is_needed() const {
  for (std::uint32_t i = 0; i < draft_.classes().size(); ++i) {
    if (is_needed(i)) return true;
  }
  return false;
}

bool ExtendedClaims::is_needed(std::uint32_t class_index) const {
  return draft_.table(class_index).rules().served != 0;
}

const ExtendedClaim* ExtendedClaims::claim_of(std::uint32_t class_index, std::uint32_t rank) {
  const ClassRules& rules = draft_.table(class_index).rules();
  LineSet served = 0;
  for (std::size_t i = 0; rules.served >> i != 0; ++i) {
    if (!rules.may_be_served(i)) continue;
    const cluster::NodeIndex node = draft_.snapshot().by_name()[rank];
    const cluster::ResourceId resource = rules.pod_class->requests[i].resource;
    if (draft_.snapshot().allocatable(node, resource) <= 0) served |= LineSet{1} << i;
  }
  return served == 0 ? nullptr : &claim_for({class_index, served});
}

const ExtendedClaim& ExtendedClaims::whole_claim_of(std::uint32_t class_index) {
  return claim_for({class_index, draft_.table(class_index).rules().served});
}

std::vector<const api::ResourceClaim*> ExtendedClaims::claims_on(const std::string& node_name) {
  std::vector<const api::ResourceClaim*> claims;
  const std::uint32_t rank = draft_.rank_of(node_name);
  for (std::uint32_t i = 0; i < draft_.classes().size(); ++i) {
    if (const ExtendedClaim* claim = claim_of(i, rank)) claims.push_back(&claim->claim);
  }
  return claims;
}

const ExtendedClaim& ExtendedClaims::claim_for(const Key& key) {
  if (const auto known = claims_.find(key); known != claims_.end()) return known->second;
  const ClassRules& rules = draft_.table(key.first).rules();
  std::vector<ServedResource> served;
  for (std::size_t i = 0; key.second >> i != 0; ++i) {
    if ((key.second >> i & 1) == 0) continue;
    const cluster::ResourceId resource = rules.pod_class->requests[i].resource;
    const std::string& name = draft_.snapshot().resources()[resource.value];
    served.push_back({.resource = resource, .name = name, .class_name = rules.extended->at(name)});
  }
  ExtendedClaim made = extended_claim_of(rules.pod_class->container_asks, served);
  return claims_.emplace(key, std::move(made)).first->second;
}

}  // namespace gang::engine
