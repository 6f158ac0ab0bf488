// DeviceSelectors: judges devices by selector expressions, each compiled once.
//
// Implemented over cel; tests may put a table in its place. One thread.
#pragma once

#include <string>

#include "gang/api/device.h"

namespace gang::cluster {

/// What a selector says of a device.
struct Selected {
  enum class End { kYes, kNo, kCompileError, kRuntimeError };
  End end = End::kNo;
  std::string message;  ///< of an error
};

/// See the head of the file.
class DeviceSelectors {
 public:
  virtual ~DeviceSelectors() = default;
  /// REQUIRES: the device is of a slice of that driver.
  [[nodiscard]] virtual Selected judge(const std::string& expression, const std::string& driver,
                                       const api::Device& device) = 0;
};

}  // namespace gang::cluster
