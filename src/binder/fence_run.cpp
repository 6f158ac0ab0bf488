#include "binder/fence_run.h"

#include <utility>

#include "gang/base/log.h"

namespace gang::binder {
namespace {

api::Intent aborting(api::Intent intent, const std::string& epoch) {
  intent.epoch = epoch;
  intent.phase = api::IntentPhase::kAborting;
  return intent;
}

}  // namespace

FenceRun::FenceRun(const ClaimPort& port, api::StoredIntent stored, std::function<void()> done)
    : port_(port),
      stored_(std::move(stored)),
      done_(std::move(done)),
      intent_(port, aborting(stored_.intent, port.channel().options().epoch), stored_,
              [this] { on_intent(); }) {}

void FenceRun::start() {
  ++port_.channel().stats().fences;
  if (!stored_.problem.empty()) {
    return port_.channel().later(lifeline_.guard([this] { give_up(stored_.problem); }));
  }
  if (!stored_.meta.uid.empty()) return intent_.write();
  port_.channel().later(lifeline_.guard([this] { give_back(); }));
}

void FenceRun::on_intent() {
  switch (intent_.end()) {
    case IntentEnd::kOpen:
    case IntentEnd::kStopped:
      return;
    case IntentEnd::kHeld:
      return give_back();
    case IntentEnd::kForeign:
    case IntentEnd::kGone:
    case IntentEnd::kRemoved:
      return finish();
    case IntentEnd::kRefused:
      return give_up(intent_.message());
  }
}

void FenceRun::give_back() {
  GiveBack::Task task{.intent = intent_.intent(), .fences_pods = true};
  for (const api::IntentClaim& claim : stored_.intent.claims) task.unsure.insert(claim.uid);
  give_back_ = std::make_unique<GiveBack>(port_, std::move(task), [this] { on_given_back(); });
  give_back_->start();
}

void FenceRun::on_given_back() {
  if (!give_back_->refusal().empty()) return give_up(give_back_->refusal());
  log::info("what a round had left is taken back",
            {{"gang", stored_.intent.gang.text()},
             {"members", std::to_string(stored_.intent.members.size())},
             {"claims", std::to_string(stored_.intent.claims.size())}});
  if (stored_.meta.uid.empty()) return finish();
  intent_.remove();
}

void FenceRun::finish() {
  done_();
}

void FenceRun::give_up(const std::string& why) {
  log::error(
      "what a round left unfinished is not taken back",
      {{"gang", stored_.intent.gang.text()}, {"uid", stored_.intent.gang_uid.text}, {"why", why}});
  finish();
}

}  // namespace gang::binder
