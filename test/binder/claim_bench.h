// ClaimBench: a BinderBench whose gang needs devices, with faults that count the writes of all.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "binder/bench.h"

namespace gang::test {

/// Pods m0, m1, ... with the claims c0, c1, ...: each pod needs the device "d<i>" by "c<i>".
class ClaimBench : public BinderBench {
 public:
  enum class Loss {
    kExecuted,     ///< executed, the answer is lost
    kNotExecuted,  ///< not executed, the answer is lost
    kLate,         ///< executed by run_late(), the answer is lost
  };

  explicit ClaimBench(const std::string& epoch = "e1");

  static binder::Options options(const std::string& epoch);
  /// The process is gone, with all that it had not sent; another one begins.
  void restart(const std::string& epoch);
  /// Pods and their unallocated claims.
  void create_gang_with_claims(int count);
  /// As plan(), with a write per claim.
  [[nodiscard]] engine::Plan claim_plan(int minimum, int count) const;
  [[nodiscard]] engine::ClaimWrite write_of(const std::string& claim,
                                            const std::vector<std::string>& pods) const;
  /// Somebody else writes the intent that there is.
  void take_over(const std::string& other_epoch);
  /// Answers claims_written of the newest round with the versions as they are now.
  void confirm(const std::string& problem = "",
               engine::RoundEnd end = engine::RoundEnd::kOvertaken);
  /// commit() and confirm(), then time for everything to end.
  void carry_out(const engine::Plan& plan);
  /// find_intents(), then fence() of each that was found.
  void recover();

  /// The write of that number (from 0) meets `loss`.
  void lose(int number, Loss loss);
  /// The write of that number meets `loss`; from then on nothing reaches the server.
  void cut_off_at(int number, Loss loss);
  void reconnect();
  /// Writes that were sent since the last lose() or cut_off_at(), events aside.
  [[nodiscard]] const std::vector<std::string>& writes() const { return writes_; }
  void run_late();

  /// "m0:n0 c0=d0[m0] m1:- c1=-[] maps=0": where pods are and what claims hold.
  [[nodiscard]] std::string state() const;
  /// Whether each pod of the first `count` is bound exactly if its claim is allocated and names it.
  [[nodiscard]] bool is_consistent(int count) const;

  /// What the newest find_intents() found.
  [[nodiscard]] const std::vector<api::StoredIntent>& found() const { return intents.back(); }

 private:
  [[nodiscard]] std::optional<Loss> judge(const std::string& write);
  void watch_writes();

  std::vector<std::string> writes_;
  int lost_number_ = -1;
  Loss loss_ = Loss::kExecuted;
  int cut_off_at_ = -1;
};

}  // namespace gang::test
