// The tree of an expression: as parsed, then as checked, then planned. Nodes live in an Ast.
#pragma once

#include <cstdint>
#include <deque>
#include <string_view>
#include <vector>

#include "cel/arena.h"
#include "gang/cel/value.h"

namespace gang::cel {

/// Kinds of nodes.
enum class ExprKind : std::uint8_t {
  kLiteral,
  kIdent,
  kSelect,
  kCall,
  kList,
  kMap,
  kStruct,
  kComprehension,
};

/// One node. Which fields count depends on the kind.
struct Expr {
  std::int64_t id = 0;
  ExprKind kind = ExprKind::kLiteral;
  std::uint32_t offset = 0;  ///< of the token it is reported at, in bytes of the source

  Value literal;
  std::string_view name;   ///< identifier, field, function, struct type, or accumulator variable
  bool test_only = false;  ///< select: has()
  Expr* target = nullptr;  ///< select: operand; call: receiver
  std::vector<Expr*>
      args;  ///< call, list: elements; map: key, value, key, value...; struct: values
  std::vector<bool> optional;            ///< list, map, struct: the entry has a `?`
  std::vector<std::string_view> fields;  ///< struct: names of the values

  // Comprehension: fold `range` into `name`, from `init`, while `condition`, by `step`, to
  // `result`.
  std::string_view iter_var;
  std::string_view iter_var2;
  Expr* range = nullptr;
  Expr* init = nullptr;
  Expr* condition = nullptr;
  Expr* step = nullptr;
  Expr* result = nullptr;

  int depth = 0;  ///< how deep the parser's recursion is below this node, in upstream's count
};

/// Owns the nodes of one expression and their texts.
class Ast {
 public:
  Expr* make(ExprKind kind, std::uint32_t offset) {
    Expr& made = nodes_.emplace_back();
    made.id = static_cast<std::int64_t>(nodes_.size());
    made.kind = kind;
    made.offset = offset;
    return &made;
  }

  Arena& arena() { return arena_; }
  /// Ids are 1 to this.
  [[nodiscard]] std::int64_t id_max() const { return static_cast<std::int64_t>(nodes_.size()); }

  /// Whether it has as many nodes as any sound expression: macros multiply them.
  [[nodiscard]] bool is_full() const { return nodes_.size() >= kNodesMax; }

  Expr* root = nullptr;

 private:
  static constexpr std::size_t kNodesMax = 200'000;

  std::deque<Expr> nodes_;
  Arena arena_;
};

/// Names of operators as functions.
namespace op {
inline constexpr std::string_view kConditional = "_?_:_";
inline constexpr std::string_view kAnd = "_&&_";
inline constexpr std::string_view kOr = "_||_";
inline constexpr std::string_view kNot = "!_";
inline constexpr std::string_view kNegate = "-_";
inline constexpr std::string_view kEquals = "_==_";
inline constexpr std::string_view kNotEquals = "_!=_";
inline constexpr std::string_view kAdd = "_+_";
inline constexpr std::string_view kIndex = "_[_]";
inline constexpr std::string_view kOptIndex = "_[?_]";
inline constexpr std::string_view kOptSelect = "_?._";
inline constexpr std::string_view kIn = "@in";
inline constexpr std::string_view kNotStrictlyFalse = "@not_strictly_false";
inline constexpr std::string_view kMapInsert = "cel.@mapInsert";
}  // namespace op

/// Names that macros bind; no source can spell them.
inline constexpr std::string_view kAccumulator = "@result";
inline constexpr std::string_view kUnused = "#unused";

}  // namespace gang::cel
