// PreconditionProbe: does the API server keep the preconditions of a Binding?
//
// Everything that keeps a pod from being bound twice rests on the resourceVersion in the Binding
// (commit protocol 5.8, A5). A server, or a proxy before it, that drops it answers 2xx to a Binding
// with a wrong one. So the first member of the first plan is bound with dryRun=All and a version
// that it does not have:
//
//   unproven --ask--> asking --409-----------------------------> proven, for the process's life
//                       |  --2xx--> broken --60 s--> unproven
//                       |  --404, 401, 403, 400, 422--> unproven: the plan is not begun
//                       +--unavailable: again, with backoff, until the commit deadline--> unproven
#pragma once

#include <functional>
#include <string>

#include "binder/backoff.h"
#include "binder/channel.h"
#include "binder/lifeline.h"

namespace gang::binder {

/// A Binding of that pod that no server may carry out: a dry run needs a version it does not have.
[[nodiscard]] api::Binding unfit_binding(const engine::Assignment& assignment);

/// See the head of the file. Owned by the Binder; binder's thread only. At most one request or
/// timer is outstanding. Logs what an operator has to mend; begins and ends no round.
class PreconditionProbe {
 public:
  enum class Kind {
    kProven,
    kBroken,       ///< preconditions are not kept; is_broken() for a minute
    kPodGone,      ///< another pod has to be asked with
    kRefused,      ///< our rights or our request are wrong
    kUnavailable,  ///< no definite answer within the commit deadline
  };
  /// What came out; `message` is for people.
  struct Finding {
    Kind kind = Kind::kProven;
    std::string message;
  };

  /// `found` hears the end of each ask(); `changed` whenever is_broken() changes.
  PreconditionProbe(Channel& channel, std::function<void(const Finding&)> found,
                    std::function<void()> changed);

  /// Asks with this pod, unless an answer is waited for.
  void ask(const engine::Assignment& assignment);

  [[nodiscard]] bool is_proven() const { return state_ == State::kProven; }
  [[nodiscard]] bool is_broken() const { return state_ == State::kBroken; }

 private:
  enum class State { kUnproven, kAsking, kProven, kBroken };

  void send();
  void judge(const kube::Answer& answer);
  void on_broken();
  void again(const kube::Answer& answer);
  void end(State state, Kind kind, std::string message);

  Channel& channel_;
  const std::function<void(const Finding&)> found_;
  const std::function<void()> changed_;
  State state_ = State::kUnproven;
  api::Binding binding_;
  Backoff backoff_;
  Duration asked_at_{};
  bool token_renewed_ = false;
  Lifeline lifeline_;
};

}  // namespace gang::binder
