#include "app/metrics.h"

#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace gang::app {
namespace {

/// A text in exposition format, parsed strictly: samples by name and labels, types by family.
struct Exposition {
  std::map<std::string, double> samples;
  std::map<std::string, std::string> types;
  std::set<std::string> helps;
  std::vector<std::string> problems;

  [[nodiscard]] double value(const std::string& series) const {
    const auto at = samples.find(series);
    return at == samples.end() ? -1 : at->second;
  }
};

std::string family_of(const std::string& name, const std::map<std::string, std::string>& types) {
  if (types.contains(name)) return name;
  for (const char* suffix : {"_bucket", "_sum", "_count"}) {
    const std::string text(suffix);
    if (name.ends_with(text) && types.contains(name.substr(0, name.size() - text.size()))) {
      return name.substr(0, name.size() - text.size());
    }
  }
  return "";
}

Exposition parse(const std::string& text) {
  static const std::regex kHelp(R"(# HELP ([a-z_]+) .+)");
  static const std::regex kType(R"(# TYPE ([a-z_]+) (counter|gauge|histogram))");
  static const std::regex kSample(R"(([a-z_]+)(\{[a-z_]+="[^"]*"(,[a-z_]+="[^"]*")*\})? ([^ ]+))");
  Exposition parsed;
  std::istringstream lines(text);
  std::smatch match;
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_match(line, match, kHelp)) {
      if (!parsed.helps.insert(match[1]).second) parsed.problems.push_back("twice: " + line);
    } else if (std::regex_match(line, match, kType)) {
      if (!parsed.types.emplace(match[1], match[2]).second) parsed.problems.push_back(line);
    } else if (std::regex_match(line, match, kSample)) {
      const std::string family = family_of(match[1], parsed.types);
      if (family.empty() || !parsed.helps.contains(family)) parsed.problems.push_back(line);
      const std::string series = match[1].str() + match[2].str();
      const double value = match[4] == "+Inf" ? 1e308 : std::stod(match[4]);
      if (!parsed.samples.emplace(series, value).second) parsed.problems.push_back(line);
    } else {
      parsed.problems.push_back(line);
    }
  }
  return parsed;
}

const char* const kResults[] = {"scheduled", "unschedulable", "error", "waiting_on_preemption"};

std::string attempts(const std::string& name, const std::string& result) {
  return name + R"({profile="gang-scheduler",result=")" + result + "\"}";
}

scheduler::AttemptDone attempt(cluster::GangKind kind, scheduler::AttemptResult result) {
  scheduler::AttemptDone done;
  done.gang.kind = kind;
  done.result = result;
  done.member_count = 2;
  return done;
}

TEST(Metrics, StepsAreChargedToTheNamespace) {
  Metrics metrics("gang-scheduler");
  scheduler::AttemptCharged charged;
  charged.gang.key = {.name_space = "a", .name = "g"};
  charged.work = 20'000'000;
  metrics.charge(charged);
  metrics.charge(charged);
  const Exposition text = parse(metrics.text());
  EXPECT_EQ(text.value(R"(gang_scheduler_charged_steps_total{namespace="a"})"), 40'000'000);
}

TEST(Metrics, TextIsStrictlyWellFormed) {
  const Metrics metrics("gang-scheduler");
  const Exposition text = parse(metrics.text());
  EXPECT_EQ(text.problems, std::vector<std::string>());
  EXPECT_EQ(text.helps.size(), text.types.size());
  EXPECT_GT(text.samples.size(), 50U);
}

TEST(Metrics, B166SeriesExistFromTheStart) {
  const Metrics metrics("gang-scheduler");
  const Exposition text = parse(metrics.text());
  for (const char* result : kResults) {
    for (const char* name :
         {"scheduler_podgroup_schedule_attempts_total", "scheduler_schedule_attempts_total",
          "scheduler_podgroup_scheduling_attempt_duration_seconds_count",
          "scheduler_scheduling_attempt_duration_seconds_count"}) {
      EXPECT_EQ(text.value(attempts(name, result)), 0) << name << " " << result;
    }
  }
  for (const char* queue :
       {"active", "backoff", "unschedulable", "gated", "incomplete", "pending"}) {
    EXPECT_EQ(text.value("scheduler_pending_pods{queue=\"" + std::string(queue) + "\"}"), 0);
  }
  EXPECT_EQ(text.value(R"(scheduler_queued_entities{queue="active",type="podgroup"})"), 0);
  EXPECT_EQ(text.types.at("scheduler_podgroup_schedule_attempts_total"), "counter");
  EXPECT_EQ(text.types.at("scheduler_podgroup_scheduling_attempt_duration_seconds"), "histogram");
}

TEST(Metrics, B166AttemptsAreCountedPerGroupWithTheirDurations) {
  Metrics metrics("gang-scheduler");
  using scheduler::AttemptResult;
  const auto kGroup = cluster::GangKind::kPodGroup;
  metrics.attempt(attempt(kGroup, AttemptResult::kScheduled), std::chrono::microseconds(500));
  metrics.attempt(attempt(kGroup, AttemptResult::kUnschedulable), std::chrono::milliseconds(3));
  metrics.attempt(attempt(kGroup, AttemptResult::kUnschedulable), std::chrono::milliseconds(3));
  metrics.attempt(attempt(kGroup, AttemptResult::kError), std::chrono::milliseconds(3));
  metrics.attempt(attempt(cluster::GangKind::kLonePod, AttemptResult::kScheduled),
                  std::chrono::milliseconds(3));
  const Exposition text = parse(metrics.text());
  const std::string total = "scheduler_podgroup_schedule_attempts_total";
  const std::string duration = "scheduler_podgroup_scheduling_attempt_duration_seconds";
  EXPECT_EQ(text.value(attempts(total, "scheduled")), 1);
  EXPECT_EQ(text.value(attempts(total, "unschedulable")), 2);
  EXPECT_EQ(text.value(attempts(total, "error")), 1);
  double counted = 0;
  for (const char* result : kResults) counted += text.value(attempts(duration + "_count", result));
  EXPECT_EQ(counted, 4);
  EXPECT_EQ(
      text.value(duration + R"(_bucket{profile="gang-scheduler",result="scheduled",le="0.001"})"),
      1);
  EXPECT_EQ(text.value(attempts("scheduler_schedule_attempts_total", "scheduled")), 1);
}

TEST(Metrics, GaugesFollowAndCountersNeverFall) {
  Metrics metrics("gang-scheduler");
  Gauges gauges;
  gauges.pods.incomplete = 3;
  gauges.entities.unschedulable = 2;
  gauges.state.nodes = 7;
  gauges.planner.plans = 5;
  metrics.set(gauges);
  metrics.set(binder::Stats{.bind_requests = 4});
  metrics.set_kind_state("PodGroup", KindState::kForbidden);
  metrics.set_kind_failures("PodGroup", 3);
  gauges.pods.incomplete = 1;
  gauges.planner.plans = 4;
  metrics.set(gauges);
  metrics.set(binder::Stats{.bind_requests = 3});
  metrics.set_kind_failures("PodGroup", 2);
  const Exposition text = parse(metrics.text());
  EXPECT_EQ(text.value(R"(scheduler_pending_pods{queue="incomplete"})"), 1);
  EXPECT_EQ(text.value(R"(scheduler_queued_entities{queue="unschedulable",type="podgroup"})"), 2);
  EXPECT_EQ(text.value(R"(gang_scheduler_objects{kind="node"})"), 7);
  EXPECT_EQ(text.value(R"(gang_scheduler_planner_work_total{work="plans"})"), 5);
  EXPECT_EQ(text.value(R"(gang_scheduler_requests_total{request="binding"})"), 4);
  EXPECT_EQ(text.value(R"(gang_scheduler_kind_state{kind="PodGroup"})"), -1);
  EXPECT_EQ(text.value(R"(gang_scheduler_list_watch_failures_total{kind="PodGroup"})"), 3);
}

TEST(Metrics, EveryKindHasItsStateAndItsFailuresFromTheStart) {
  Metrics metrics("gang-scheduler");
  const auto series = [](const std::string& name, int kind) {
    return name + "{kind=\"" + std::string(api::kind_name(static_cast<api::Kind>(kind))) + "\"}";
  };
  const Exposition first = parse(metrics.text());
  for (int kind = 0; kind < api::kKindCount; ++kind) {
    EXPECT_TRUE(first.samples.contains(series("gang_scheduler_kind_state", kind)));
    EXPECT_EQ(first.value(series("gang_scheduler_kind_state", kind)), -2);
    EXPECT_EQ(first.value(series("gang_scheduler_list_watch_failures_total", kind)), 0);
  }
  metrics.set_kind_state("Node", KindState::kServed);
  metrics.set_kind_state("Workload", KindState::kUnserved);
  const Exposition text = parse(metrics.text());
  EXPECT_EQ(text.value(R"(gang_scheduler_kind_state{kind="Node"})"), 1);
  EXPECT_EQ(text.value(R"(gang_scheduler_kind_state{kind="Workload"})"), 0);
}

TEST(Metrics, SaysWhatTheProcessUses) {
  const Metrics metrics("gang-scheduler");
  const Exposition text = parse(metrics.text());
  EXPECT_GT(text.value("process_resident_memory_bytes"), 1e5);
  EXPECT_GE(text.value("process_cpu_seconds_total"), 0);
}

}  // namespace
}  // namespace gang::app
