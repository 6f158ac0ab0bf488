// AllocationChecker: what is wrong with allocations of claims, judged from the objects alone.
//
// Shares nothing with the allocator: it reads slices as drivers write them, compiles selectors
// itself, and adds up what every device, counter and capacity is charged.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "gang/api/claim.h"
#include "gang/api/device.h"
#include "gang/api/node.h"

namespace gang::engine {

/// See the head of the file. Owned by one test.
class AllocationChecker {
 public:
  void add(const api::ResourceSlice& slice) { slices_.push_back(slice); }
  void add(const api::DeviceClass& one) { classes_[one.meta.key.name] = one; }
  void add(const api::DeviceTaintRule& rule) { rules_.push_back(rule); }
  void add(const api::Node& node) { nodes_[node.meta.key.name] = node; }
  [[nodiscard]] bool knows_node(const std::string& name) const { return nodes_.contains(name); }

  /// What is wrong with the claim's own allocation for a pod on that node, or "". Charges it until
  /// release().
  std::string charge(const api::ResourceClaim& claim, const std::string& node);
  void release(const api::ResourceClaim& claim) { charged_.erase(claim.meta.key); }
  /// What all charged claims together take too much of, or "".
  [[nodiscard]] std::string overuse() const;

 private:
  /// A device with the slice that lists it.
  struct Found {
    const api::ResourceSlice* slice = nullptr;
    const api::Device* device = nullptr;
  };
  /// What all claims together take of one device.
  struct Taken {
    int whole = 0;
    int shares = 0;
    std::map<std::string, api::Quantity> capacity;
    Found found;
  };
  using Amounts = std::map<std::string, api::Quantity>;

  [[nodiscard]] std::vector<const api::ResourceSlice*> pool_of(const std::string& driver,
                                                               const std::string& pool) const;
  [[nodiscard]] Found find(const api::DeviceResult& result) const;
  /// What speaks against the device for that ask on that node, whatever others hold.
  [[nodiscard]] std::string refusal(const api::DeviceAsk& ask, const Found& found,
                                    const api::Node& node) const;
  [[nodiscard]] std::string problem_of(const api::DeviceAsk& ask, const api::DeviceResult& result,
                                       const api::Node& node) const;
  [[nodiscard]] std::vector<api::DeviceTaint> taints_of(const Found& found) const;
  [[nodiscard]] std::string counts_of(const api::ResourceClaim& claim, const api::Node& node) const;
  /// Names of all devices that are there for the ask on the node.
  [[nodiscard]] std::set<std::string> all_for(const api::DeviceAsk& ask,
                                              const api::Node& node) const;
  [[nodiscard]] std::string constraints_of(const api::ResourceClaim& claim) const;
  [[nodiscard]] std::map<std::string, Taken> taken() const;
  /// Takes from what is left of each counter, by name; "" while it suffices.
  [[nodiscard]] std::string take(const Found& found, Amounts& left) const;

  std::vector<api::ResourceSlice> slices_;
  std::vector<api::DeviceTaintRule> rules_;
  std::map<std::string, api::DeviceClass> classes_;
  std::map<std::string, api::Node> nodes_;
  std::map<api::ObjectKey, api::ResourceClaim> charged_;
};

}  // namespace gang::engine
