#include "app/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <unistd.h>
#include <array>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>

namespace gang::app {

namespace {

using Labels = prometheus::Labels;

double kind_state_value(KindState state) {
  switch (state) {
    case KindState::kServed:
      return 1;
    case KindState::kUnserved:
      return 0;
    case KindState::kForbidden:
      return -1;
    case KindState::kNotListed:
      break;
  }
  return -2;
}

/// exp(0.001, 2, 15) as upstream.
prometheus::Histogram::BucketBoundaries attempt_buckets() {
  prometheus::Histogram::BucketBoundaries buckets;
  double bound = 0.001;
  for (int i = 0; i < 15; ++i, bound *= 2) buckets.push_back(bound);
  return buckets;
}

double seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

const char* result_label(scheduler::AttemptResult result) {
  switch (result) {
    case scheduler::AttemptResult::kScheduled:
      return "scheduled";
    case scheduler::AttemptResult::kUnschedulable:
      return "unschedulable";
    case scheduler::AttemptResult::kError:
      return "error";
  }
  return "error";
}

prometheus::Family<prometheus::Gauge>& gauge_family(prometheus::Registry& registry,
                                                    const std::string& name,
                                                    const std::string& help) {
  return prometheus::BuildGauge().Name(name).Help(help).Register(registry);
}

prometheus::Family<prometheus::Counter>& counter_family(prometheus::Registry& registry,
                                                        const std::string& name,
                                                        const std::string& help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
}

/// Lifts a counter to a total that is kept elsewhere; never lowers it.
void raise(prometheus::Counter& counter, double total) {
  if (total > counter.Value()) counter.Increment(total - counter.Value());
}

/// CPU seconds and resident bytes of this process, from /proc/self.
struct ProcessUse {
  double cpu_seconds = 0;
  double resident_bytes = 0;
};

ProcessUse read_process_use() {
  ProcessUse use;
  std::ifstream stat("/proc/self/stat");
  std::string line;
  std::getline(stat, line);
  const std::size_t after_name = line.rfind(')');
  if (after_name == std::string::npos) return use;
  std::istringstream fields(line.substr(after_name + 2));
  std::string skipped;
  for (int field = 3; field < 14; ++field) fields >> skipped;
  double user_ticks = 0;
  double system_ticks = 0;
  fields >> user_ticks >> system_ticks;
  for (int field = 16; field < 24; ++field) fields >> skipped;
  double pages = 0;
  fields >> pages;
  use.cpu_seconds = (user_ticks + system_ticks) / static_cast<double>(sysconf(_SC_CLK_TCK));
  use.resident_bytes = pages * static_cast<double>(sysconf(_SC_PAGESIZE));
  return use;
}

}  // namespace

/// The registry and references to its series.
///
/// References stay valid for the life of the registry; prometheus-cpp makes each thread-safe.
class Metrics::Impl {
 public:
  explicit Impl(std::string profile) : profile_(std::move(profile)) {
    for (const char* result : {"scheduled", "unschedulable", "error", "waiting_on_preemption"}) {
      const Labels labels{{"result", result}, {"profile", profile_}};
      group_attempts_.Add(labels);
      group_durations_.Add(labels, attempt_buckets());
      pod_attempts_.Add(labels);
      pod_durations_.Add(labels, attempt_buckets());
    }
    for (const char* end : {"committed", "members_lost", "unavailable", "refused", "overtaken",
                            "members_gone", "devices_not_ready", "group_gone"}) {
      rounds_.Add({{"result", end}}, attempt_buckets());
    }
    for (int i = 0; i < api::kKindCount; ++i) {
      const std::string_view kind = api::kind_name(static_cast<api::Kind>(i));
      set_kind_state(kind, KindState::kNotListed);
      set_kind_failures(kind, 0);
    }
    set(Gauges{});
    set(binder::Stats{});
  }

  void attempt(const scheduler::AttemptDone& attempt, Duration duration) {
    const Labels labels{{"result", result_label(attempt.result)}, {"profile", profile_}};
    const bool is_group = attempt.gang.kind == cluster::GangKind::kPodGroup;
    (is_group ? group_attempts_ : pod_attempts_).Add(labels).Increment();
    (is_group ? group_durations_ : pod_durations_)
        .Add(labels, attempt_buckets())
        .Observe(seconds(duration));
    if (is_group) algorithm_.Observe(seconds(duration));
  }

  void charge(const scheduler::AttemptCharged& charged) {
    charged_.Add({{"namespace", charged.gang.key.name_space}})
        .Increment(static_cast<double>(charged.work));
  }

  void round(engine::RoundEnd end, Duration duration) {
    rounds_.Add({{"result", engine::round_end_name(end)}}, attempt_buckets())
        .Observe(seconds(duration));
  }

  void set(const Gauges& gauges) {
    set_queue(pending_pods_, gauges.pods, {});
    pending_pods_.Add({{"queue", "incomplete"}}).Set(gauges.pods.incomplete);
    pending_pods_.Add({{"queue", "pending"}}).Set(gauges.pods.pending);
    set_queue(queued_entities_, gauges.entities, {{"type", "podgroup"}});
    objects_.Add({{"kind", "node"}}).Set(static_cast<double>(gauges.state.nodes));
    objects_.Add({{"kind", "bound_pod"}}).Set(static_cast<double>(gauges.state.bound_pods));
    objects_.Add({{"kind", "pending_pod"}}).Set(static_cast<double>(gauges.state.pending_pods));
    objects_.Add({{"kind", "gang"}}).Set(static_cast<double>(gauges.state.gangs));
    objects_.Add({{"kind", "pod_class"}}).Set(static_cast<double>(gauges.state.classes));
    const engine::PlannerStats& work = gauges.planner;
    raise(planner_.Add({{"work", "plans"}}), static_cast<double>(work.plans));
    raise(planner_.Add({{"work", "class_passes"}}), static_cast<double>(work.class_passes));
    raise(planner_.Add({{"work", "nodes_refreshed"}}), static_cast<double>(work.nodes_refreshed));
    raise(planner_.Add({{"work", "search_steps"}}), static_cast<double>(work.search_steps));
    raise(planner_.Add({{"work", "selector_steps"}}), static_cast<double>(work.selector_steps));
  }

  void set(const binder::Stats& stats) {
    const std::map<std::string, std::int64_t> values = {
        {"binding", stats.bind_requests},
        {"binding_probe", stats.probes},
        {"binding_ok", stats.bind_ok},
        {"binding_conflict", stats.bind_conflicts},
        {"binding_unknown", stats.bind_unknown},
        {"pod_read", stats.pod_reads},
        {"status_write", stats.status_writes},
        {"status_write_failed", stats.status_write_failures},
        {"event_sent", stats.events_sent},
        {"event_dropped", stats.events_dropped},
        {"forbidden", stats.forbidden},
        {"rollback", stats.rollbacks},
        {"claim_write", stats.claim_writes},
        {"intent_write", stats.intent_writes},
        {"fence", stats.fences},
    };
    for (const auto& [name, value] : values) {
      raise(requests_.Add({{"request", name}}), static_cast<double>(value));
    }
    rounds_open_.Set(static_cast<double>(stats.rounds_open));
    breaker_open_.Set(stats.breaker_open ? 1 : 0);
  }

  void set_kind_state(std::string_view kind, KindState state) {
    kind_states_.Add({{"kind", std::string(kind)}}).Set(kind_state_value(state));
  }

  void set_kind_failures(std::string_view kind, std::int64_t failures) {
    raise(kind_failures_.Add({{"kind", std::string(kind)}}), static_cast<double>(failures));
  }

  [[nodiscard]] std::string text() {
    const ProcessUse use = read_process_use();
    raise(cpu_, use.cpu_seconds);
    resident_.Set(use.resident_bytes);
    return prometheus::TextSerializer().Serialize(registry_.Collect());
  }

 private:
  static void set_queue(prometheus::Family<prometheus::Gauge>& family,
                        const scheduler::QueueCounts& counts, const Labels& more) {
    const std::array<std::pair<const char*, std::int32_t>, 4> queues = {
        {{"active", counts.active},
         {"backoff", counts.backoff},
         {"unschedulable", counts.unschedulable},
         {"gated", counts.gated}}};
    for (const auto& [queue, count] : queues) {
      Labels labels = more;
      labels["queue"] = queue;
      family.Add(labels).Set(count);
    }
  }

  std::string profile_;
  prometheus::Registry registry_;
  prometheus::Family<prometheus::Counter>& group_attempts_ =
      prometheus::BuildCounter()
          .Name("scheduler_podgroup_schedule_attempts_total")
          .Help("Attempts to schedule a PodGroup, by result.")
          .Register(registry_);
  prometheus::Family<prometheus::Histogram>& group_durations_ =
      prometheus::BuildHistogram()
          .Name("scheduler_podgroup_scheduling_attempt_duration_seconds")
          .Help("Duration of one attempt to schedule a PodGroup.")
          .Register(registry_);
  prometheus::Histogram& algorithm_ =
      prometheus::BuildHistogram()
          .Name("scheduler_podgroup_scheduling_algorithm_duration_seconds")
          .Help("Duration of the placement decision for a PodGroup.")
          .Register(registry_)
          .Add({}, attempt_buckets());
  prometheus::Family<prometheus::Counter>& pod_attempts_ =
      prometheus::BuildCounter()
          .Name("scheduler_schedule_attempts_total")
          .Help("Attempts to schedule a pod without a group, by result.")
          .Register(registry_);
  prometheus::Family<prometheus::Histogram>& pod_durations_ =
      prometheus::BuildHistogram()
          .Name("scheduler_scheduling_attempt_duration_seconds")
          .Help("Duration of one attempt to schedule a pod without a group.")
          .Register(registry_);
  prometheus::Family<prometheus::Gauge>& pending_pods_ =
      gauge_family(registry_, "scheduler_pending_pods", "Unassigned pods of ours, by queue.");
  prometheus::Family<prometheus::Gauge>& queued_entities_ = gauge_family(
      registry_, "scheduler_queued_entities", "Waiting PodGroups and lone pods, by queue.");
  prometheus::Family<prometheus::Histogram>& rounds_ =
      prometheus::BuildHistogram()
          .Name("gang_scheduler_round_duration_seconds")
          .Help("From the decision to the end of its round, by result.")
          .Register(registry_);
  prometheus::Family<prometheus::Gauge>& objects_ =
      gauge_family(registry_, "gang_scheduler_objects", "Objects in the model, by kind.");
  prometheus::Family<prometheus::Counter>& planner_ = counter_family(
      registry_, "gang_scheduler_planner_work_total", "Work of the planner, by sort.");
  prometheus::Family<prometheus::Counter>& charged_ =
      counter_family(registry_, "gang_scheduler_charged_steps_total",
                     "Steps that attempts took beyond what is free, by namespace.");
  prometheus::Family<prometheus::Counter>& requests_ = counter_family(
      registry_, "gang_scheduler_requests_total", "Requests of the binder, by sort and end.");
  prometheus::Gauge& rounds_open_ =
      gauge_family(registry_, "gang_scheduler_rounds_open", "Rounds that have not ended.").Add({});
  prometheus::Gauge& breaker_open_ =
      gauge_family(registry_, "gang_scheduler_breaker_open",
                   "1: no round starts, the API server fails more than half of the writes.")
          .Add({});
  prometheus::Family<prometheus::Gauge>& kind_states_ =
      gauge_family(registry_, "gang_scheduler_kind_state",
                   "1: the kind is served and synced; 0: not served; -1: it may not be listed; "
                   "-2: not listed yet.");
  prometheus::Family<prometheus::Counter>& kind_failures_ =
      counter_family(registry_, "gang_scheduler_list_watch_failures_total",
                     "Lists and watches that ended with an error, by kind.");
  prometheus::Counter& cpu_ =
      counter_family(registry_, "process_cpu_seconds_total", "User and system CPU time spent.")
          .Add({});
  prometheus::Gauge& resident_ =
      gauge_family(registry_, "process_resident_memory_bytes", "Resident memory.").Add({});
};

Metrics::Metrics(const std::string& profile) : impl_(std::make_unique<Impl>(profile)) {}
Metrics::~Metrics() = default;

void Metrics::attempt(const scheduler::AttemptDone& attempt, Duration duration) {
  impl_->attempt(attempt, duration);
}
void Metrics::charge(const scheduler::AttemptCharged& charged) {
  impl_->charge(charged);
}
void Metrics::round(engine::RoundEnd end, Duration duration) {
  impl_->round(end, duration);
}
void Metrics::set(const Gauges& gauges) {
  impl_->set(gauges);
}
void Metrics::set(const binder::Stats& stats) {
  impl_->set(stats);
}
void Metrics::set_kind_state(std::string_view kind, KindState state) {
  impl_->set_kind_state(kind, state);
}
void Metrics::set_kind_failures(std::string_view kind, std::int64_t failures) {
  impl_->set_kind_failures(kind, failures);
}
std::string Metrics::text() const {
  return impl_->text();
}

}  // namespace gang::app
