#include "scheduler/world.h"

#include <algorithm>
#include <utility>

#include "gang/base/check.h"

namespace gang::test {

using engine::MemberEnd;
using engine::RoundEnd;

World::World(scheduler::Options options, Start start) : core(std::move(options)) {
  for (const api::Delta& delta : empty_lists()) tell(delta);
  if (start == Start::kInformed) post(scheduler::IntentsFound{});
}

World& World::post(const scheduler::Input& input) {
  for (scheduler::Effect& effect : core.handle(input, now)) take(std::move(effect));
  return *this;
}

World& World::add(api::Object object) {
  if (const auto* pod = std::get_if<api::Pod>(&object)) pods_[pod->meta.key.name] = *pod;
  if (const auto* node = std::get_if<api::Node>(&object)) nodes_[node->meta.key.name] = *node;
  if (const auto* group = std::get_if<api::PodGroup>(&object)) {
    groups_[group->meta.key.name] = *group;
  }
  return tell(added(std::move(object)));
}

World& World::remove_pod(const std::string& name) {
  const auto found = pods_.find(name);
  CHECK(found != pods_.end());
  const api::Pod pod = found->second;
  pods_.erase(found);
  return tell(deleted(pod));
}

World& World::remove_node(const std::string& name) {
  return tell(deleted(nodes_.at(name)));
}

World& World::remove_group(const std::string& name) {
  const api::PodGroup group = groups_.at(name);
  groups_.erase(name);
  return tell(deleted(group));
}

World& World::add_pods(const std::string& group, int count, const std::string& prefix) {
  for (int i = 0; i < count; ++i) {
    add(member(prefix + std::to_string(i), group).created(100 + i).build());
  }
  return *this;
}

World& World::add_nodes(int count, int gpus) {
  for (int i = 0; i < count; ++i) {
    add(node("n" + std::to_string(nodes_.size())).cpu("64").gpu(gpus).build());
  }
  return *this;
}

World& World::end_pod(const std::string& name, api::PodPhase phase, const std::string& reason) {
  api::Pod pod = pods_.at(name);
  remove_pod(name);
  pod.phase = phase;
  pod.status_reason = reason;
  return tell({.type = api::DeltaType::kAdded, .kind = api::Kind::kFinishedPod, .object = pod});
}

World& World::finish_pod(const std::string& name) {
  return end_pod(name, api::PodPhase::kSucceeded, "");
}

World& World::fail_pod(const std::string& name, const std::string& reason) {
  return end_pod(name, api::PodPhase::kFailed, reason);
}

World& World::show_told(const std::string& name) {
  api::Pod pod = pods_.at(name);
  for (const engine::MemberText& text : told().members) {
    if (text.uid != pod.meta.uid) continue;
    pod.conditions = {{.type = "PodScheduled",
                       .status = api::ConditionStatus::kFalse,
                       .reason = engine::failure_reason(told().verdict),
                       .message = text.message}};
  }
  return add(pod);
}

World& World::add_condition(const std::string& group, api::Condition condition) {
  api::PodGroup changed = groups_.at(group);
  changed.conditions.push_back(std::move(condition));
  return add(changed);
}

World& World::delete_group(const std::string& name) {
  api::PodGroup changed = groups_.at(name);
  changed.meta.deletion_time = now;
  return add(changed);
}

World& World::run() {
  for (int i = 0; alarm_ && *alarm_ <= now; ++i) {
    CHECK(i < 10'000);
    alarm_.reset();
    ++wake_ups_;
    post(scheduler::Tick{});
    if (binds) commit_open();
  }
  return *this;
}

World& World::pass(Duration time) {
  const TimePoint end = now + time;
  run();
  while (alarm_ && *alarm_ <= end) {
    now = std::max(now, *alarm_);
    run();
  }
  now = end;
  return *this;
}

World& World::end_round(RoundEnd end, const std::vector<std::string>& lost, MemberEnd how) {
  CHECK(!open_.empty());
  const engine::Plan plan = open_.front();
  open_.erase(open_.begin());
  engine::RoundOutcome outcome{.gang = plan.gang, .stamp = plan.stamp, .end = end};
  for (const engine::Assignment& assignment : plan.assignments) {
    const bool is_lost = std::ranges::find(lost, assignment.pod.name) != lost.end();
    outcome.members.push_back(
        {.pod = assignment.pod, .uid = assignment.uid, .end = is_lost ? how : MemberEnd::kBound});
    if (!is_lost) show_bound(assignment, plan.stamp);
  }
  outcome.recorded = end == RoundEnd::kCommitted && plan.writes_record;
  if (outcome.recorded) show_true(plan);
  post(scheduler::RoundDone{outcome});
  return *this;
}

World& World::end_rollback() {
  CHECK(!open_rollbacks_.empty());
  const engine::Rollback rollback = open_rollbacks_.front();
  open_rollbacks_.erase(open_rollbacks_.begin());
  for (const engine::Assignment& assignment : rollback.members) remove_pod(assignment.pod.name);
  post(scheduler::RollbackDone{rollback.gang});
  return *this;
}

std::vector<std::string> World::bound() const {
  std::vector<std::string> names;
  for (const auto& [name, pod] : pods_) {
    if (!pod.node_name.empty()) names.push_back(name);
  }
  return names;
}

bool World::is_true(const std::string& group) const {
  const auto* condition =
      api::find_condition(groups_.at(group).conditions, api::kInitiallyScheduled);
  return condition != nullptr && condition->status == api::ConditionStatus::kTrue;
}

const engine::Explanation& World::told() const {
  CHECK(!explanations.empty());
  return explanations.back();
}

std::vector<std::string> World::planned() const {
  std::vector<std::string> names;
  if (plans.empty()) return names;
  for (const engine::Assignment& assignment : plans.back().assignments) {
    names.push_back(assignment.pod.name);
  }
  std::ranges::sort(names);
  return names;
}

const api::Pod& World::pod_named(const std::string& name) const {
  return pods_.at(name);
}

World& World::clear() {
  plans.clear();
  explanations.clear();
  explained_at.clear();
  rollbacks.clear();
  checks.clear();
  fences.clear();
  attempts.clear();
  notices.clear();
  looks = 0;
  wake_ups_ = 0;
  return *this;
}

void World::take(scheduler::Effect effect) {
  if (auto* bind = std::get_if<scheduler::BindGang>(&effect)) {
    plans.push_back(bind->plan);
    open_.push_back(bind->plan);
  } else if (auto* explain = std::get_if<scheduler::ExplainGang>(&effect)) {
    explanations.push_back(explain->explanation);
    explained_at.push_back(now);
  } else if (auto* roll_back = std::get_if<scheduler::RollBackGang>(&effect)) {
    rollbacks.push_back(roll_back->rollback);
    open_rollbacks_.push_back(roll_back->rollback);
  } else if (auto* confirm = std::get_if<scheduler::ConfirmRound>(&effect)) {
    checks.push_back(confirm->check);
  } else if (auto* fence = std::get_if<scheduler::FenceRound>(&effect)) {
    fences.push_back(fence->intent);
  } else if (const auto* bound = std::get_if<scheduler::TellBound>(&effect)) {
    for (const engine::Assignment& pod : bound->pods) {
      told_bound.push_back(pod.pod.name + " " + pod.node_name);
    }
  } else if (std::holds_alternative<scheduler::FindIntents>(effect)) {
    ++looks;
  } else if (auto* wake = std::get_if<scheduler::WakeAt>(&effect)) {
    alarm_ = wake->time;
  } else if (auto* attempt = std::get_if<scheduler::AttemptDone>(&effect)) {
    attempts.push_back(*attempt);
  } else if (auto* notice = std::get_if<scheduler::Notice>(&effect)) {
    notices.push_back(notice->message);
  } else if (auto* wrong = std::get_if<scheduler::TellDeviceTrouble>(&effect)) {
    troubles.push_back(wrong->text);
  }
}

void World::show_bound(const engine::Assignment& assignment, const std::string& stamp) {
  const auto found = pods_.find(assignment.pod.name);
  if (found == pods_.end()) return;
  api::Pod& pod = found->second;
  pod.node_name = assignment.node_name;
  if (!stamp.empty()) {
    pod.meta.annotations = {{std::string(api::kRoundAnnotation), stamp}};
  }
  tell(updated(pod));
}

void World::show_true(const engine::Plan& plan) {
  api::PodGroup& group = groups_.at(plan.gang.key.name);
  group.conditions = {initially_scheduled()};
  tell(updated(group));
}

void World::commit_open() {
  while (!open_.empty()) end_round(RoundEnd::kCommitted);
}

PodBuilder member(const std::string& name, const std::string& group) {
  return pod(name).group(group).gpu(1).controller("Job", group);
}

api::Condition initially_scheduled() {
  return {.type = std::string(api::kInitiallyScheduled),
          .status = api::ConditionStatus::kTrue,
          .reason = "Scheduled"};
}

}  // namespace gang::test
