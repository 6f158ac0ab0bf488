// ClaimReturn: takes consumers of a round that ended out of one claim, and its devices with them.
//
//   read, then the gate
//        -> names one of them? PATCH without them; the devices go in the same PATCH where the round
//           gave them and nobody else is left
//        -> names none, but an older write may still be executed? PATCH of an annotation: the
//           version moves, and every older write fails
//        -> else done
//
// Whoever was named and was taken out by the claim controller took the devices along, so devices
// are cleared only where one of the consumers is still named; or in a claim that was found left,
// reserved for nobody, and is in the very version in which it was. Whoever takes a round over marks
// its intent first and moves the versions of its claims then: with the gate asked after the claim
// was read, either the gate is shut or the PATCH fails, and devices of pods that they bind stay.
// After any answer that is not definite the claim is read and judged anew, until the server
// answers. Source: the devices contract, 7.3 and 8.1; the commit protocol, 5.5 and 6 R2.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>

#include "binder/backoff.h"
#include "binder/claim_port.h"
#include "binder/gate.h"
#include "binder/lifeline.h"
#include "gang/api/intent.h"

namespace gang::binder {

/// See the head of the file. Owned by a GiveBack; binder's thread only. At most one request or
/// timer is outstanding. Calls `done` once.
class ClaimReturn {
 public:
  /// Which claim, and what is to go out of it.
  struct Task {
    api::IntentClaim claim;
    std::set<api::Uid> consumers;  ///< that use it no more
    bool moves_version = false;    ///< an older write of it may still be executed
    Gate gate;                     ///< asked between a read and the write that uses its version
  };

  ClaimReturn(const ClaimPort& port, Task task, std::function<void()> done);

  void start() { read(); }
  /// "claim ns/c: <answer>" while a request that failed is tried again, else "".
  [[nodiscard]] const std::string& trouble() const { return trouble_; }
  /// Whether a consumer of the round was named in it.
  [[nodiscard]] bool has_changed() const { return has_changed_; }
  /// The gate was shut: it is somebody else's to give back.
  [[nodiscard]] bool is_overtaken() const { return is_overtaken_; }
  /// Why it is still as it was, for people; empty: nothing of the round is left in it.
  [[nodiscard]] const std::string& refusal() const { return refusal_; }

 private:
  void read();
  void on_read(const kube::Answer& answer, const std::optional<api::ResourceClaim>& claim);
  void on_gate(GateWord word, const api::ResourceClaim& claim);
  void write(const api::ResourceClaim& claim);
  [[nodiscard]] bool has_consumer(const api::ResourceClaim& claim) const;
  [[nodiscard]] bool is_left(const api::ResourceClaim& claim) const;
  [[nodiscard]] bool is_to_move(const api::ResourceClaim& claim) const;
  void take_out(const api::ResourceClaim& claim);
  void log_cleared() const;
  void on_written(const kube::Answer& answer);
  void again(const kube::Answer& answer);
  void read_later(Duration time);
  void finish(const std::string& refusal = "");

  const ClaimPort port_;
  const Task task_;
  const std::function<void()> done_;
  Backoff backoff_;
  std::string refusal_;
  std::string trouble_;
  std::optional<api::ResourceVersion> first_seen_;
  bool was_invalid_ = false;
  bool has_changed_ = false;
  bool is_overtaken_ = false;
  bool clears_ = false;  ///< the newest write takes the devices
  Lifeline lifeline_;
};

}  // namespace gang::binder
