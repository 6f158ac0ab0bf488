// Protobuf: messages of the API server read field by field, and rewritten in part.
//
// No message is known as a whole. It is a row of fields, each a tag and a value that tells its own
// length, so what is not asked for can be passed on byte for byte: fields of newer servers, and the
// very bytes of opaque parameters. An object is the bytes "k8s\0" and a runtime.Unknown around it.
// Linear in the bytes. Not read: groups, which no API object has.
// Source: the encoding guide of Protocol Buffers; runtime.Unknown of Kubernetes' apimachinery.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "gang/base/result.h"

namespace gang::api {

/// One field, as views into its message.
struct WireField {
  std::uint32_t number = 0;
  std::string_view whole;    ///< tag and value
  bool has_content = false;  ///< a string, bytes or a message; else a number
  std::string_view content;
};

/// The fields in their order. Fails on broken bytes and on more fields than any object has.
[[nodiscard]] Result<std::vector<WireField>> read_fields(std::string_view message);

/// Content of the last field of that number, which is the one that counts; empty without one.
[[nodiscard]] std::string_view content_of(const std::vector<WireField>& fields,
                                          std::uint32_t number);

/// Appends a field with content.
void append_field(std::string& message, std::uint32_t number, std::string_view content);

using WireEdit = std::function<Result<std::string>(std::string_view content)>;

/// The message with other content in its one field of that number. Fails when it has none or two.
[[nodiscard]] Result<std::string> edit_field(std::string_view message, std::uint32_t number,
                                             const WireEdit& edit);

/// Whether the bytes begin as those of an object.
[[nodiscard]] bool is_protobuf_object(std::string_view bytes);

/// The message inside the bytes of an object of that kind.
[[nodiscard]] Result<std::string_view> read_object(std::string_view bytes, std::string_view kind);

/// The bytes of an object with another message inside.
[[nodiscard]] Result<std::string> edit_object(std::string_view bytes, std::string_view kind,
                                              const WireEdit& edit);

}  // namespace gang::api
