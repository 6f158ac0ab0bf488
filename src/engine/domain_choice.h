// DomainChoice: in which domains a gang with a topology constraint may be placed, best first.
//
// Problem: all members, those that run included, are to stand in nodes with one value of a label;
// which value? Idea: count first. What each domain takes of each class is a sum that is kept, so
// that for a gang of one class without devices the count is exact; for unlike members and devices
// it is a bound, and a trial inside the domain decides. Order: most members first; then the
// tightest domain: the one with least free of what the gang asks for, the resource of which it
// takes the largest share of the cluster compared first (free devices are one of them, whatever
// their class); then the value of the label. A gang with members that run has no choice: theirs is
// the domain. Complexity: O(domains x classes), with devices O(nodes x classes).
// Source: the gang contract, 4.2, 4.6.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/device_room.h"
#include "engine/domain_sums.h"
#include "engine/draft.h"
#include "engine/explain.h"
#include "engine/table_cache.h"
#include "gang/api/quantity.h"
#include "gang/engine/planner.h"

namespace gang::engine {

/// What the choice is made from. All outlive it; the tables have nothing placed on them.
struct DomainQuestion {
  const cluster::Snapshot& snapshot;
  const Demand& demand;
  const std::vector<DraftClass>& classes;  ///< of the demand, one by one
  TableCache& tables;
  const DeviceCache* devices = nullptr;  ///< current; null: nobody needs devices
};

/// A domain and what it would take. A value.
struct DomainBound {
  std::uint32_t domain = 0;   ///< into the level's
  std::int64_t members = 0;   ///< pending ones that it takes at most
  std::int64_t on_fleet = 0;  ///< the same if every pod were gone
};

/// See the head of the file. Lives for one attempt; one thread.
class DomainChoice {
 public:
  explicit DomainChoice(const DomainQuestion& question);

  /// Why there is no domain to choose from, for people; "" when there are some.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] std::size_t count() const { return domains_.size(); }
  /// The best of those that take `need` members at least and were not given before.
  [[nodiscard]] std::optional<DomainBound> next(std::int64_t need);
  /// Whether next() would answer.
  [[nodiscard]] bool has_next(std::int64_t need) const;
  /// Whether one that was not given yet would be chosen before `known`.
  [[nodiscard]] bool has_better(const DomainBound& known) const;
  /// The one that takes most members, whether they are enough or not. REQUIRES: count() > 0.
  [[nodiscard]] DomainBound nearest() const;
  /// Whether `a` is chosen before `b`.
  [[nodiscard]] bool is_better(const DomainBound& a, const DomainBound& b) const;

  /// A trial proved that even emptied nodes of that domain are no use.
  void rule_out(const DomainBound& domain);
  /// Whether some domain would take that many if every pod were gone.
  [[nodiscard]] bool fleet_allows(std::int64_t need) const;

  [[nodiscard]] const std::shared_ptr<const cluster::Domain>& domain(const DomainBound& of) const {
    return level_->domains[of.domain];
  }
  /// What is told of a gang that is refused and comes nearest in that domain.
  [[nodiscard]] PlacementText text(const DomainBound& best) const;
  /// What each domain takes and what refuses the next member on most of its nodes, for people.
  [[nodiscard]] std::vector<std::string> lines() const;
  /// Stands for what refuses members in the nearest domain.
  [[nodiscard]] std::uint64_t causes() const;

 private:
  /// Holds the product of two amounts.
  using Wide = api::Quantity::Nano;
  /// A resource that domains are compared by: what is free of it, by domain.
  struct Measure {
    Wide taken = 0;                    ///< by all members
    std::int64_t total = 0;            ///< what the cluster has
    const DomainSums* sums = nullptr;  ///< null: free devices
    std::size_t request = 0;
    std::string name;
  };

  void find_domains();
  void pin();
  void count_members();
  [[nodiscard]] std::vector<std::int64_t> members_of(std::size_t index) const;
  [[nodiscard]] std::vector<std::int64_t> room_with_devices(std::size_t index) const;
  [[nodiscard]] std::vector<std::uint32_t> avoided_ranks() const;
  void measure();
  void measure_devices();
  [[nodiscard]] std::int64_t free(const Measure& measure, std::uint32_t domain) const;
  [[nodiscard]] const std::string& key() const { return of_.demand.topology_keys.front(); }
  [[nodiscard]] const std::string& value(std::uint32_t domain) const {
    return level_->domains[domain]->value;
  }
  [[nodiscard]] std::string blocking_text(std::uint32_t domain) const;

  const DomainQuestion of_;
  const std::shared_ptr<const cluster::TopologyLevel> level_;  ///< null: no node was asked for it
  std::vector<const DomainSums*> sums_;                        ///< by class
  std::optional<std::uint32_t> pinned_;
  std::string problem_;
  std::vector<DomainBound> domains_;
  std::vector<std::size_t> rest_;  ///< those that next() has not given; a heap from the second on
  bool is_heap_ = false;
  std::vector<bool> fits_somewhere_;        ///< by class
  std::vector<Measure> measures_;           ///< the most important first
  std::vector<std::int64_t> free_devices_;  ///< by domain
};

}  // namespace gang::engine
