// Bytes of protobuf messages, written by hand: what the API server tells of claims.
#pragma once

#include <string>
#include <string_view>

namespace gang::test {

/// A field with content of fewer than 128 bytes; its number is below 16.
inline std::string wire(unsigned number, std::string_view content) {
  std::string field{static_cast<char>(number << 3U | 2U), static_cast<char>(content.size())};
  return field.append(content);
}

/// An object of that kind with that message inside.
inline std::string wire_object(std::string_view kind, std::string_view message) {
  return std::string("k8s\0", 4) + wire(1, wire(1, "v1") + wire(2, kind)) + wire(2, message) +
         wire(3, "") + wire(4, "");
}

/// A claim of uid "u" and version "7" whose parameters were stored with a blank.
inline std::string wire_claim(std::string_view meta = {}, std::string_view status = {}) {
  return wire_object("ResourceClaim",
                     wire(1, wire(1, "c") + wire(5, "u") + wire(6, "7").append(meta)) +
                         wire(2, R"({"a": 1})") + wire(3, status));
}

}  // namespace gang::test
