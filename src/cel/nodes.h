// The nodes of a plan that are not attributes.
#pragma once

#include <vector>

#include "cel/objects.h"
#include "cel/plan.h"
#include "cel/regex.h"

namespace gang::cel {

/// A value known beforehand.
class ConstantNode final : public NumberedNode {
 public:
  ConstantNode(std::int64_t id, Value value) : NumberedNode(id), value_(value) {}
  Value eval(Frame& frame) const override {
    frame.observe(value_, id());
    return value_;
  }
  [[nodiscard]] const Value* constant() const override { return &value_; }

 private:
  Value value_;
};

/// && and ||: an operand that decides hides the errors of the other.
class LogicNode final : public NumberedNode {
 public:
  LogicNode(std::int64_t id, bool decides, std::vector<const Node*> terms)
      : NumberedNode(id), decides_(decides), terms_(std::move(terms)) {}
  Value eval(Frame& frame) const override;

 private:
  bool decides_;  // the value that ends it: true for ||
  std::vector<const Node*> terms_;
};

/// [a, ?b]
class ListNode final : public NumberedNode {
 public:
  ListNode(std::int64_t id, std::vector<const Node*> elements, std::vector<bool> optional)
      : NumberedNode(id), elements_(std::move(elements)), optional_(std::move(optional)) {}
  Value eval(Frame& frame) const override;
  [[nodiscard]] Value make(Frame& frame) const;

 private:
  std::vector<const Node*> elements_;
  std::vector<bool> optional_;
};

/// {k: v, ?l: w}: keys and values by turns.
class MapNode final : public NumberedNode {
 public:
  MapNode(std::int64_t id, std::vector<const Node*> entries, std::vector<bool> optional)
      : NumberedNode(id), entries_(std::move(entries)), optional_(std::move(optional)) {}
  Value eval(Frame& frame) const override;
  [[nodiscard]] Value make(Frame& frame) const;

 private:
  std::vector<const Node*> entries_;
  std::vector<bool> optional_;
};

/// kubernetes.DRADevice{...}: passes the checker, and nothing can make one.
class StructNode final : public NumberedNode {
 public:
  StructNode(std::int64_t id, std::vector<const Node*> values, std::vector<bool> optional)
      : NumberedNode(id), values_(std::move(values)), optional_(std::move(optional)) {}
  Value eval(Frame& frame) const override;

 private:
  [[nodiscard]] Value make(Frame& frame) const;
  std::vector<const Node*> values_;
  std::vector<bool> optional_;
};

/// `x in [constants]`: free of charge, a lookup in a table.
class MembershipNode final : public NumberedNode {
 public:
  MembershipNode(std::int64_t id, const Node* element, const MapObject* members)
      : NumberedNode(id), element_(element), members_(members) {}
  Value eval(Frame& frame) const override;

 private:
  const Node* element_;
  const MapObject* members_;
};

/// optional.or(optional), optional.orValue(value): the right side only where it is needed.
class OptionalOrNode final : public NumberedNode {
 public:
  OptionalOrNode(std::int64_t id, const Node* left, const Node* right, bool unwraps)
      : NumberedNode(id), left_(left), right_(right), unwraps_(unwraps) {}
  Value eval(Frame& frame) const override;

 private:
  const Node* left_;
  const Node* right_;
  bool unwraps_;
};

/// What a call runs.
struct Callee {
  Builtin call = nullptr;                         ///< null: nothing implements it
  bool (*accepts)(const Value& first) = nullptr;  ///< operators: asks the first argument
  const Overload* overload = nullptr;             ///< the only candidate, whose types are asked for
  const std::vector<Overload>* dispatch = nullptr;  ///< else the first that fits at run time
  bool stops_at_error = false;  ///< an argument that fails keeps the next ones from being evaluated
  bool takes_errors = false;    ///< arguments that fail are handed over
  CostRule cost = CostRule::kOne;
  const Regex* regex = nullptr;  ///< of a constant pattern
};

/// Every other call.
class CallNode final : public NumberedNode {
 public:
  CallNode(std::int64_t id, std::string_view function, std::vector<const Node*> args, Callee callee)
      : NumberedNode(id), function_(function), args_(std::move(args)), callee_(callee) {}
  Value eval(Frame& frame) const override;
  /// The result without telling the frame.
  [[nodiscard]] Value exec(Frame& frame) const;
  /// The result is the same each time: compute it once. REQUIRES: all arguments are constants.
  void remember(const Value& result) {
    remembered_ = result;
    is_remembered_ = true;
  }

 private:
  [[nodiscard]] Value invoke(Frame& frame, std::span<const Value> args) const;
  [[nodiscard]] Value mismatch(Frame& frame, std::span<const Value> args) const;
  void charge(Frame& frame, const Value& result) const;

  std::string_view function_;
  std::vector<const Node*> args_;
  Callee callee_;
  Value remembered_;
  bool is_remembered_ = false;
};

}  // namespace gang::cel
