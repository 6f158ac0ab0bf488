#include "gang/cluster/device_selectors.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "gang/cel/program.h"

namespace gang::cluster {
namespace {

constexpr std::size_t kProgramsMax = 1'024;
constexpr std::size_t kAnswerBytesMax = std::size_t{32} << 20U;
constexpr std::size_t kDerivedMax = 100'000;
/// What reading a device for an expression takes, in steps of an evaluation.
constexpr std::uint64_t kStepsOfDevice = 20;

/// The value as the other part has it; versions are all that the parts name differently.
template <class To, class FromVersion, class ToVersion, class From>
To converted(const From& value) {
  return std::visit(
      [](const auto& held) -> To {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, FromVersion>) {
          return ToVersion{held.text};
        } else if constexpr (std::is_same_v<Held, std::vector<FromVersion>>) {
          std::vector<ToVersion> versions;
          for (const FromVersion& version : held) versions.push_back({version.text});
          return versions;
        } else {
          return held;
        }
      },
      value);
}

cel::AttributeValue value_of(const api::AttributeValue& value) {
  return converted<cel::AttributeValue, api::Version, cel::Version>(value);
}

api::AttributeValue value_of(const cel::AttributeValue& value) {
  return converted<api::AttributeValue, cel::Version, api::Version>(value);
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

/// What is compiled and answered already, and the device that was read last.
class CelSelectors::Impl {
 public:
  Selected judge(const DeviceQuestion& question, std::int64_t& steps_left) {
    Compiled* compiled = compiled_of(question.expression, steps_left);
    if (compiled == nullptr) return {Selected::End::kNotAsked, {}};
    const std::uint32_t number = number_of(question.device);
    if (const std::optional<Selected> known = compiled->answers.find(number)) return *known;
    if (steps_left <= 0) return {Selected::End::kNotAsked, {}};
    Selected selected = evaluate(*compiled, question);
    charge(steps_left);
    const std::size_t bytes_before = compiled->answers.size();
    compiled->answers.keep(number, selected);
    answer_bytes_ += compiled->answers.size() - bytes_before;
    if (answer_bytes_ > kAnswerBytesMax) drop_oldest();
    return selected;
  }

  const Derived& derive(const DeviceQuestion& question, std::int64_t& steps_left) {
    static const Derived not_asked{.end = Derived::End::kNotAsked, .value = {}, .message = {}};
    auto program = deriving_.find(question.expression);
    if (program == deriving_.end()) {
      if (steps_left <= 0) return not_asked;
      program = compile_deriving(question.expression, steps_left);
    }
    if (derived_count_ >= kDerivedMax) drop_derived();
    auto& known = derived_[&question.device];
    const auto place = known.find(question.expression);
    if (place != known.end()) return place->second;
    if (steps_left <= 0) return not_asked;
    Derived derived = evaluate(program->second, question);
    charge(steps_left);
    ++derived_count_;
    return known.emplace(question.expression, std::move(derived)).first->second;
  }

  void forget(const api::Device& device) {
    if (read_of_ == &device) read_of_ = nullptr;
    if (numbered_last_ == &device) numbered_last_ = nullptr;
    const auto derived = derived_.find(&device);
    if (derived != derived_.end()) {
      derived_count_ -= derived->second.size();
      derived_.erase(derived);
    }
    const auto numbered = numbers_.find(&device);
    if (numbered == numbers_.end()) return;
    for (auto& [expression, compiled] : programs_) compiled.answers.forget(numbered->second);
    unused_numbers_.push_back(numbered->second);
    numbers_.erase(numbered);
  }

 private:
  /// What an expression said of devices, a byte for each: many devices and expressions come
  /// together, and few different errors.
  class Answers {
   public:
    [[nodiscard]] std::size_t size() const { return codes_.size(); }

    [[nodiscard]] std::optional<Selected> find(std::uint32_t device) const {
      const std::uint8_t code = device < codes_.size() ? codes_[device] : kUnknown;
      if (code == kUnknown) return std::nullopt;
      if (code == kYes) return Selected{Selected::End::kYes, {}};
      if (code == kNo) return Selected{Selected::End::kNo, {}};
      return errors_[code - kFirstError];
    }

    /// An error beyond those that can be told apart is not kept.
    void keep(std::uint32_t device, const Selected& selected) {
      const std::uint8_t code = code_of(selected);
      if (device >= codes_.size()) codes_.resize(device + 1, kUnknown);
      codes_[device] = code;
    }

    void forget(std::uint32_t device) {
      if (device < codes_.size()) codes_[device] = kUnknown;
    }

   private:
    static constexpr std::uint8_t kUnknown = 0;
    static constexpr std::uint8_t kYes = 1;
    static constexpr std::uint8_t kNo = 2;
    static constexpr std::uint8_t kFirstError = 3;
    static constexpr std::size_t kErrorsMax = 64;

    std::uint8_t code_of(const Selected& selected) {
      if (selected.end == Selected::End::kYes) return kYes;
      if (selected.end == Selected::End::kNo) return kNo;
      std::size_t at = 0;
      while (at < errors_.size() && !(errors_[at] == selected)) ++at;
      if (at == kErrorsMax) return kUnknown;
      if (at == errors_.size()) errors_.push_back(selected);
      return static_cast<std::uint8_t>(kFirstError + at);
    }

    std::vector<std::uint8_t> codes_;  ///< by number of the device
    std::vector<Selected> errors_;
  };
  struct Compiled {
    Result<cel::Program> program;
    Answers answers = {};
    std::uint64_t last_use = 0;
  };

  using Programs = std::unordered_map<std::string, Compiled>;
  using DerivingPrograms = std::unordered_map<std::string, Result<cel::Program>>;

  /// A node is asked with few expressions by turns, device by device: those of late are compared
  /// before anything is hashed. Null: it is new, and nothing is left to compile it.
  Compiled* compiled_of(const std::string& expression, std::int64_t& steps_left) {
    for (Programs::value_type* recent : recent_) {
      if (recent == nullptr || recent->first != expression) continue;
      recent->second.last_use = ++uses_;
      return &recent->second;
    }
    auto found = programs_.find(expression);
    if (found == programs_.end()) {
      if (steps_left <= 0) return nullptr;
      if (programs_.size() >= kProgramsMax) drop_oldest();
      found = compile(expression, steps_left);
    }
    found->second.last_use = ++uses_;
    recent_[next_recent_++ % recent_.size()] = &*found;
    return &found->second;
  }

  /// One that was used of late is not the oldest: there are more.
  void drop_oldest() {
    const auto oldest = std::min_element(
        programs_.begin(), programs_.end(),
        [](const auto& a, const auto& b) { return a.second.last_use < b.second.last_use; });
    recent_.fill(nullptr);
    answer_bytes_ -= oldest->second.answers.size();
    programs_.erase(oldest);
  }

  Programs::iterator compile(const std::string& expression, std::int64_t& steps_left) {
    std::uint64_t work = 0;
    Compiled compiled{.program = cel::Program::compile(expression, {}, &work)};
    steps_left -= static_cast<std::int64_t>(work);
    return programs_.emplace(expression, std::move(compiled)).first;
  }

  void drop_derived() {
    derived_.clear();
    derived_count_ = 0;
  }

  DerivingPrograms::iterator compile_deriving(const std::string& expression,
                                              std::int64_t& steps_left) {
    if (deriving_.size() >= kProgramsMax) {
      deriving_.clear();
      drop_derived();
    }
    std::uint64_t work = 0;
    auto program =
        cel::Program::compile(expression, {.purpose = cel::Purpose::kDerivedAttribute}, &work);
    steps_left -= static_cast<std::int64_t>(work);
    return deriving_.emplace(expression, std::move(program)).first;
  }

  void charge(std::int64_t& steps_left) const {
    steps_left -= static_cast<std::int64_t>(kStepsOfDevice + scratch_.work());
  }

  /// Small, and given again once the device is forgotten.
  std::uint32_t number_of(const api::Device& device) {
    if (numbered_last_ == &device) return last_number_;
    const auto [at, is_new] = numbers_.try_emplace(&device, 0);
    if (is_new && unused_numbers_.empty()) {
      at->second = static_cast<std::uint32_t>(numbers_.size()) - 1;
    } else if (is_new) {
      at->second = unused_numbers_.back();
      unused_numbers_.pop_back();
    }
    numbered_last_ = &device;
    last_number_ = at->second;
    return last_number_;
  }

  Selected evaluate(const Compiled& compiled, const DeviceQuestion& question) {
    if (!compiled.program) {
      return {Selected::End::kCompileError, compiled.program.error().message};
    }
    const cel::Match match = compiled.program->matches(as_read(question), scratch_);
    if (!match.selected) return {Selected::End::kRuntimeError, match.selected.error().message};
    return {*match.selected ? Selected::End::kYes : Selected::End::kNo, {}};
  }

  Derived evaluate(const Result<cel::Program>& program, const DeviceQuestion& question) {
    if (!program) {
      return {.end = Derived::End::kCompileError, .value = {}, .message = program.error().message};
    }
    const auto value = program->derive(as_read(question), scratch_);
    if (!value) {
      return {.end = Derived::End::kRuntimeError, .value = {}, .message = value.error().message};
    }
    return {.end = Derived::End::kValue, .value = value_of(*value), .message = {}};
  }

  const cel::Device& as_read(const DeviceQuestion& question) {
    if (read_of_ != &question.device) read_.emplace(read(question.driver, question.device));
    read_of_ = &question.device;
    return *read_;
  }

  Programs programs_;
  std::array<Programs::value_type*, 4> recent_{};
  std::size_t next_recent_ = 0;
  std::uint64_t uses_ = 0;
  std::size_t answer_bytes_ = 0;  ///< of all programs
  std::unordered_map<const api::Device*, std::uint32_t> numbers_;
  std::vector<std::uint32_t> unused_numbers_;
  const api::Device* numbered_last_ = nullptr;  ///< the device that was asked about last
  std::uint32_t last_number_ = 0;
  DerivingPrograms deriving_;
  /// By device, then expression.
  std::unordered_map<const api::Device*, std::unordered_map<std::string, Derived>> derived_;
  std::size_t derived_count_ = 0;
  std::optional<cel::Device> read_;
  const api::Device* read_of_ = nullptr;
  cel::Scratch scratch_;
};

CelSelectors::CelSelectors() : impl_(std::make_unique<Impl>()) {}
CelSelectors::~CelSelectors() = default;

Selected CelSelectors::judge(const DeviceQuestion& question, std::int64_t& steps_left) {
  return impl_->judge(question, steps_left);
}

const Derived& CelSelectors::derive(const DeviceQuestion& question, std::int64_t& steps_left) {
  return impl_->derive(question, steps_left);
}

void CelSelectors::forget(const api::Device& device) {
  impl_->forget(device);
}

}  // namespace gang::cluster
