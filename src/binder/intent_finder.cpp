#include "binder/intent_finder.h"

#include <utility>

namespace gang::binder {

IntentFinder::IntentFinder(const ClaimPort& port,
                           std::function<void(std::vector<api::StoredIntent>)> found)
    : port_(port),
      found_(std::move(found)),
      backoff_(port.channel().options().retry_initial, port.channel().options().retry_max,
               /*seed=*/2) {}

void IntentFinder::start() {
  port_.list_intents(
      lifeline_.guard([this](const kube::Answer& answer, const std::vector<api::ConfigMap>& maps) {
        on_list(answer, maps);
      }));
}

void IntentFinder::on_list(const kube::Answer& answer, const std::vector<api::ConfigMap>& maps) {
  if (!answer.ok()) {
    return port_.channel().after(wait_after(answer, backoff_.next()),
                                 lifeline_.guard([this] { start(); }));
  }
  backoff_.reset();
  std::vector<api::StoredIntent> found;
  for (const api::ConfigMap& map : maps) found.push_back(api::stored_intent_from(map));
  found_(std::move(found));
}

}  // namespace gang::binder
