#include "gang/cluster/device_selectors.h"

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

constexpr std::size_t kProgramsMax = 10'000;
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
    const Compiled* compiled = compiled_of(question.expression, steps_left);
    if (compiled == nullptr) return {Selected::End::kNotAsked, {}};
    std::vector<Answer>& answers = answers_of(question.device);
    for (const Answer& answer : answers) {
      if (answer.expression == compiled->number) return answer.selected;
    }
    if (steps_left <= 0) return {Selected::End::kNotAsked, {}};
    Selected selected = evaluate(*compiled, question);
    charge(steps_left);
    return answers.emplace_back(compiled->number, std::move(selected)).selected;
  }

  const Derived& derive(const DeviceQuestion& question, std::int64_t& steps_left) {
    static const Derived not_asked{.end = Derived::End::kNotAsked, .value = {}, .message = {}};
    auto program = deriving_.find(question.expression);
    if (program == deriving_.end()) {
      if (steps_left <= 0) return not_asked;
      program = compile_deriving(question.expression, steps_left);
    }
    auto& known = derived_[&question.device];
    const auto place = known.find(question.expression);
    if (place != known.end()) return place->second;
    if (steps_left <= 0) return not_asked;
    Derived derived = evaluate(program->second, question);
    charge(steps_left);
    return known.emplace(question.expression, std::move(derived)).first->second;
  }

  void forget(const api::Device& device) {
    answers_.erase(&device);
    derived_.erase(&device);
    if (answers_for_ == &device) answers_for_ = nullptr;
    if (read_of_ == &device) read_of_ = nullptr;
  }

 private:
  /// An expression with a number that no other has.
  struct Compiled {
    std::uint32_t number = 0;
    Result<cel::Program> program;
  };
  /// What an expression said of a device.
  struct Answer {
    Answer(std::uint32_t number, Selected said) : expression(number), selected(std::move(said)) {}
    std::uint32_t expression = 0;
    Selected selected;
  };

  using Programs = std::unordered_map<std::string, Compiled>;
  using DerivingPrograms = std::unordered_map<std::string, Result<cel::Program>>;

  /// A node is asked with few expressions by turns, device by device: those of late are compared
  /// before anything is hashed. Null: it is new, and nothing is left to compile it.
  const Compiled* compiled_of(const std::string& expression, std::int64_t& steps_left) {
    for (const Programs::value_type* recent : recent_) {
      if (recent != nullptr && recent->first == expression) return &recent->second;
    }
    auto found = programs_.find(expression);
    if (found == programs_.end()) {
      if (steps_left <= 0) return nullptr;
      found = compile(expression, steps_left);
    }
    recent_[next_recent_++ % recent_.size()] = &*found;
    return &found->second;
  }

  Programs::iterator compile(const std::string& expression, std::int64_t& steps_left) {
    if (programs_.size() >= kProgramsMax) {
      recent_.fill(nullptr);
      programs_.clear();
      answers_.clear();
      answers_for_ = nullptr;
    }
    std::uint64_t work = 0;
    Compiled compiled{.number = ++numbers_given_,
                      .program = cel::Program::compile(expression, {}, &work)};
    steps_left -= static_cast<std::int64_t>(work);
    return programs_.emplace(expression, std::move(compiled)).first;
  }

  DerivingPrograms::iterator compile_deriving(const std::string& expression,
                                              std::int64_t& steps_left) {
    if (deriving_.size() >= kProgramsMax) {
      deriving_.clear();
      derived_.clear();
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

  std::vector<Answer>& answers_of(const api::Device& device) {
    if (answers_for_ != &device) {
      answers_of_last_ = &answers_[&device];
      answers_for_ = &device;
    }
    return *answers_of_last_;
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
  std::array<const Programs::value_type*, 4> recent_{};
  std::size_t next_recent_ = 0;
  std::uint32_t numbers_given_ = 0;
  std::unordered_map<const api::Device*, std::vector<Answer>> answers_;
  const api::Device* answers_for_ = nullptr;  ///< the device that was asked about last
  std::vector<Answer>* answers_of_last_ = nullptr;
  DerivingPrograms deriving_;
  /// By device, then expression.
  std::unordered_map<const api::Device*, std::unordered_map<std::string, Derived>> derived_;
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
