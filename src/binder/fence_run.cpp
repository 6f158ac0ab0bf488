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

FenceRun::FenceRun(const ClaimPort& port, api::StoredIntent stored, Hear slow, Hear done)
    : port_(port),
      stored_(std::move(stored)),
      done_(std::move(done)),
      intent_(port, aborting(stored_.intent, port.channel().options().epoch), stored_,
              [this] { on_intent(); }),
      watch_(
          port.channel(), [this] { return trouble(); },
          [this, slow = std::move(slow)](const std::string& met) { slow(report(met)); }) {}

engine::UndoReport FenceRun::report(const std::string& trouble) const {
  engine::UndoReport report{.gang = stored_.intent.gang,
                            .gang_uid = stored_.intent.gang_uid,
                            .is_round = is_round(),
                            .trouble = trouble};
  if (!give_back_) return report;
  report.bound = give_back_->bound_count();
  report.given_back = give_back_->given_back_count();
  return report;
}

std::string FenceRun::trouble() const {
  const bool has_met = intent_.end() == IntentEnd::kOpen && !intent_.trouble().empty();
  if (has_met) return intent_.name() + ": " + intent_.trouble();
  return give_back_ ? give_back_->trouble() : "";
}

void FenceRun::start() {
  ++port_.channel().stats().fences;
  watch_.start();
  if (!stored_.problem.empty()) {
    return port_.channel().later(lifeline_.guard([this] { give_up(stored_.problem); }));
  }
  if (is_round()) return intent_.write();
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

/// Without an intent of its own it must find none: claims of an open round are not idle.
Gate FenceRun::gate() {
  return [this](std::function<void(GateWord)> then) {
    auto answer = lifeline_.guard([this, then = std::move(then)](GateWord word) {
      is_overtaken_ = is_overtaken_ || word == GateWord::kShut;
      then(word);
    });
    is_round() ? intent_.check(std::move(answer)) : intent_.check_absent(std::move(answer));
  };
}

void FenceRun::give_back() {
  GiveBack::Task task{.intent = intent_.intent(), .fences_pods = true};
  for (const api::IntentClaim& claim : stored_.intent.claims) task.unsure.insert(claim.uid);
  give_back_ =
      std::make_unique<GiveBack>(port_, std::move(task), gate(), [this] { on_given_back(); });
  give_back_->start();
}

void FenceRun::on_given_back() {
  if (is_overtaken_) return finish();
  if (!give_back_->refusal().empty()) return give_up(give_back_->refusal());
  log::info(is_round() ? "an open round is ended" : "claims that nobody uses are given back",
            {{"gang", stored_.intent.gang.text()},
             {"members", std::to_string(stored_.intent.members.size())},
             {"bound", std::to_string(give_back_->bound_count())},
             {"claims", std::to_string(stored_.intent.claims.size())},
             {"given_back", std::to_string(give_back_->given_back_count())}});
  if (!is_round()) return finish();
  intent_.remove();
}

void FenceRun::finish(const std::string& refusal) {
  done_(report(refusal));
}

void FenceRun::give_up(const std::string& why) {
  log::error(
      "what a round left unfinished is not taken back",
      {{"gang", stored_.intent.gang.text()}, {"uid", stored_.intent.gang_uid.text}, {"why", why}});
  finish(why);
}

}  // namespace gang::binder
