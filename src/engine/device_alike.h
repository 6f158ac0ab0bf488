// DeviceAlike: which devices of a node are interchangeable for the claims of a gang.
//
// Devices that share counters, such as the partitions of one chip, make a group; every other device
// is a group of its own. Two groups are alike when nothing that the claims ask, and nothing that
// they take, tells them apart: same pool and place and, device by device in the order of the pool,
// capacity, counters, taints and use, same answer of every selector, same values of the attributes
// that constraints compare. A value that only one group has tells no groups apart. States of a node
// that differ only in which of alike groups hold what are the same to whoever comes later.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/device_ledger.h"
#include "engine/device_search.h"

namespace gang::engine {

/// See the head of the file. Lives for one attempt and one node; knows what claims hold, and asks
/// the ledger for what the attempt takes.
class DeviceAlike {
 public:
  /// `claims`: prepared for the node, one for each different spec of the gang; their answers are
  /// kept there. The node and the claims outlive this.
  DeviceAlike(const DeviceInputs& inputs, const DeviceNode& node,
              std::vector<PreparedClaim>& claims, const cluster::DeviceUsage& usage);

  /// Equal for solutions that leave the same. REQUIRES: the ledger holds the solution.
  [[nodiscard]] std::string signature(const std::vector<std::vector<ChosenDevice>>& chosen,
                                      const DeviceLedger& ledger) const;
  /// Equal for states that are the same to whoever comes later.
  [[nodiscard]] std::string state(const DeviceLedger& ledger) const;

 private:
  /// Devices that stand and fall together. A value.
  struct Group {
    std::size_t likeness = 0;              ///< equal for groups that are alike
    std::vector<std::uint32_t> positions;  ///< among the node's candidates
  };
  /// Names of likenesses, made while the groups are.
  using Likenesses = std::map<std::string, std::size_t>;

  void make_groups();
  [[nodiscard]] bool is_local(const DeviceCandidate& candidate) const;

  const DeviceNode& node_;
  std::vector<Group> groups_;
  std::vector<std::size_t> group_of_;                ///< by candidate
  std::map<std::uint32_t, std::uint32_t> place_of_;  ///< of a device among the candidates, by id
};

}  // namespace gang::engine
