// Device selectors: an expression compiled once, evaluated on many devices, as Kubernetes 1.37.2
// does.
//
//   auto program = Program::compile(R"(device.driver == "gpu.example.com")");
//   Scratch scratch;
//   for (const Device& device : devices) program->matches(device, scratch);
//
// Bounded: expressions in size and depth, evaluations in cost, memory and work; nothing in an
// expression can crash, hang or slow the caller. Pure. A Program and a Device are immutable, any
// thread; a Scratch belongs to one thread at a time. The language, its limits and texts:
// docs/devices.md.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "gang/api/quantity.h"
#include "gang/base/result.h"
#include "gang/cel/value.h"

namespace gang::cel {

/// A semantic version as a driver wrote it; Device reads it.
struct Version {
  std::string text;
};

/// The value of an attribute; monostate: none that this release knows.
using AttributeValue =
    std::variant<std::monostate, bool, std::int64_t, std::string, Version, std::vector<bool>,
                 std::vector<std::int64_t>, std::vector<std::string>, std::vector<Version>>;

/// A device as a ResourceSlice shows it. Names are "id" (in the driver's domain) or "domain/id".
struct DeviceSource {
  std::string driver;
  bool allow_multiple_allocations = false;
  std::vector<std::pair<std::string, AttributeValue>> attributes;
  std::vector<std::pair<std::string, api::Quantity>> capacity;
};

/// A device in the form that programs read without copying. Movable; owns all it shows.
///
/// Where a bare and a qualified name collide the qualified one is seen. An attribute that cannot be
/// read (a bad version) makes every selector fail on this device, with that attribute in the text.
class Device {
 public:
  explicit Device(const DeviceSource& source);
  ~Device();
  Device(Device&&) noexcept;
  Device& operator=(Device&&) noexcept;

  /// The variable `device`, or the error that takes its place.
  [[nodiscard]] Value root() const { return root_; }

 private:
  std::unique_ptr<class Arena> arena_;
  Value root_;
};

/// Memory of evaluations, kept from one to the next so that they need not allocate.
class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(Scratch&&) noexcept;
  Scratch& operator=(Scratch&&) noexcept;

  /// Steps of the newest evaluation. Unlike its cost they take about as long as each other,
  /// whatever the expression.
  [[nodiscard]] std::uint64_t work() const;

  /// For the evaluator.
  [[nodiscard]] struct Frame& frame() { return *frame_; }

 private:
  std::unique_ptr<struct Frame> frame_;
};

/// What an expression is to give: whether the device is selected, or the value of an attribute.
enum class Purpose : std::uint8_t { kSelector, kDerivedAttribute };

/// Purpose and limits of a program.
struct ProgramOptions {
  Purpose purpose = Purpose::kSelector;
  std::uint64_t cost_max = 1'000'000;  ///< of one evaluation, in upstream's units
};

/// What one evaluation says. The cost is upstream's number, also after an error.
struct Match {
  Result<bool> selected = false;
  std::uint64_t cost = 0;
};

/// A compiled expression. Movable.
class Program {
 public:
  /// kInvalidArgument with upstream's kind of text: "compilation failed: ERROR:
  /// <input>:LINE:COLUMN: ...", "program instantiation failed: ..." or "must evaluate to bool or
  /// the unknown type, not T". A derived attribute may also be an int, string or semantic version,
  /// or a list of one of these types. What it took goes to `work`, in steps of an evaluation.
  [[nodiscard]] static Result<Program> compile(std::string_view expression,
                                               const ProgramOptions& options = {},
                                               std::uint64_t* work = nullptr);
  ~Program();
  Program(Program&&) noexcept;
  Program& operator=(Program&&) noexcept;

  /// Whether the device is selected; kInvalidArgument where the evaluation fails,
  /// kResourceExhausted where it costs more than allowed.
  [[nodiscard]] Match matches(const Device& device, Scratch& scratch) const;

  /// The value as an attribute; fails as matches() does, and where no attribute can have it.
  [[nodiscard]] Result<AttributeValue> derive(const Device& device, Scratch& scratch) const;

  /// The value itself, valid until `scratch` is used again; its cost goes to `cost`.
  [[nodiscard]] Value run(const Device& device, Scratch& scratch, std::uint64_t& cost) const;

  /// The largest cost that upstream foresees; the API server refuses more than 1,000,000.
  [[nodiscard]] std::uint64_t cost_estimate() const;

 private:
  struct Parts;
  explicit Program(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace gang::cel
