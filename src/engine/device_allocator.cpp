#include "engine/device_allocator.h"

#include <utility>

#include "engine/device_result.h"

namespace gang::engine {
namespace {

/// Keeps the first solution that can be written.
class KeepFirst final : public AfterDevices {
 public:
  KeepFirst(const DeviceInputs& inputs, const DeviceNode& node, const DeviceSearch& search)
      : inputs_(inputs), node_(node), search_(search) {}

  DeviceStep solved() override {
    allocations_.clear();
    for (std::size_t i = 0; i < search_.claims().size(); ++i) {
      Result<api::Allocation> allocation =
          allocation_of(inputs_, node_, search_.claims()[i], search_.chosen()[i]);
      if (!allocation) {
        return {.end = DeviceStep::End::kFatal, .message = allocation.error().message};
      }
      allocations_.push_back(*std::move(allocation));
    }
    return {};
  }

  [[nodiscard]] std::vector<api::Allocation> take() { return std::move(allocations_); }

 private:
  const DeviceInputs& inputs_;
  const DeviceNode& node_;
  const DeviceSearch& search_;
  std::vector<api::Allocation> allocations_;
};

}  // namespace

DeviceAllocation allocate_on_node(DeviceAttempt& attempt, const DeviceNode& node,
                                  const std::vector<const api::ResourceClaim*>& claims) {
  DeviceSearch search(attempt);
  search.begin(node, claims);
  KeepFirst keep(attempt.inputs, node, search);
  DeviceAllocation result;
  result.step = search.run(keep);
  if (result.step.is_yes()) result.allocations = keep.take();
  return result;
}

}  // namespace gang::engine
