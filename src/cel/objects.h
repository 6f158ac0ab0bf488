// What compound values point to. All lie in an Arena and need no destructor.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "gang/cel/value.h"

namespace gang::cel {

/// A list: its elements, or the two lists that it joins (so that joining costs nothing), or one
/// that a fold appends to in place. Use lists.h.
struct ListObject {
  std::int64_t size = 0;
  Value* items = nullptr;
  std::int64_t room = 0;  ///< of `items`, where is_growing
  bool is_growing = false;
  const ListObject* left = nullptr;
  const ListObject* right = nullptr;
  std::uint32_t depth = 0;  ///< of the joins below: steps to an item
};

/// One entry of a map.
struct MapEntry {
  Value key;
  Value value;
};

/// A map in the order in which its keys came. Use maps.h.
struct MapObject {
  std::int64_t size = 0;
  MapEntry* entries = nullptr;
  std::int64_t room = 0;
  std::uint32_t* slots = nullptr;  ///< hash table of entry number + 1, where the map is large
  std::uint32_t slot_count = 0;
  bool is_growing = false;
  bool is_text_keyed = false;      ///< finds strings only, as Go's map[string]any
  const Value* missing = nullptr;  ///< what a lookup of an unknown key gives, if anything
};

/// A semantic version (semver.org); build metadata counts in nothing but the text.
struct SemverObject {
  std::uint64_t major = 0;
  std::uint64_t minor = 0;
  std::uint64_t patch = 0;
  std::string_view prerelease;  ///< with its dots
  std::string_view build;
};

/// An address of 4 or 16 bytes.
struct IpObject {
  std::array<std::uint8_t, 16> bytes{};
  std::uint8_t size = 4;
  friend bool operator==(const IpObject&, const IpObject&) = default;
};

/// A network.
struct CidrObject {
  IpObject ip;
  std::uint8_t prefix = 0;
  friend bool operator==(const CidrObject&, const CidrObject&) = default;
};

/// The parts of a URL, unescaped as Go's net/url gives them.
struct UrlObject {
  std::string_view text;
  std::string_view scheme;
  std::string_view host;  ///< with the port
  std::string_view escaped_path;
  std::string_view query;  ///< raw
};

}  // namespace gang::cel
