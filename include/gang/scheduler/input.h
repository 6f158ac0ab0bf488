// Input: what the scheduler is told. The other half of effect.h. Values only.
#pragma once

#include <variant>
#include <vector>

#include "gang/api/delta.h"
#include "gang/api/intent.h"
#include "gang/engine/explanation.h"
#include "gang/engine/plan.h"

namespace gang::scheduler {

/// Time has passed, or there may be work: attempt at most one gang.
struct Tick {};

/// The binder has finished a round.
struct RoundDone {
  engine::RoundOutcome outcome;
};

/// A round that goes on lacks members for long.
struct RoundSlow {
  engine::RoundProgress progress;
};

/// The binder has finished a rollback: every listed member is gone, going, or was left alone.
struct RollbackDone {
  engine::GangRef gang;
};

/// A condition could not be written: the gang is told again, spaced.
struct ExplainFailed {
  engine::GangRef gang;
};

/// The claims of a round are written; answered with ConfirmRound once the state has seen it.
struct ClaimsWritten {
  engine::ClaimsWritten written;
};

/// The rounds that an earlier process left open. Nothing is planned before this is told.
struct IntentsFound {
  std::vector<api::StoredIntent> intents;
};

/// What an open round had written is taken back, as far as nothing is bound by it; with a trouble:
/// that was refused.
struct RoundFenced {
  engine::UndoReport report;
};

/// What an open round, or one that ended, had written is not taken back for long; without a
/// trouble: now it is.
struct UndoSlow {
  engine::UndoReport report;
};

/// Whether rounds may not start now: the API server fails, or does not keep our preconditions.
struct WritesBlocked {
  bool blocked = false;
};

using Input = std::variant<api::Delta, Tick, RoundDone, RoundSlow, RollbackDone, ExplainFailed,
                           ClaimsWritten, IntentsFound, RoundFenced, UndoSlow, WritesBlocked>;

}  // namespace gang::scheduler
