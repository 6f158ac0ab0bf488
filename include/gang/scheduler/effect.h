// Effect: what the scheduler asks for. Carried out by a shell, in order. Values only.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "gang/api/claim.h"
#include "gang/api/intent.h"
#include "gang/base/time.h"
#include "gang/cluster/cluster_state.h"
#include "gang/engine/explanation.h"
#include "gang/engine/plan.h"

namespace gang::scheduler {

/// Carry out a round; answer with RoundDone.
struct BindGang {
  engine::Plan plan;
};

/// Write conditions and events; no answer needed unless the write failed.
struct ExplainGang {
  engine::Explanation explanation;
};

/// Delete the listed members (commit protocol 5.6 rule 3); answer with RollbackDone.
struct RollBackGang {
  engine::Rollback rollback;
};

/// Let a round whose claims are written bind its members, or give the claims back.
struct ConfirmRound {
  engine::RoundCheck check;
};

/// Take back what an open round has written (commit protocol 6); answer with RoundFenced.
struct FenceRound {
  api::StoredIntent intent;
};

/// Say of pods that they are bound: a process before has bound them, and may not have said it.
struct TellBound {
  std::vector<engine::Assignment> pods;
};

/// Look for open rounds before it is time to; answer with IntentsFound.
struct FindIntents {};

/// Send a Tick at this time, or at once when it has passed. The newest one counts.
struct WakeAt {
  TimePoint time;
};

enum class AttemptResult { kScheduled, kUnschedulable, kError };

/// An attempt ended, for metrics and logs. Counted once per gang and attempt.
struct AttemptDone {
  engine::GangRef gang;
  AttemptResult result = AttemptResult::kScheduled;
  std::int32_t member_count = 0;
};

/// An attempt took more work than is free; its namespace owes this (engine::work). For metrics.
struct AttemptCharged {
  engine::GangRef gang;
  std::int64_t work = 0;
};

/// Something an operator should read in the log, once per meaning.
struct Notice {
  std::string message;
};

/// Something has been wrong with a device for some time: to be said of each claim that holds it.
struct TellDeviceTrouble {
  cluster::DeviceTrouble trouble;
  std::string text;  ///< the same in words
};

using Effect =
    std::variant<BindGang, ConfirmRound, FenceRound, FindIntents, TellBound, ExplainGang,
                 RollBackGang, WakeAt, AttemptDone, AttemptCharged, Notice, TellDeviceTrouble>;
using Effects = std::vector<Effect>;

}  // namespace gang::scheduler
