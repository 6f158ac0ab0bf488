#include "gang/cluster/device_selectors.h"

#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>

#include "gang/cel/program.h"

namespace gang::cluster {
namespace {

constexpr std::size_t kProgramsMax = 10'000;

cel::AttributeValue value_of(const api::AttributeValue& value) {
  return std::visit(
      [](const auto& held) -> cel::AttributeValue {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, api::Version>) {
          return cel::Version{held.text};
        } else if constexpr (std::is_same_v<Held, std::vector<api::Version>>) {
          std::vector<cel::Version> versions;
          for (const api::Version& version : held) versions.push_back({version.text});
          return versions;
        } else {
          return held;
        }
      },
      value);
}

cel::Device read(const std::string& driver, const api::Device& device) {
  cel::DeviceSource source{.driver = driver,
                           .allow_multiple_allocations = device.allow_multiple_allocations};
  for (const auto& [name, value] : device.attributes) {
    source.attributes.emplace_back(name, value_of(value));
  }
  for (const auto& [name, capacity] : device.capacity) {
    source.capacity.emplace_back(name, capacity.value);
  }
  return cel::Device(source);
}

}  // namespace

/// What is compiled and read already.
class CelSelectors::Impl {
 public:
  Selected judge(const std::string& expression, const std::string& driver,
                 const api::Device& device) {
    const Result<cel::Program>& program = program_of(expression);
    if (!program) return {Selected::End::kCompileError, program.error().message};
    const cel::Match match = program->matches(device_of(driver, device), scratch_);
    if (!match.selected) return {Selected::End::kRuntimeError, match.selected.error().message};
    return {*match.selected ? Selected::End::kYes : Selected::End::kNo, {}};
  }

  void forget_devices() { devices_.clear(); }

 private:
  const Result<cel::Program>& program_of(const std::string& expression) {
    if (const auto found = programs_.find(expression); found != programs_.end()) {
      return found->second;
    }
    if (programs_.size() >= kProgramsMax) programs_.clear();
    return programs_.emplace(expression, cel::Program::compile(expression)).first->second;
  }

  const cel::Device& device_of(const std::string& driver, const api::Device& device) {
    if (const auto found = devices_.find(&device); found != devices_.end()) return found->second;
    return devices_.emplace(&device, read(driver, device)).first->second;
  }

  std::unordered_map<std::string, Result<cel::Program>> programs_;
  std::unordered_map<const api::Device*, cel::Device> devices_;
  cel::Scratch scratch_;
};

CelSelectors::CelSelectors() : impl_(std::make_unique<Impl>()) {}
CelSelectors::~CelSelectors() = default;

Selected CelSelectors::judge(const std::string& expression, const std::string& driver,
                             const api::Device& device) {
  return impl_->judge(expression, driver, device);
}

void CelSelectors::forget_devices() {
  impl_->forget_devices();
}

}  // namespace gang::cluster
