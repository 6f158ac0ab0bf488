// Value: what an expression computes with, in 16 bytes.
//
// A Value is a view: text, lists, maps and the other compound kinds lie in the memory of whoever
// made them (a Device, a Program, the Scratch of an evaluation), which must outlive it. An error is
// a value too, because `false && error` is false. Copied freely; any thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace gang::cel {

/// What a Value is. The names in an expression: int, uint, double, null_type,
/// google.protobuf.Duration.
enum class Kind : std::uint8_t {
  kError,
  kNull,
  kBool,
  kInt,
  kUint,
  kDouble,
  kString,
  kBytes,
  kList,
  kMap,
  kDuration,
  kTimestamp,
  kType,
  kOptional,
  kQuantity,
  kSemver,
  kIp,
  kCidr,
  kUrl,
  kNamedFormat,
};

/// One dynamic value. Default is null.
class Value {
 public:
  constexpr Value() : integer_(0) {}

  static constexpr Value boolean(bool value) {
    Value made(Kind::kBool);
    made.integer_ = value ? 1 : 0;
    return made;
  }
  static constexpr Value integer(std::int64_t value) {
    Value made(Kind::kInt);
    made.integer_ = value;
    return made;
  }
  static constexpr Value unsigned_integer(std::uint64_t value) {
    Value made(Kind::kUint);
    made.unsigned_ = value;
    return made;
  }
  static constexpr Value real(double value) {
    Value made(Kind::kDouble);
    made.real_ = value;
    return made;
  }
  /// `kind` is kString, kBytes, kType or kError (its message). REQUIRES: size below 4 GiB.
  static constexpr Value text(Kind kind, std::string_view value) {
    Value made(kind);
    made.text_ = value.data();
    made.extent_ = static_cast<std::uint32_t>(value.size());
    return made;
  }
  static constexpr Value string(std::string_view value) { return text(Kind::kString, value); }
  static constexpr Value error(std::string_view message) { return text(Kind::kError, message); }
  static constexpr Value duration(std::int64_t nanoseconds) {
    Value made(Kind::kDuration);
    made.integer_ = nanoseconds;
    return made;
  }
  /// `zone` is the offset that its text shows, in minutes east of UTC.
  static constexpr Value timestamp(std::int64_t unix_seconds, std::uint32_t nanoseconds,
                                   std::int16_t zone = 0) {
    Value made(Kind::kTimestamp);
    made.integer_ = unix_seconds;
    made.extent_ = nanoseconds;
    made.zone_ = zone;
    return made;
  }
  /// A compound kind; `extent` is a mark of that kind.
  static constexpr Value object(Kind kind, const void* object, std::uint32_t extent = 0) {
    Value made(kind);
    made.object_ = object;
    made.extent_ = extent;
    return made;
  }

  [[nodiscard]] constexpr Kind kind() const { return kind_; }
  [[nodiscard]] constexpr bool is(Kind kind) const { return kind_ == kind; }
  [[nodiscard]] constexpr bool is_error() const { return kind_ == Kind::kError; }
  [[nodiscard]] constexpr bool is_true() const { return is(Kind::kBool) && integer_ != 0; }
  [[nodiscard]] constexpr bool is_false() const { return is(Kind::kBool) && integer_ == 0; }

  // REQUIRES: the kind that the name says.
  [[nodiscard]] constexpr bool as_bool() const { return integer_ != 0; }
  [[nodiscard]] constexpr std::int64_t as_int() const { return integer_; }
  [[nodiscard]] constexpr std::uint64_t as_uint() const { return unsigned_; }
  [[nodiscard]] constexpr double as_double() const { return real_; }
  [[nodiscard]] constexpr std::string_view as_text() const { return {text_, extent_}; }
  [[nodiscard]] constexpr std::uint32_t extent() const { return extent_; }
  [[nodiscard]] constexpr std::int16_t zone() const { return zone_; }
  template <class T>
  [[nodiscard]] const T& as() const {
    return *static_cast<const T*>(object_);
  }
  [[nodiscard]] constexpr const void* address() const { return object_; }

 private:
  explicit constexpr Value(Kind kind) : kind_(kind), integer_(0) {}

  Kind kind_ = Kind::kNull;
  std::int16_t zone_ = 0;
  std::uint32_t extent_ = 0;
  union {
    std::int64_t integer_;
    std::uint64_t unsigned_;
    double real_;
    const char* text_;
    const void* object_;
  };
};

}  // namespace gang::cel
