#include "scheduler/avoidance.h"

#include <fmt/format.h>
#include <algorithm>

#include "gang/base/list_text.h"

namespace gang::scheduler {
void Avoidances::note_node(const cluster::Failure& failure, TimePoint from) {
  Refused& known = nodes_[failure.node_name];
  if (from + kAvoidTime > known.until) known = {.until = from + kAvoidTime, .failure = failure};
}

void Avoidances::note_devices(const std::vector<UnreadyDevice>& devices, TimePoint now) {
  if (devices.empty()) return;
  for (const UnreadyDevice& one : devices) devices_[one.device] = one.why;
  devices_until_ = now + kAvoidTime;
}

void Avoidances::end(TimePoint now) {
  std::erase_if(nodes_, [now](const auto& node) { return node.second.until <= now; });
  if (devices_until_ <= now) devices_.clear();
}

std::optional<TimePoint> Avoidances::first_end() const {
  std::optional<TimePoint> first;
  for (const auto& [node, refused] : nodes_) {
    if (!first || refused.until < *first) first = refused.until;
  }
  if (!devices_.empty() && (!first || devices_until_ < *first)) first = devices_until_;
  return first;
}

void Avoidances::leave_out(cluster::Gang& gang) const {
  for (const auto& [node, refused] : nodes_) gang.avoided_nodes.push_back(node);
  for (const auto& [device, why] : devices_) gang.avoided_devices.push_back(device);
}

std::string Avoidances::text() const {
  std::vector<std::string> nodes;
  for (const auto& [node, refused] : nodes_) {
    nodes.push_back(fmt::format("; {} refused pod {} ({})", node, refused.failure.pod.name,
                                refused.failure.reason));
  }
  const std::string text = list_text(nodes, {.between = "", .what = " nodes did so"});
  if (devices_.empty()) return text;
  std::vector<std::string> devices;
  for (const auto& [device, why] : devices_) devices.push_back(why);
  return text + fmt::format("; left out until {}: ", format_rfc3339(devices_until_)) +
         list_text(devices, {.what = " devices"});
}

}  // namespace gang::scheduler
