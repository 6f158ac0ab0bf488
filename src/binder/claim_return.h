// ClaimReturn: takes consumers of a round that ended out of one claim, and its devices with them.
//
//   read -> names one of them? PATCH without them; the devices go in the same PATCH where the round
//           gave them and nobody else is left
//        -> names none, but an older write may still be executed? PATCH of an annotation: the
//           version moves, and every older write fails
//        -> else done
//
// Whoever was named and was taken out by the claim controller took the devices along, so devices
// are cleared only where one of the consumers is still named; or in a claim that was found left,
// reserved for nobody, and is in the very version in which it was. After any answer that is not
// definite the claim is read and judged anew, until the server answers. Source: the devices
// contract, 7.3 and 8.1; the commit protocol, 5.5 and 6 R2.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>

#include "binder/backoff.h"
#include "binder/claim_port.h"
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
  };

  ClaimReturn(const ClaimPort& port, Task task, std::function<void()> done);

  void start() { read(); }
  /// "claim ns/c: <answer>" while a request that failed is tried again, else "".
  [[nodiscard]] const std::string& trouble() const { return trouble_; }
  /// Whether a consumer of the round was named in it.
  [[nodiscard]] bool has_changed() const { return has_changed_; }
  /// Why it is still as it was, for people; empty: nothing of the round is left in it.
  [[nodiscard]] const std::string& refusal() const { return refusal_; }

 private:
  void read();
  void on_read(const kube::Answer& answer, const std::optional<api::ResourceClaim>& claim);
  void judge(const api::ResourceClaim& claim);
  [[nodiscard]] bool is_left(const api::ResourceClaim& claim) const;
  void move_version(const api::ResourceClaim& claim);
  void log_cleared() const;
  void on_written(const kube::Answer& answer);
  void again(const kube::Answer& answer);
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
  bool clears_ = false;  ///< the newest write takes the devices
  Lifeline lifeline_;
};

}  // namespace gang::binder
