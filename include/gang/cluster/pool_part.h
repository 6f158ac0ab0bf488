// PoolPart: the devices of one slice as their pool knows them: numbered, tainted, with counters.
//
// A pool is a list of parts. Versions of a pool share the parts of slices that nothing changed, so
// that a slice costs what it holds, however large its pool is. Immutable once built; any thread.
// Source: the devices contract, 2.2, 2.4 and 2.9.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gang/api/device.h"

namespace gang::cluster {

/// Number of a device's name (driver, pool, device) within one DeviceView. Numbers of one pool are
/// close together; one that neither a pool nor a claim has any more may be given to another name.
struct DeviceId {
  std::uint32_t value = 0;
  friend auto operator<=>(const DeviceId&, const DeviceId&) = default;
};

/// What a device takes of a counter, by position in PoolCounters::counters.
struct CounterUse {
  std::uint32_t counter = 0;
  api::Quantity amount;
};

/// A device with what its pool knows of it. `device` lives as long as its part.
struct PoolDevice {
  DeviceId id;
  const api::Device* device = nullptr;
  std::vector<CounterUse> counters;
  /// Position in PoolCounters::sets beside each entry of device->consumes_counters.
  std::vector<std::uint32_t> counter_sets;
  std::vector<api::DeviceTaint> rule_taints;  ///< of DeviceTaintRules; the slice's come first
};

using SlicePtr = std::shared_ptr<const api::ResourceSlice>;

/// See the head of the file.
struct PoolPart {
  SlicePtr slice;
  std::vector<PoolDevice> devices;  ///< as listed
  bool has_counters = false;        ///< some device takes from counters
  std::string problem;              ///< with these: "counter set x not found"
};
using PartPtr = std::shared_ptr<const PoolPart>;

/// A counter as declared.
struct PoolCounter {
  std::uint32_t set = 0;  ///< index into PoolCounters::sets
  std::string name;
  api::Quantity declared;
};

/// What the slices of a pool declare of counters.
struct PoolCounters {
  std::vector<SlicePtr> slices;  ///< that declare some, by name
  std::vector<std::string> sets;
  std::vector<PoolCounter> counters;
  std::string problem;  ///< "duplicate counter set name x"
};

}  // namespace gang::cluster
