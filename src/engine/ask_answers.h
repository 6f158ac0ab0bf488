// AskAnswers: which devices of a slice a request and its class select, kept from plan to plan.
//
// Requests of equal selectors and class share their answers, whichever claim they stand in: a slice
// that was asked about once answers the next claim of the same template without an expression.
// Owned by DeviceCache, which drops what changed; one thread.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "gang/api/claim.h"
#include "gang/api/device.h"

namespace gang::engine {

/// What selectors say of one device.
enum class DeviceAnswer : std::int8_t { kUnknown, kNo, kYes };

/// See the head of the file. Keeps no errors: those are found again.
class AskAnswers {
 public:
  /// Equal for selectors and classes that are equal. The class lives until clear(). Numbers hold
  /// until the next make_room().
  [[nodiscard]] std::uint32_t number_of(const api::DeviceClass& device_class,
                                        const std::vector<api::DeviceSelector>& selectors);
  /// By device of the slice. Lives until the next call.
  [[nodiscard]] std::vector<DeviceAnswer>& of(const api::ResourceSlice& slice,
                                              std::uint32_t number);

  /// To be called before a slice that was asked about is gone.
  void forget(const api::ResourceSlice& slice) { rows_.erase(&slice); }
  void clear();
  /// To be called while nobody has a number.
  void make_room() {
    if (asks_.size() > kAsksMax) clear();
  }

 private:
  static constexpr std::size_t kAsksMax = 256;

  struct Ask {
    const api::DeviceClass* device_class = nullptr;
    std::vector<api::DeviceSelector> selectors;
  };
  struct Row {
    std::uint32_t ask = 0;
    std::vector<DeviceAnswer> answers;
  };

  std::vector<Ask> asks_;  ///< by number
  std::unordered_map<const api::ResourceSlice*, std::vector<Row>> rows_;
};

}  // namespace gang::engine
