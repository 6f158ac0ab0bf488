// Types as the checker sees them: trees of immutable nodes that a TypePool owns.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace gang::cel {

/// Families of types. kParam is a type parameter of a declaration or a variable of the checker.
enum class TypeKind : std::uint8_t {
  kError,
  kDyn,
  kNull,
  kBool,
  kInt,
  kUint,
  kDouble,
  kString,
  kBytes,
  kDuration,
  kTimestamp,
  kList,
  kMap,
  kOpaque,
  kStruct,
  kParam,
  kType,
};

/// One type. Equal types may be different nodes: compare with is_exactly().
struct Type {
  TypeKind kind = TypeKind::kDyn;
  std::string_view name;            ///< as at run time: "list", "google.protobuf.Duration"
  std::vector<const Type*> params;  ///< element; key and value; of optional_type and type
  std::int32_t variable = -1;       ///< kParam: number of the checker's variable
  std::uint64_t weight = 1;         ///< nodes of the tree
};

[[nodiscard]] bool is_exactly(const Type& a, const Type& b);
/// As is_exactly(), but parameters equal each other.
[[nodiscard]] bool is_equivalent(const Type& a, const Type& b);
[[nodiscard]] bool is_dyn(const Type& type);
[[nodiscard]] bool is_dyn_or_error(const Type& type);
/// The type in an optional_type, or null where it is none.
[[nodiscard]] const Type* unwrapped(const Type& type);
/// As upstream writes it: "map(string, list(int))".
[[nodiscard]] std::string type_text(const Type& type);

/// The one node of a type without parameters, kError to kTimestamp.
[[nodiscard]] const Type& simple_type(TypeKind kind);

/// Owns types. Trees stay below a weight; what would be heavier becomes dyn, and overflowed() says
/// so.
class TypePool {
 public:
  const Type& list(const Type& element);
  const Type& map(const Type& key, const Type& value);
  const Type& optional(const Type& value);
  const Type& type_of(const Type& type);
  const Type& opaque(std::string_view name);
  const Type& structure(std::string_view name);
  const Type& param(std::string_view name);
  const Type& variable(std::int32_t number);
  /// `like` with other parameters.
  const Type& with_params(const Type& like, std::vector<const Type*> params);

  [[nodiscard]] bool overflowed() const { return overflowed_; }

 private:
  static constexpr std::uint64_t kWeightMax = 1000;

  const Type& keep(Type type);

  std::deque<Type> types_;
  bool overflowed_ = false;
};

}  // namespace gang::cel
