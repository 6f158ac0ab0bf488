// An expression ready to be evaluated: nodes that compute values and tell the frame what they cost.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "cel/cost.h"
#include "cel/declarations.h"
#include "cel/frame.h"
#include "cel/functions.h"
#include "cel/regex.h"

namespace gang::cel {

class AttributeNode;

/// One step. Owned by the Plan; refers to others by plain pointers.
class Node {
 public:
  virtual ~Node() = default;
  /// Computes the value and tells the frame.
  virtual Value eval(Frame& frame) const = 0;
  [[nodiscard]] virtual std::int64_t id() const = 0;
  /// The value, where it is known before any evaluation.
  [[nodiscard]] virtual const Value* constant() const { return nullptr; }
  [[nodiscard]] virtual AttributeNode* as_attribute() { return nullptr; }
};

/// A step with an id of its own.
class NumberedNode : public Node {
 public:
  explicit NumberedNode(std::int64_t id) : id_(id) {}
  [[nodiscard]] std::int64_t id() const override { return id_; }

 private:
  std::int64_t id_;
};

class Attribute;

/// One `.field`, `[index]`, `.?field` or `[?index]` behind an attribute.
struct Qualifier {
  std::int64_t id = 0;
  bool is_optional = false;
  bool is_test = false;                 ///< has(): asks only whether it is there
  Value key;                            ///< where it is constant
  const Attribute* computed = nullptr;  ///< else what computes it
  bool drops_own = false;  ///< the index is a call: upstream's tracker drops its id first
};

/// A variable or a value with a chain of qualifiers; resolved as a whole, as upstream does.
class Attribute {
 public:
  explicit Attribute(std::int64_t id) : id_(id) {}
  virtual ~Attribute() = default;
  [[nodiscard]] virtual std::int64_t id() const {
    return qualifiers_.empty() ? id_ : qualifiers_.back()->id;
  }
  virtual void add(const Qualifier* qualifier) { qualifiers_.push_back(qualifier); }
  [[nodiscard]] virtual Value resolve(Frame& frame) const = 0;
  /// Tells the frame that this was read; true where that costs one.
  virtual bool drop(Frame& frame) const {
    frame.drop(id());
    return true;
  }

 protected:
  /// The chain applied to a value.
  [[nodiscard]] Value qualified(Frame& frame, Value base) const;
  [[nodiscard]] std::int64_t own_id() const { return id_; }

 private:
  std::int64_t id_;
  std::vector<const Qualifier*> qualifiers_;
};

/// Which variable a name is: `device`, or one of a comprehension.
enum class VariableRole : std::uint8_t { kDevice, kAccumulated, kFirst, kSecond };

class FoldNode;

/// A variable.
class VariableAttribute final : public Attribute {
 public:
  VariableAttribute(std::int64_t id, VariableRole role, const FoldNode* fold)
      : Attribute(id), role_(role), fold_(fold) {}
  [[nodiscard]] Value resolve(Frame& frame) const override;

 private:
  VariableRole role_;
  const FoldNode* fold_;
};

/// The value of any other expression.
class RelativeAttribute final : public Attribute {
 public:
  RelativeAttribute(std::int64_t id, const Node* operand) : Attribute(id), operand_(operand) {}
  [[nodiscard]] Value resolve(Frame& frame) const override;

 private:
  const Node* operand_;
};

/// condition ? a : b. Qualifiers go to both branches.
class ConditionalAttribute final : public Attribute {
 public:
  ConditionalAttribute(std::int64_t id, const Node* condition, Attribute* truthy, Attribute* falsy)
      : Attribute(id), condition_(condition), truthy_(truthy), falsy_(falsy) {}
  [[nodiscard]] std::int64_t id() const override;
  void add(const Qualifier* qualifier) override;
  [[nodiscard]] Value resolve(Frame& frame) const override;
  bool drop(Frame& frame) const override;

 private:
  const Node* condition_;
  Attribute* truthy_;
  Attribute* falsy_;
};

/// Evaluates an attribute, or with has() asks for its presence.
class AttributeNode final : public Node {
 public:
  explicit AttributeNode(Attribute* attribute) : attribute_(attribute) {}
  Value eval(Frame& frame) const override;
  [[nodiscard]] std::int64_t id() const override { return attribute_->id(); }
  [[nodiscard]] AttributeNode* as_attribute() override { return this; }
  [[nodiscard]] Attribute& attribute() const { return *attribute_; }
  void make_test() { is_test_ = true; }

 private:
  Attribute* attribute_;
  bool is_test_ = false;
};

/// A comprehension.
class FoldNode final : public NumberedNode {
 public:
  FoldNode(std::int64_t id, std::size_t slot) : NumberedNode(id), slot_(slot) {}
  Value eval(Frame& frame) const override;

  const Node* range = nullptr;
  const Node* init = nullptr;
  const Node* condition = nullptr;
  const Node* step = nullptr;
  const Node* result = nullptr;
  bool has_two_variables = false;

  /// The accumulator, computed when it is first asked for.
  [[nodiscard]] Value accumulated(Frame& frame) const;
  [[nodiscard]] FoldSlot& slot(Frame& frame) const { return frame.slots[slot_]; }

 private:
  [[nodiscard]] Value fold(Frame& frame) const;
  [[nodiscard]] bool once(Frame& frame, const Value& first, const Value& second) const;
  [[nodiscard]] Value finish(Frame& frame) const;

  std::size_t slot_;
};

/// Everything that an expression was planned into.
struct Plan {
  const Node* root = nullptr;
  std::size_t slot_count = 0;
  Arena constants;
  std::vector<std::unique_ptr<Node>> nodes;
  std::vector<std::unique_ptr<Attribute>> attributes;
  std::vector<std::unique_ptr<Qualifier>> qualifiers;
  std::vector<std::unique_ptr<Regex>> regexes;
  std::uint64_t regex_work = 0;  ///< that compiling them took
};

}  // namespace gang::cel
