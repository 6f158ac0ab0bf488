#include "scheduler/core.h"

#include <algorithm>

namespace gang::scheduler {

Duration backoff(const Options& options, std::int32_t failures) {
  Duration delay = options.backoff_initial;
  for (std::int32_t i = 1; i < failures && delay < options.backoff_max; ++i) delay *= 2;
  return std::min(delay, options.backoff_max);
}

void renew_later(const Core& core, GangRecord& record, TimePoint now) {
  record.renew_at = now + backoff(core.options, ++record.renewals);
}

bool is_recorded(const cluster::Gang& gang, const GangRecord& record) {
  if (gang.kind != cluster::GangKind::kPodGroup || gang.uid.empty()) return false;
  return record.recorded == gang.uid || is_initially_scheduled(gang);
}

GangHistory history_of(const Core& core, const cluster::Gang& gang, const GangRecord& record,
                       TimePoint now) {
  return GangHistory{.is_recorded = is_recorded(gang, record),
                     .is_settled = now >= record.live_since + core.options.done_settle,
                     .gated_members = core.options.gated_members};
}

bool is_below_minimum(const cluster::Gang& gang, const GangRecord& record) {
  const std::int64_t kept = std::int64_t{gang.counts.base()} + gang.counts.done;
  return is_recorded(gang, record) && kept < gang.min_count;
}

bool is_degraded(const cluster::Gang& gang, const GangRecord& record) {
  const bool has_any = gang.counts.base() > 0 || gang.failed_count > 0;
  return has_any && is_below_minimum(gang, record);
}

void flag(engine::Explanation& explanation, const cluster::Gang& gang, const GangRecord& record) {
  // Those of an open round are not yet; after it assumed ones are bound, if not seen so.
  const bool is_open = record.stage == Stage::kBinding;
  explanation.bound = is_open ? gang.counts.bound : gang.counts.base();
  explanation.loss = failure_text(gang);
  explanation.degraded = is_degraded(gang, record);
  explanation.partially_bound = record.repair && record.repair->is_forward_only;
  explanation.writes_condition =
      explanation.writes_condition && gang.group && !is_recorded(gang, record);
}

void tell(Core& core, GangRecord& record, const cluster::Gang& gang,
          engine::Explanation explanation, Turn& turn) {
  const bool is_for_nobody =
      gang.kind == cluster::GangKind::kLonePod && explanation.members.empty();
  if (is_for_nobody) return;
  flag(explanation, gang, record);
  auto news =
      record.report.offer(std::move(explanation), turn.now, core.options.condition_interval);
  if (news && refresh(*news, gang)) turn.effects.emplace_back(ExplainGang{*std::move(news)});
}

}  // namespace gang::scheduler
