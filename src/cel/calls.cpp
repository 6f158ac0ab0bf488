#include <optional>
#include <string>

#include "cel/nodes.h"
#include "cel/type_names.h"

namespace gang::cel {
namespace {

bool fits(const Overload& overload, std::span<const Value> args) {
  if (overload.args.size() != args.size()) return false;
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (!fits_at_run_time(*overload.args[i], args[i])) return false;
  }
  return true;
}

// Arguments of a call in flight on the frame's own stack, taken off again at the end.
class ArgumentsInFlight {
 public:
  explicit ArgumentsInFlight(Frame& frame) : frame_(frame), base_(frame.args.size()) {}
  ~ArgumentsInFlight() { frame_.args.resize(base_); }
  ArgumentsInFlight(const ArgumentsInFlight&) = delete;
  ArgumentsInFlight& operator=(const ArgumentsInFlight&) = delete;
  [[nodiscard]] std::span<const Value> values() const {
    return std::span<const Value>(frame_.args).subspan(base_);
  }

 private:
  Frame& frame_;
  std::size_t base_;
};

}  // namespace

Value CallNode::mismatch(Frame& frame, std::span<const Value> args) const {
  std::string types;
  for (const Value& arg : args) {
    types += (types.empty() ? "" : ", ") + std::string(type_name(arg));
  }
  return frame.fail("no such overload: " + std::string(function_) + "(" + types + ")");
}

Value CallNode::invoke(Frame& frame, std::span<const Value> args) const {
  if (callee_.dispatch != nullptr) {
    for (const Overload& overload : *callee_.dispatch) {
      const Builtin call = fits(overload, args) ? find_builtin(overload.id) : nullptr;
      frame.regex = nullptr;
      if (call != nullptr) return call(frame, args);
    }
    return mismatch(frame, args);
  }
  if (callee_.call == nullptr) return mismatch(frame, args);
  if (callee_.accepts != nullptr && !callee_.accepts(args[0])) return mismatch(frame, args);
  if (callee_.overload != nullptr && !fits(*callee_.overload, args)) return mismatch(frame, args);
  frame.regex = callee_.regex;
  return callee_.call(frame, args);
}

Value CallNode::exec(Frame& frame) const {
  const ArgumentsInFlight in_flight(frame);
  Value failed;
  for (const Node* arg : args_) {
    const Value value = arg->eval(frame);
    frame.args.push_back(value);
    if (!value.is_error() || callee_.takes_errors) continue;
    if (!failed.is_error()) failed = value;
    if (callee_.stops_at_error) break;
  }
  if (failed.is_error()) return failed;
  frame.count_texts(in_flight.values());
  if (is_remembered_) return remembered_;
  // A builtin may evaluate nothing, so the arguments stay where they are.
  return invoke(frame, in_flight.values());
}

// Finds the arguments' values on the stack; charges only if all are there.
void CallNode::charge(Frame& frame, const Value& result) const {
  const ArgumentsInFlight in_flight(frame);
  frame.args.resize(frame.args.size() + args_.size());
  const std::size_t base = frame.args.size() - args_.size();
  for (std::size_t i = args_.size(); i > 0; --i) {
    const std::optional<Value> value = frame.stack.take(args_[i - 1]->id());
    if (!value) return;
    frame.args[base + i - 1] = *value;
  }
  frame.cost += call_cost(frame, callee_.cost, in_flight.values(), result);
}

Value CallNode::eval(Frame& frame) const {
  const Value result = exec(frame);
  charge(frame, result);
  frame.observe(result, id());
  return result;
}

}  // namespace gang::cel
