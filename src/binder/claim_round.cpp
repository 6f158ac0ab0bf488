#include "binder/claim_round.h"

#include <algorithm>
#include <utility>

#include "gang/base/log.h"

namespace gang::binder {
namespace {

using engine::RoundEnd;

constexpr const char* kTakenOver = "another instance took the round over";
constexpr const char* kTookBack = "what an older round of the gang left was taken back first";
constexpr const char* kStays = "what an older round of the gang left is not taken back: ";

/// Claims by name and uid: one that is still to be made has none.
api::IntentClaim* find_claim(api::Intent& intent, const api::IntentClaim& wanted) {
  const auto found = std::ranges::find_if(intent.claims, [&](const api::IntentClaim& one) {
    return one.uid == wanted.uid && one.claim == wanted.claim;
  });
  return found == intent.claims.end() ? nullptr : &*found;
}

/// `lost`: what the round ends as without the object.
RoundEnd end_for(ClaimEnd end, RoundEnd lost) {
  switch (end) {
    case ClaimEnd::kLost:
      return lost;
    case ClaimEnd::kTaken:
      return RoundEnd::kOvertaken;
    case ClaimEnd::kRefused:
      return RoundEnd::kRefused;
    case ClaimEnd::kOpen:
    case ClaimEnd::kWritten:
    case ClaimEnd::kStopped:
      break;
  }
  return RoundEnd::kUnavailable;
}

}  // namespace

api::Intent intent_of(const engine::Plan& plan, const std::string& epoch) {
  api::Intent intent{.gang = plan.gang.key,
                     .gang_uid = plan.gang.uid,
                     .minimum = plan.minimum,
                     .base = plan.base,
                     .need = plan.need,
                     .epoch = epoch,
                     .stamp = plan.stamp};
  for (const engine::Assignment& pod : plan.assignments) {
    intent.members.push_back({pod.pod, pod.uid, pod.node_name});
  }
  for (const engine::ClaimWrite& write : plan.claims) {
    const api::ObjectMeta& meta = write.claim->meta;
    intent.claims.push_back({meta.key, meta.uid, write.allocation.has_value()});
  }
  for (const engine::ClaimCreation& creation : plan.new_claims) {
    intent.claims.push_back(
        {.claim = creation.claim, .allocates = true, .made_for = creation.pod_uid});
  }
  if (!plan.inherited) return intent;
  for (const api::IntentMember& member : plan.inherited->intent.members) {
    const bool is_known = std::ranges::find(intent.members, member.uid, &api::IntentMember::uid) !=
                          intent.members.end();
    if (!is_known) intent.members.push_back(member);
  }
  for (const api::IntentClaim& claim : plan.inherited->intent.claims) {
    api::IntentClaim* known = find_claim(intent, claim);
    if (known == nullptr) {
      intent.claims.push_back(claim);
    } else {
      known->allocates = known->allocates || claim.allocates;
    }
  }
  return intent;
}

ClaimRound::ClaimRound(Parts parts, engine::Plan plan,
                       std::function<void(engine::RoundOutcome)> done)
    : parts_(std::move(parts)),
      plan_(std::move(plan)),
      done_(std::move(done)),
      intent_(parts_.claims, intent_of(plan_, parts_.claims.channel().options().epoch),
              plan_.inherited.value_or(api::StoredIntent{}), [this] { on_intent(); }),
      creations_(parts_.claims.channel(), [this] { on_made(); }),
      claims_(parts_.claims.channel(), [this] { on_claims(); }),
      pods_(parts_.claims.channel(), [this] { on_pods(); }),
      backoff_(parts_.claims.channel().options().retry_initial,
               parts_.claims.channel().options().retry_max, seed_of(plan_.gang.uid.text) + 5),
      watch_(
          parts_.claims.channel(), [this] { return undo_trouble(); },
          [this](const std::string& trouble) {
            parts_.undo_slow(
                {.gang = plan_.gang.key, .gang_uid = plan_.gang.uid, .trouble = trouble});
          }) {
  for (const engine::ClaimCreation& creation : plan_.new_claims) {
    creations_.add(parts_.claims, creation);
  }
  for (const engine::ClaimWrite& write : plan_.claims) add_claim(write);
}

// --- until the claims are written ---------------------------------------------------------------

void ClaimRound::start() {
  // A claim that is made counts twice: it is created, and its pod is told of it.
  begin_deadline(plan_.assignments.size() + 2 * plan_.claims.size() + 4 * plan_.new_claims.size());
  parts_.claims.channel().after(parts_.claims.channel().options().slow_round,
                                lifeline_.guard([this] { tell_slow(); }));
  intent_.write();
}

/// A server that fails is asked again until the deadline: the gang is not left without a word.
void ClaimRound::tell_slow() {
  const bool writes = stage_ == Stage::kIntent || stage_ == Stage::kMaking ||
                      stage_ == Stage::kClaims || stage_ == Stage::kPods;
  const std::string message = trouble();
  if (!writes || message.empty() || plan_.gang.kind != cluster::GangKind::kPodGroup) return;
  told_slow_ = true;
  parts_.bindings.slow({.gang = plan_.gang, .bound = plan_.base, .message = message});
}

std::string ClaimRound::trouble() const {
  if (stage_ == Stage::kIntent) return intent_.trouble();
  if (stage_ == Stage::kMaking) return creations_.trouble();
  return stage_ == Stage::kClaims ? claims_.trouble() : pods_.trouble();
}

/// Each stage has its own; it does not run while the round waits for confirm().
void ClaimRound::begin_deadline(std::size_t writes) {
  const int number = ++deadline_number_;
  parts_.claims.channel().after(deadline_of(parts_.claims.channel().options(), writes),
                                lifeline_.guard([this, number] {
                                  if (number == deadline_number_) {
                                    abort(RoundEnd::kUnavailable, kCommitDeadline);
                                  }
                                }));
}

void ClaimRound::on_intent() {
  if (outcome_) return on_intent_removed();
  if (intent_.end() == IntentEnd::kForeign) return take_back_older();
  if (is_aborting()) return end_when_quiet();
  switch (intent_.end()) {
    case IntentEnd::kOpen:
    case IntentEnd::kRemoved:
    case IntentEnd::kForeign:
      return;
    case IntentEnd::kHeld:
      stage_ = Stage::kMaking;
      return creations_.start();
    case IntentEnd::kGone:
    case IntentEnd::kStopped:
      return abort(RoundEnd::kUnavailable, intent_.message());
    case IntentEnd::kRefused:
      return abort(RoundEnd::kRefused, intent_.message());
  }
}

void ClaimRound::take_back_older() {
  end_deadline();
  stage_ = Stage::kEnding;
  const api::StoredIntent& found = intent_.found();
  is_overtaken_ = true;
  if (!found.problem.empty()) {
    return end_with(unbound_outcome(plan_, RoundEnd::kRefused, found.problem));
  }
  older_ = std::make_unique<FenceRun>(
      parts_.claims, found, parts_.undo_slow, [this](const engine::UndoReport& report) {
        const std::string& refusal = report.trouble;
        end_with(unbound_outcome(plan_, RoundEnd::kUnavailable,
                                 refusal.empty() ? std::string(kTookBack) : kStays + refusal));
      });
  older_->start();
}

/// Whether the round goes on after a stage of writes.
template <class Step>
bool ClaimRound::is_written(const StepStage<Step>& stage, RoundEnd lost) {
  if (is_aborting()) {
    end_when_quiet();
    return false;
  }
  if (const Step* failed = stage.failed()) abort(end_for(failed->end(), lost), failed->message());
  return !is_aborting();
}

void ClaimRound::on_made() {
  if (!is_written(creations_, RoundEnd::kOvertaken)) return;
  if (creations_.steps().empty()) return write_claims();
  go_on(Stage::kMaking, &ClaimRound::write_claims);
}

/// Once a read of the intent shows the round.
void ClaimRound::go_on(Stage stage, void (ClaimRound::*then)()) {
  ask_gate([this, stage, then](GateWord word) {
    if (stage_ != stage || is_aborting()) return;
    if (word == GateWord::kOpen) return (this->*then)();
    parts_.claims.channel().after(backoff_.next(), lifeline_.guard([this, stage, then] {
      if (stage_ == stage && !is_aborting()) go_on(stage, then);
    }));
  });
}

void ClaimRound::write_claims() {
  stage_ = Stage::kClaims;
  for (const auto& made : creations_.steps()) add_claim(made->write());
  claims_.start();
}

void ClaimRound::on_claims() {
  if (!is_written(claims_, RoundEnd::kOvertaken)) return;
  stage_ = Stage::kPods;
  for (const engine::ClaimCreation& made : plan_.new_claims) {
    const auto member =
        std::ranges::find(plan_.assignments, made.pod_uid, &engine::Assignment::uid);
    PodClaimStep::Task task{.pod = made.pod, .uid = made.pod_uid};
    if (member != plan_.assignments.end()) task.resource_version = member->resource_version;
    task.status = {.claim_name = made.claim.name, .mappings = made.mappings};
    pods_.add(parts_.claims, std::move(task));
  }
  pods_.start();
}

void ClaimRound::on_pods() {
  if (!is_written(pods_, RoundEnd::kMembersGone)) return;
  end_deadline();
  stage_ = Stage::kWaiting;
  // Not at once: the step that ended is still on the stack.
  parts_.claims.channel().later(lifeline_.guard([this] { tell_written(); }));
}

void ClaimRound::tell_written() {
  if (stage_ != Stage::kWaiting) return;
  tell_awaited();
  engine::ClaimsWritten written{.gang = plan_.gang, .stamp = plan_.stamp};
  for (const auto& step : claims_.steps()) {
    const api::ObjectMeta& meta = step->claim().meta;
    written.claims.push_back({meta.uid, meta.resource_version});
  }
  parts_.written(std::move(written));
}

/// Drivers make some devices ready only now: their pods say that they wait for it.
void ClaimRound::tell_awaited() {
  std::set<api::Uid> waiting;
  for (const auto& step : claims_.steps()) {
    if (!api::awaits_conditions(step->claim())) continue;
    for (const api::ClaimConsumer& one : step->write().consumers) waiting.insert(one.uid);
  }
  for (const engine::Assignment& pod : plan_.assignments) {
    if (!waiting.contains(pod.uid) && !waiting.contains(plan_.gang.uid)) continue;
    parts_.bindings.events.submit(
        event_target(pod), {"Normal", "BindingConditionsPending", "Scheduling",
                            "waiting for binding conditions for device on node " + pod.node_name});
  }
}

// --- from the word of the scheduler to the bindings ---------------------------------------------

void ClaimRound::confirm(const engine::RoundCheck& check) {
  if (stage_ != Stage::kWaiting || is_aborting() || check.stamp != plan_.stamp) return;
  if (!check.problem.empty()) return abort(check.end, check.problem);
  for (engine::Assignment& member : plan_.assignments) {
    const auto known = check.versions.find(member.uid);
    if (known != check.versions.end()) member.resource_version = known->second;
  }
  // What was told to a pod may be newer than what the watch has shown of it.
  for (const auto& pod : pods_.steps()) {
    const auto member =
        std::ranges::find(plan_.assignments, pod->task().uid, &engine::Assignment::uid);
    if (member == plan_.assignments.end()) continue;
    const api::ResourceVersion& told = pod->task().resource_version;
    const api::ResourceVersion& known = member->resource_version;
    const bool is_newer = !told.comparable() || !known.comparable() || api::is_newer(told, known);
    if (is_newer) member->resource_version = told;
  }
  stage_ = Stage::kChecking;
  begin_deadline(1);
  fence_movers();
}

/// A Binding of the older process to another node than planned now must not win.
void ClaimRound::fence_movers() {
  for (engine::Assignment& member : plan_.assignments) {
    if (!inherits()) break;
    const auto& before = plan_.inherited->intent.members;
    const auto old = std::ranges::find(before, member.uid, &api::IntentMember::uid);
    if (old == before.end() || old->node_name == member.node_name) continue;
    member.resource_version = {};
    movers_.push_back(std::make_unique<PodFence>(parts_.claims.channel(), *old, [this] {
      if (--movers_open_ == 0 && stage_ == Stage::kChecking) check_intent();
    }));
  }
  movers_open_ = movers_.size();
  if (movers_.empty()) return check_intent();
  for (const auto& mover : movers_) mover->start();
}

/// After the versions were taken: either the intent shows that somebody took it, or they are old.
void ClaimRound::check_intent() {
  go_on(Stage::kChecking, &ClaimRound::bind);
}

void ClaimRound::bind() {
  end_deadline();
  stage_ = Stage::kBinding;
  Round::Parts parts = parts_.bindings;
  if (told_slow_) parts.slow = [](const engine::RoundProgress&) {};
  parts.gate = gate();
  bindings_ = std::make_unique<Round>(std::move(parts), plan_,
                                      [this](engine::RoundOutcome outcome) { on_bound(outcome); });
  bindings_->start();
}

void ClaimRound::add_claim(engine::ClaimWrite write) {
  claims_.add(parts_.claims, std::move(write), plan_.stamp, gate());
}

Gate ClaimRound::gate() {
  return [this](std::function<void(GateWord)> then) { ask_gate(then); };
}

void ClaimRound::ask_gate(const std::function<void(GateWord)>& then) {
  intent_.check(lifeline_.guard([this, then](GateWord word) {
    if (word == GateWord::kShut) on_overtaken();
    then(word);
  }));
}

void ClaimRound::on_overtaken() {
  is_overtaken_ = true;
  if (outcome_) return;
  bindings_ ? bindings_->stop(kTakenOver) : abort(RoundEnd::kUnavailable, kTakenOver);
}

void ClaimRound::on_bound(engine::RoundOutcome outcome) {
  end_with(std::move(outcome));
}

// --- the end ------------------------------------------------------------------------------------

void ClaimRound::drain(const std::string& why) {
  if (stage_ == Stage::kBinding || stage_ == Stage::kEnding) return;
  abort(RoundEnd::kUnavailable, why);
}

void ClaimRound::abort(RoundEnd end, const std::string& why) {
  if (is_aborting()) return;
  abort_ = Abort{end, why};
  end_deadline();
  intent_.stop(why);
  creations_.stop(why);
  claims_.stop(why);
  pods_.stop(why);
  end_when_quiet();
}

void ClaimRound::end_when_quiet() {
  const bool is_running = creations_.is_running() || claims_.is_running() || pods_.is_running();
  if (outcome_ || intent_.end() == IntentEnd::kOpen || is_running) return;
  stage_ = Stage::kEnding;
  end_with(unbound_outcome(plan_, abort_->end, words_of_abort()));
}

/// What a claim or the intent failed with says more than that the time was over.
std::string ClaimRound::words_of_abort() const {
  if (abort_->why != kCommitDeadline) return abort_->why;
  if (creations_.failed() != nullptr) return creations_.failed()->message();
  if (claims_.failed() != nullptr) return claims_.failed()->message();
  if (pods_.failed() != nullptr) return pods_.failed()->message();
  if (intent_.end() == IntentEnd::kStopped) return intent_.message();
  return abort_->why;
}

void ClaimRound::end_with(engine::RoundOutcome outcome) {
  stage_ = Stage::kEnding;
  outcome_ = std::move(outcome);
  const bool holds = intent_.end() == IntentEnd::kHeld;
  if (is_overtaken_ || (!holds && !intent_.is_unknown())) return close();
  watch_.start();
  // Not at once: what ended the round is still on the stack.
  parts_.claims.channel().later(lifeline_.guard([this] { give_back(); }));
}

GiveBack::Task ClaimRound::give_back_task() const {
  GiveBack::Task task{.intent = intent_.intent(), .fences_pods = inherits()};
  for (const engine::MemberOutcome& member : outcome_->members) {
    using engine::MemberEnd;
    const bool has_node = member.end == MemberEnd::kBound || member.end == MemberEnd::kElsewhere;
    if (has_node) task.bound.insert(member.uid);
  }
  std::erase_if(task.intent.claims,
                [&](const api::IntentClaim& claim) { return is_settled(claim, task.bound); });
  for (const api::IntentClaim& claim : task.intent.claims) {
    if (!claim.made_for.empty()) continue;
    const ClaimStep* step = step_of(claim.uid);
    if (inherits() || step->is_unknown()) task.unsure.insert(claim.uid);
  }
  return task;
}

/// Whether a claim was not written, or only for members that are bound.
bool ClaimRound::is_settled(const api::IntentClaim& claim, const std::set<api::Uid>& bound) const {
  if (!claim.made_for.empty()) {
    return bound.contains(claim.made_for) || (!inherits() && !may_be_made(claim.claim));
  }
  if (inherits()) return false;
  const ClaimStep* step = step_of(claim.uid);
  return !step->is_touched() ||
         std::ranges::all_of(step->write().consumers, [&bound](const api::ClaimConsumer& one) {
           return bound.contains(one.uid);
         });
}

bool ClaimRound::may_be_made(const api::ObjectKey& claim) const {
  return std::ranges::any_of(creations_.steps(), [&](const auto& step) {
    return step->creation().claim == claim && step->is_touched();
  });
}

const ClaimStep* ClaimRound::step_of(const api::Uid& claim) const {
  for (const auto& step : claims_.steps()) {
    if (step->write().claim->meta.uid == claim) return step.get();
  }
  return nullptr;
}

void ClaimRound::give_back() {
  GiveBack::Task task = give_back_task();
  const bool all_bound = std::ranges::all_of(
      task.intent.members, [&](const auto& member) { return task.bound.contains(member.uid); });
  if (all_bound || task.intent.claims.empty()) return remove_intent();
  give_back_ = std::make_unique<GiveBack>(parts_.claims, std::move(task), gate(),
                                          [this] { on_given_back(); });
  give_back_->start();
}

std::string ClaimRound::undo_trouble() const {
  const bool has_met = intent_.end() == IntentEnd::kOpen && !intent_.trouble().empty();
  if (has_met) return intent_.name() + ": " + intent_.trouble();
  return give_back_ ? give_back_->trouble() : "";
}

void ClaimRound::on_given_back() {
  if (is_overtaken_) return close();
  if (give_back_->refusal().empty()) return remove_intent();
  log::error("claims of a round are not given back",
             {{"gang", plan_.gang.key.text()}, {"why", give_back_->refusal()}});
  close();
}

/// The claims are as they are to be: the gang need not wait for the rest.
void ClaimRound::remove_intent() {
  report();
  intent_.remove();
}

void ClaimRound::on_intent_removed() {
  if (intent_.end() == IntentEnd::kRefused) {
    log::error("the intent of a round is not deleted",
               {{"gang", plan_.gang.key.text()}, {"why", intent_.message()}});
  }
  close();
}

void ClaimRound::report() {
  if (!std::exchange(is_reported_, true)) done_(*outcome_);
}

void ClaimRound::close() {
  stage_ = Stage::kClosed;
  report();
  if (watch_.has_told()) {
    parts_.undo_slow({.gang = plan_.gang.key, .gang_uid = plan_.gang.uid, .trouble = ""});
  }
  parts_.closed();
}

}  // namespace gang::binder
