#include "binder/intent_finder.h"

#include <utility>

#include "gang/base/log.h"

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
    note_failure(answer);
    return port_.channel().after(wait_after(answer, backoff_.next()),
                                 lifeline_.guard([this] { start(); }));
  }
  backoff_.reset();
  told_.clear();
  std::vector<api::StoredIntent> found;
  for (const api::ConfigMap& map : maps) found.push_back(api::stored_intent_from(map));
  found_(std::move(found));
}

/// Without an answer the connection is told, and without the right that.
void IntentFinder::note_failure(const kube::Answer& answer) {
  const bool is_told_elsewhere =
      answer.http_status == 0 || answer.outcome == kube::Outcome::kForbidden;
  if (is_told_elsewhere || answer.message == told_) return;
  told_ = answer.message;
  log::warn("open rounds cannot be looked for: at the start nothing is planned before",
            {{"answer", answer.message}});
}

}  // namespace gang::binder
