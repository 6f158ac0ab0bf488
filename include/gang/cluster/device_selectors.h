// DeviceSelectors: judges devices by selector expressions, each compiled once.
//
// CelSelectors is the one of production; tests may put a table in its place. One thread.
#pragma once

#include <memory>
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

/// Compiles each expression once and reads each device once. Programs are kept up to a limit, then
/// all are dropped and made anew; devices until forget_devices().
class CelSelectors final : public DeviceSelectors {
 public:
  CelSelectors();
  ~CelSelectors() override;

  /// The device is known by its address until forget_devices().
  [[nodiscard]] Selected judge(const std::string& expression, const std::string& driver,
                               const api::Device& device) override;
  /// To be called before devices that were judged are gone.
  void forget_devices();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gang::cluster
