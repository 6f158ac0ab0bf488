#include "gang/cel/program.h"

#include <algorithm>
#include <string>

#include "cel/checker.h"
#include "cel/derived.h"
#include "cel/estimate.h"
#include "cel/parser.h"
#include "cel/planner.h"
#include "cel/type_names.h"
#include "cel/utf8.h"
#include "cel/validators.h"

namespace gang::cel {
namespace {

// Work of compiling an expression, beside that of its patterns.
constexpr std::uint64_t kWorkOfCompiling = 500;
constexpr std::uint64_t kWorkOfByte = 20;

// "ERROR: <input>:1:5: message", the line and a mark under the place.
std::string issue_text(std::string_view source, const Issue& issue) {
  const std::string_view before = source.substr(0, issue.offset);
  const std::size_t begin =
      before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  const std::uint64_t column = code_point_count(before.substr(begin));
  const auto line = std::ranges::count(before, '\n') + 1;
  const std::string_view text =
      source.substr(begin, std::min(source.find('\n', issue.offset), source.size()) - begin);
  return "ERROR: <input>:" + std::to_string(line) + ":" + std::to_string(column + 1) + ": " +
         issue.message + "\n | " + std::string(text.substr(0, 1000)) + "\n | " +
         std::string(std::min<std::uint64_t>(column, 1000), '.') + "^";
}

tl::unexpected<Error> compilation_failed(std::string_view source, std::vector<Issue> issues) {
  constexpr std::size_t kShown = 100;
  std::ranges::stable_sort(issues, {}, &Issue::offset);
  std::string text = "compilation failed: ";
  for (std::size_t i = 0; i < std::min(issues.size(), kShown); ++i) {
    text += (i > 0 ? "\n" : "") + issue_text(source, issues[i]);
  }
  return fail(Code::kInvalidArgument, std::move(text));
}

// Why an expression of that type does not serve, or "".
std::string type_problem(const Type& type, Purpose purpose) {
  if (purpose == Purpose::kDerivedAttribute) {
    if (may_be_attribute(type)) return "";
    return "must evaluate to a primitive scalar (string, integer, boolean, semver) or a list of "
           "these scalars, not " +
           type_text(type);
  }
  if (type.kind == TypeKind::kBool || type.kind == TypeKind::kDyn) return "";
  return "must evaluate to bool or the unknown type, not " + type_text(type);
}

Error plain_error(const Value& value, bool is_cancelled) {
  if (is_cancelled) {
    return {Code::kResourceExhausted, "operation cancelled: actual cost limit exceeded"};
  }
  return {Code::kInvalidArgument, std::string(value.as_text())};
}

// The text of an error at run time, with advice where a key is missing.
Error run_error(const Value& value, bool is_cancelled) {
  Error error = plain_error(value, is_cancelled);
  std::string& text = error.message;
  if (text.find("no such key:") != std::string::npos) {
    text +=
        ". consider using CEL optional chaining (.? followed by orValue()) or guarding the check "
        "with has() for optional fields";
  }
  return error;
}

}  // namespace

struct Program::Parts {
  Plan plan;
  ProgramOptions options;
  std::uint64_t estimate = 0;
};

Program::Program(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Program::~Program() = default;
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(Program&&) noexcept = default;

Scratch::Scratch() : frame_(std::make_unique<Frame>()) {}
Scratch::~Scratch() = default;
Scratch::Scratch(Scratch&&) noexcept = default;
Scratch& Scratch::operator=(Scratch&&) noexcept = default;

std::uint64_t Scratch::work() const {
  return frame_->work;
}

Result<Program> Program::compile(std::string_view expression, const ProgramOptions& options,
                                 std::uint64_t* work) {
  std::uint64_t ignored = 0;
  std::uint64_t& taken = work == nullptr ? ignored : *work;
  taken = kWorkOfCompiling + expression.size() * kWorkOfByte;
  const std::string source = repaired(expression);
  Ast ast;
  std::vector<Issue> issues;
  parse(source, ast, issues);
  if (!issues.empty()) return compilation_failed(source, std::move(issues));
  const Checked checked = check(ast, issues);
  if (issues.empty()) taken += validate(ast, checked, issues);
  if (!issues.empty()) return compilation_failed(source, std::move(issues));
  std::string problem = type_problem(checked.type(*ast.root), options.purpose);
  if (!problem.empty()) return fail(Code::kInvalidArgument, std::move(problem));
  auto parts = std::make_unique<Parts>();
  Result<Plan> plan = make_plan(ast, checked);
  taken += plan ? plan->regex_work : kPatternsWorkMax;
  if (!plan)
    return fail(plan.error().code, "program instantiation failed: " + plan.error().message);
  parts->plan = *std::move(plan);
  parts->options = options;
  parts->estimate = estimate_cost(ast, checked);
  return Program(std::move(parts));
}

std::uint64_t Program::cost_estimate() const {
  return parts_->estimate;
}

Value Program::run(const Device& device, Scratch& scratch, std::uint64_t& cost) const {
  Frame& frame = scratch.frame();
  cost = 0;
  frame.work = 0;
  if (device.root().is_error()) return device.root();
  frame.begin(device.root(), parts_->options.cost_max, parts_->plan.slot_count);
  const Value value = parts_->plan.root->eval(frame);
  cost = frame.cost;
  return frame.is_cancelled ? Frame::cancelled() : value;
}

Match Program::matches(const Device& device, Scratch& scratch) const {
  Match match;
  const Value value = run(device, scratch, match.cost);
  if (value.is_error()) {
    const bool cancelled = !device.root().is_error() && scratch.frame().is_cancelled;
    match.selected = tl::unexpected<Error>(run_error(value, cancelled));
  } else if (value.is(Kind::kBool)) {
    match.selected = value.as_bool();
  } else {
    match.selected =
        fail(Code::kInvalidArgument, "CEL result of type " + std::string(type_name(value)) +
                                         " could not be converted to bool: it is no bool");
  }
  return match;
}

Result<AttributeValue> Program::derive(const Device& device, Scratch& scratch) const {
  std::uint64_t cost = 0;
  const Value value = run(device, scratch, cost);
  if (!value.is_error()) return attribute_of(value);
  const bool cancelled = !device.root().is_error() && scratch.frame().is_cancelled;
  return tl::unexpected<Error>(plain_error(value, cancelled));
}

}  // namespace gang::cel
