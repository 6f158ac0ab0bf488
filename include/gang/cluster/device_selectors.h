// DeviceSelectors: judges devices by selector expressions and derives attributes of them, each
// expression compiled once.
//
// CelSelectors is the one of production; tests may put a table in its place. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "gang/api/device.h"

namespace gang::cluster {

/// What a selector says of a device.
struct Selected {
  /// kNotAsked: it is not known, and nothing was left to find it out.
  enum class End { kYes, kNo, kCompileError, kRuntimeError, kNotAsked };
  End end = End::kNo;
  std::string message;  ///< of an error
  friend bool operator==(const Selected&, const Selected&) = default;
};

/// The value of an attribute that a request derives.
struct Derived {
  enum class End { kValue, kCompileError, kRuntimeError, kNotAsked };
  End end = End::kValue;
  api::AttributeValue value;
  std::string message;  ///< of an error
};

/// An expression and the device that it is asked about.
struct DeviceQuestion {
  const std::string& expression;
  const std::string& driver;  ///< REQUIRES: the device is of a slice of that driver
  const api::Device& device;
};

/// See the head of the file.
class DeviceSelectors {
 public:
  virtual ~DeviceSelectors() = default;
  /// Takes what the answer costs off `steps_left`, see cel::Scratch::work(); what is known already
  /// costs nothing. The last one asked may take more than is left.
  [[nodiscard]] virtual Selected judge(const DeviceQuestion& question,
                                       std::int64_t& steps_left) = 0;
  /// The same for an expression that derives an attribute. Valid until the next call.
  [[nodiscard]] virtual const Derived& derive(const DeviceQuestion& question,
                                              std::int64_t& steps_left) = 0;
};

/// Compiles each expression once and evaluates it on each device once. A byte is kept for each pair
/// of a device and an expression. Up to 1,024 expressions and 32 MiB of answers are kept, those
/// that were used last, and 100,000 derived values; answers until forget().
class CelSelectors final : public DeviceSelectors {
 public:
  CelSelectors();
  ~CelSelectors() override;

  /// The device is known by its address until forget().
  [[nodiscard]] Selected judge(const DeviceQuestion& question, std::int64_t& steps_left) override;
  [[nodiscard]] const Derived& derive(const DeviceQuestion& question,
                                      std::int64_t& steps_left) override;
  /// To be called before a device that was judged is gone.
  void forget(const api::Device& device);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gang::cluster
