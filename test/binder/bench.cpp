#include "binder/bench.h"

#include <algorithm>

namespace gang::test {
namespace {

const char* name_of(engine::MemberEnd end) {
  switch (end) {
    case engine::MemberEnd::kBound:
      return "bound";
    case engine::MemberEnd::kElsewhere:
      return "elsewhere";
    case engine::MemberEnd::kLost:
      return "lost";
    case engine::MemberEnd::kNotBound:
      return "not_bound";
  }
  return "";
}

std::string member_name(int index) {
  return "m" + std::to_string(index);
}

}  // namespace

binder::Executor HandExecutor::executor() {
  return {.post = [this](std::function<void()> f) { add(Duration::zero(), std::move(f)); },
          .post_after = [this](Duration d, std::function<void()> f) { add(d, std::move(f)); }};
}

void HandExecutor::add(Duration pause, std::function<void()> function) {
  waiting_.emplace(Due{clock_.monotonic() + pause, next_++}, std::move(function));
}

bool HandExecutor::run_next(Duration until) {
  if (waiting_.empty() || waiting_.begin()->first.first > until) return false;
  const Duration due = waiting_.begin()->first.first;
  const auto function = std::move(waiting_.begin()->second);
  waiting_.erase(waiting_.begin());
  clock_.advance(std::max(Duration::zero(), due - clock_.monotonic()));
  function();
  return true;
}

void HandExecutor::run() {
  while (run_next(clock_.monotonic())) {
  }
}

void HandExecutor::advance(Duration duration) {
  const Duration until = clock_.monotonic() + duration;
  while (run_next(until)) {
  }
  clock_.advance(until - clock_.monotonic());
}

BinderBench::BinderBench(const binder::Options& options) {
  start(options);
}

void BinderBench::start(const binder::Options& options) {
  binder::Callbacks callbacks{
      .round_done = [this](engine::RoundOutcome outcome) { outcomes.push_back(outcome); },
      .rollback_done = [this](engine::GangRef gang) { rollbacks_done.push_back(gang); },
      .explain_failed = [this](engine::GangRef gang) { explains_failed.push_back(gang); },
      .round_slow = [this](engine::RoundProgress progress) { slow.push_back(progress); },
      .claims_written = [this](engine::ClaimsWritten told) { written.push_back(told); },
      .intents_found = [this](std::vector<api::StoredIntent> all) { intents.push_back(all); },
      .round_fenced = [this](engine::UndoReport report) { fenced.push_back(report); },
      .undo_slow = [this](engine::UndoReport report) { undos.push_back(report); },
      .writes_blocked = [this](bool is_blocked) { blocked.push_back(is_blocked); }};
  binder = std::make_unique<binder::Binder>(binder::Clients{client, claims}, clock, options,
                                            std::move(callbacks), executor.executor());
}

void BinderBench::create_gang(int count) {
  api::PodGroup group;
  group.meta.key = {"ns", "train"};
  group.meta.uid = {"uid-train"};
  client.put(group);
  for (int i = 0; i < count; ++i) {
    api::Pod pod;
    pod.meta.key = {"ns", member_name(i)};
    pod.meta.uid = {"uid-" + member_name(i)};
    pod.scheduler_name = "gang-scheduler";
    pod.pod_group_name = "train";
    client.put(pod);
  }
}

engine::GangRef BinderBench::gang() const {
  return {.id = {1},
          .kind = cluster::GangKind::kPodGroup,
          .key = {"ns", "train"},
          .uid = {"uid-train"}};
}

engine::Assignment BinderBench::assignment(const std::string& pod, const std::string& node) const {
  const api::Pod* found = client.pod(pod);
  return {
      .pod = {"ns", pod},
      .uid = {"uid-" + pod},
      .resource_version = found == nullptr ? api::ResourceVersion{} : found->meta.resource_version,
      .node_name = node};
}

engine::Plan BinderBench::plan(int minimum, int count) const {
  engine::Plan plan{.gang = gang(), .minimum = minimum, .need = minimum};
  plan.stamp = "round-1";
  plan.writes_record = true;
  for (int i = 0; i < count; ++i) {
    plan.assignments.push_back(assignment(member_name(i), "n" + std::to_string(i)));
  }
  return plan;
}

engine::Explanation BinderBench::explanation(engine::Verdict verdict, std::string message,
                                             const std::vector<std::string>& pods) const {
  engine::Explanation explanation{.gang = gang(), .verdict = verdict, .minimum = 4};
  explanation.message = message;
  explanation.live = static_cast<std::int32_t>(pods.size());
  for (const std::string& name : pods) {
    const api::Pod* pod = client.pod(name);
    engine::MemberText member{.pod = {"ns", name}, .uid = {"uid-" + name}, .message = message};
    if (pod != nullptr) {
      member.resource_version = pod->meta.resource_version;
      member.current = client.pod_condition(name, "PodScheduled");
    }
    explanation.members.push_back(std::move(member));
  }
  return explanation;
}

void BinderBench::commit(const engine::Plan& plan) {
  binder->commit(plan);
  run();
}

void BinderBench::explain(const engine::Explanation& explanation) {
  binder->explain(explanation);
  run();
}

void BinderBench::rollback(const engine::Rollback& rollback) {
  binder->rollback(rollback);
  run();
}

std::string BinderBench::round_end() const {
  return outcomes.empty() ? "open" : engine::round_end_name(outcomes.back().end);
}

std::string BinderBench::members() const {
  std::string text;
  if (outcomes.empty()) return text;
  for (const engine::MemberOutcome& member : outcomes.back().members) {
    text += (text.empty() ? "" : " ") + member.pod.name + "=" + name_of(member.end);
  }
  return text;
}

}  // namespace gang::test
