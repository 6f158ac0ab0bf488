#include "api/protobuf.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace gang::api {
namespace {

constexpr std::size_t kFieldsMax = 1U << 16U;
constexpr std::string_view kMagic("k8s\0", 4);

// Of runtime.Unknown, and of the TypeMeta in it.
constexpr std::uint32_t kTypeMeta = 1;
constexpr std::uint32_t kRaw = 2;
constexpr std::uint32_t kContentEncoding = 3;
constexpr std::uint32_t kTypeMetaKind = 2;

/// How the value of a field tells its length.
enum class WireType { kVarint = 0, kFixed64 = 1, kContent = 2, kFixed32 = 5 };

tl::unexpected<Error> broken(const std::string& what) {
  return fail(Code::kInvalidArgument, "protobuf: " + what);
}

/// Takes values from the front of a message.
class WireReader {
 public:
  explicit WireReader(std::string_view message) : message_(message) {}

  [[nodiscard]] bool is_at_end() const { return at_ == message_.size(); }

  Result<WireField> field() {
    const std::size_t begin = at_;
    const std::optional<std::uint64_t> tag = varint();
    if (!tag) return broken("a tag is cut or too long");
    if (*tag >> 3U == 0 || *tag > std::numeric_limits<std::uint32_t>::max()) {
      return broken("a field has no number that can be");
    }
    WireField field;
    field.number = static_cast<std::uint32_t>(*tag >> 3U);
    if (!value(static_cast<WireType>(*tag & 7U), field)) {
      return broken("field " + std::to_string(field.number) + " is cut or of no known type");
    }
    field.whole = message_.substr(begin, at_ - begin);
    return field;
  }

 private:
  bool value(WireType type, WireField& field) {
    switch (type) {
      case WireType::kVarint:
        return varint().has_value();
      case WireType::kFixed64:
        return skip(8);
      case WireType::kFixed32:
        return skip(4);
      case WireType::kContent:
        return content(field);
    }
    return false;
  }

  bool content(WireField& field) {
    const std::optional<std::uint64_t> size = varint();
    if (!size || !skip(*size)) return false;
    field.has_content = true;
    field.content = message_.substr(at_ - *size, *size);
    return true;
  }

  bool skip(std::uint64_t bytes) {
    if (bytes > message_.size() - at_) return false;
    at_ += bytes;
    return true;
  }

  /// Seven bits a byte, the lowest first; nothing when it is cut or more than 64 bits.
  std::optional<std::uint64_t> varint() {
    std::uint64_t number = 0;
    for (unsigned shift = 0; shift < 64 && !is_at_end(); shift += 7) {
      const auto byte = static_cast<unsigned char>(message_[at_++]);
      const std::uint64_t bits = byte & 0x7fU;
      if (shift == 63 && bits > 1) return std::nullopt;
      number |= bits << shift;
      if (byte < 0x80U) return number;
    }
    return std::nullopt;
  }

  const std::string_view message_;
  std::size_t at_ = 0;
};

void append_varint(std::string& to, std::uint64_t number) {
  for (; number >= 0x80U; number >>= 7U) to += static_cast<char>((number & 0x7fU) | 0x80U);
  to += static_cast<char>(number);
}

}  // namespace

Result<std::vector<WireField>> read_fields(std::string_view message) {
  std::vector<WireField> fields;
  for (WireReader reader(message); !reader.is_at_end();) {
    GANG_TRY(const WireField field, reader.field());
    if (fields.size() == kFieldsMax) return broken("too many fields");
    fields.push_back(field);
  }
  return fields;
}

std::string_view content_of(const std::vector<WireField>& fields, std::uint32_t number) {
  const auto last = std::find_if(fields.rbegin(), fields.rend(), [number](const WireField& field) {
    return field.number == number && field.has_content;
  });
  return last == fields.rend() ? std::string_view() : last->content;
}

void append_field(std::string& message, std::uint32_t number, std::string_view content) {
  append_varint(message, std::uint64_t{number} << 3U | static_cast<unsigned>(WireType::kContent));
  append_varint(message, content.size());
  message += content;
}

Result<std::string> edit_field(std::string_view message, std::uint32_t number,
                               const WireEdit& edit) {
  GANG_TRY(const std::vector<WireField> fields, read_fields(message));
  if (std::ranges::count(fields, number, &WireField::number) != 1) {
    return broken("field " + std::to_string(number) + " is not there once");
  }
  std::string edited;
  for (const WireField& field : fields) {
    if (field.number != number) {
      edited += field.whole;
      continue;
    }
    if (!field.has_content) return broken("field " + std::to_string(number) + " is a number");
    GANG_TRY(const std::string content, edit(field.content));
    append_field(edited, number, content);
  }
  return edited;
}

bool is_protobuf_object(std::string_view bytes) {
  return bytes.starts_with(kMagic);
}

Result<std::string_view> read_object(std::string_view bytes, std::string_view kind) {
  if (!is_protobuf_object(bytes)) return broken("these are not the bytes of an object");
  GANG_TRY(const std::vector<WireField> fields, read_fields(bytes.substr(kMagic.size())));
  GANG_TRY(const std::vector<WireField> type, read_fields(content_of(fields, kTypeMeta)));
  if (content_of(type, kTypeMetaKind) != kind) {
    return broken("the object is no " + std::string(kind));
  }
  if (!content_of(fields, kContentEncoding).empty()) return broken("the object is packed");
  return content_of(fields, kRaw);
}

Result<std::string> edit_object(std::string_view bytes, std::string_view kind,
                                const WireEdit& edit) {
  GANG_TRY([[maybe_unused]] const std::string_view message, read_object(bytes, kind));
  GANG_TRY(const std::string edited, edit_field(bytes.substr(kMagic.size()), kRaw, edit));
  return std::string(kMagic) + edited;
}

}  // namespace gang::api
