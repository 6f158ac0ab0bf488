#include "engine/device_holding.h"

#include <fmt/format.h>
#include <algorithm>

#include "gang/api/selector.h"
#include "gang/base/list_text.h"

namespace gang::engine {
namespace {

using cluster::GangClaim;
using cluster::NodeInfo;

bool is_usable(const GangClaim& claim, const NodeInfo& node) {
  return api::matches(*claim.allocation->node_selector, {.name = node.name, .labels = node.labels});
}

/// "d/p/gpu-0".
std::string devices_text(const GangClaim& claim) {
  std::vector<std::string> devices;
  for (const api::DeviceResult& result : claim.allocation->results) {
    devices.push_back(api::DeviceName{result.driver, result.pool, result.device}.text());
  }
  return devices.empty() ? "no device" : list_text(devices);
}

/// "claim ns/c holds d/p/gpu-0".
std::string text_of(const GangClaim& claim) {
  return fmt::format("claim {} holds {}", claim.key.text(), devices_text(claim));
}

/// The one node that the selector names, whether it is there or not; "" where it says anything
/// else.
std::string named_node(const api::NodeSelector& selector) {
  if (selector.terms.size() != 1) return "";
  const api::NodeSelectorTerm& term = selector.terms.front();
  if (!term.expressions.empty() || term.fields.size() != 1) return "";
  const api::NodeSelectorRequirement& field = term.fields.front();
  return field.op == "In" && field.values.size() == 1 ? field.values.front() : "";
}

/// The nodes of one class as the draft has left them.
class Nodes {
 public:
  Nodes(const Draft& draft, const CapacityTable& table) : draft_(draft), table_(table) {}

  /// Whether some node takes one more of the members with what these claims hold.
  [[nodiscard]] bool serve(const std::vector<const GangClaim*>& claims) const {
    for (std::uint32_t rank = 0; rank < table_.size(); ++rank) {
      if (table_.entry(rank).capacity == 0) continue;
      if (std::ranges::all_of(claims,
                              [&](const GangClaim* one) { return is_usable(*one, at(rank)); })) {
        return true;
      }
    }
    return false;
  }

  /// Why none of the nodes of the claim's devices takes a member.
  [[nodiscard]] std::string refusals(const GangClaim& claim) const {
    std::vector<std::string> texts;
    for (std::uint32_t rank = 0; rank < table_.size(); ++rank) {
      if (is_usable(claim, at(rank))) texts.push_back(at(rank).name + ": " + reason(rank));
    }
    if (!texts.empty()) return list_text(texts);
    const std::string node = named_node(*claim.allocation->node_selector);
    return node.empty() ? "no node matches their selector" : node + ": no such node";
  }

 private:
  [[nodiscard]] const NodeInfo& at(std::uint32_t rank) const {
    return *draft_.snapshot().node(draft_.snapshot().by_name()[rank]);
  }
  [[nodiscard]] std::string reason(std::uint32_t rank) const {
    std::vector<std::string> texts;
    const std::vector<ReasonLine>& lines = table_.rules().lines;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if ((table_.entry(rank).reasons >> i & 1) != 0) texts.push_back(lines[i].text);
    }
    return fmt::format("{}", fmt::join(texts, " and "));
  }

  const Draft& draft_;
  const CapacityTable& table_;
};

/// The first claim of the kind whose devices serve nobody, whatever the nodes.
std::string unusable_text(const DeviceDraft& devices, const std::vector<GangClaim>& claims,
                          const DeviceKind& kind) {
  for (const std::size_t index : kind.members.front().claims) {
    const std::string problem = devices.held_problem(index);
    if (problem.empty()) continue;
    return fmt::format("claim {} cannot be used: {}", claims[index].key.text(), problem);
  }
  return "";
}

}  // namespace

std::string holding_text(const Draft& draft, const DeviceDraft& devices,
                         const std::vector<GangClaim>& claims, const DeviceKind& kind) {
  std::vector<const GangClaim*> held;
  for (const std::size_t index : kind.members.front().claims) {
    const api::Allocation* allocation = claims[index].allocation.get();
    if (allocation != nullptr && allocation->node_selector) held.push_back(&claims[index]);
  }
  const Nodes nodes(draft, draft.table(kind.class_index));
  if (nodes.serve(held)) return unusable_text(devices, claims, kind);
  std::vector<std::string> together;
  for (const GangClaim* claim : held) {
    if (!nodes.serve({claim})) {
      return fmt::format("{}, usable on no node that takes the pods ({})", text_of(*claim),
                         nodes.refusals(*claim));
    }
    together.push_back(text_of(*claim));
  }
  if (together.empty()) return "";
  return list_text(together) + ", which no node that takes the pods can use together";
}

std::string holder_elsewhere(const std::vector<GangClaim>& claims, const DeviceKind& kind,
                             const NodeInfo& node) {
  for (const std::size_t index : kind.members.front().claims) {
    const GangClaim& claim = claims[index];
    if (claim.allocation == nullptr || !claim.allocation->node_selector) continue;
    if (is_usable(claim, node)) continue;
    const std::string named = named_node(*claim.allocation->node_selector);
    return fmt::format("claim {}, which holds {}{}", claim.key.text(), devices_text(claim),
                       named.empty() ? "" : fmt::format(" (node {})", named));
  }
  return "";
}

}  // namespace gang::engine
