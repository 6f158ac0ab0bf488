#include "cel/maps.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "cel/text_of.h"

namespace gang::cel {
namespace {

constexpr std::int64_t kSmall = 8;  // up to here a scan beats the hash table

// Equality of keys as Go's maps have it: by type and value, compound values by identity.
bool same_key(const Value& a, const Value& b) {
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case Kind::kString:
    case Kind::kBytes:
    case Kind::kType:
    case Kind::kError:
      return a.as_text() == b.as_text();
    case Kind::kDouble:
      return a.as_double() == b.as_double();
    case Kind::kNull:
      return true;
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kUint:
    case Kind::kDuration:
      return a.as_uint() == b.as_uint();
    case Kind::kTimestamp:
      return a.as_int() == b.as_int() && a.extent() == b.extent();
    default:
      return a.address() == b.address();
  }
}

std::size_t hash(const Value& key) {
  const auto kind = static_cast<std::size_t>(key.kind());
  switch (key.kind()) {
    case Kind::kString:
    case Kind::kBytes:
    case Kind::kType:
    case Kind::kError:
      return std::hash<std::string_view>{}(key.as_text()) ^ kind;
    case Kind::kDouble:
      return std::hash<double>{}(key.as_double()) ^ kind;
    default:
      return key.as_uint() * 0x9E3779B97F4A7C15ULL ^ kind;
  }
}

std::uint32_t slot_of(const MapObject& map, const Value& key) {
  const std::size_t mixed = hash(key) * 0x9E3779B97F4A7C15ULL;
  auto slot = static_cast<std::uint32_t>((mixed >> 32U) & (map.slot_count - 1));
  while (map.slots[slot] != 0 && !same_key(map.entries[map.slots[slot] - 1].key, key)) {
    slot = (slot + 1) & (map.slot_count - 1);
  }
  return slot;
}

// Lengths tell most keys apart, without a look at the text.
MapEntry* scan_for_text(const MapObject& map, std::string_view text) {
  for (std::int64_t i = 0; i < map.size; ++i) {
    const Value& key = map.entries[i].key;
    if (key.is(Kind::kString) && key.as_text() == text) return &map.entries[i];
  }
  return nullptr;
}

MapEntry* exact(const MapObject& map, const Value& key) {
  if (map.slots != nullptr) {
    const std::uint32_t number = map.slots[slot_of(map, key)];
    return number == 0 ? nullptr : &map.entries[number - 1];
  }
  if (key.is(Kind::kString)) return scan_for_text(map, key.as_text());
  for (std::int64_t i = 0; i < map.size; ++i) {
    if (same_key(map.entries[i].key, key)) return &map.entries[i];
  }
  return nullptr;
}

void rehash(Arena& arena, MapObject& map) {
  std::uint32_t count = 16;
  while (count < map.room * 2) count *= 2;
  map.slots = arena.array<std::uint32_t>(count);
  map.slot_count = count;
  for (std::int64_t i = 0; i < map.size; ++i) {
    map.slots[slot_of(map, map.entries[i].key)] = static_cast<std::uint32_t>(i + 1);
  }
}

const Value* value_of(const MapEntry* entry) {
  return entry == nullptr ? nullptr : &entry->value;
}

const Value* find_number(const MapObject& map, const Value& key) {
  const auto as_uint = [&](std::uint64_t n) {
    return value_of(exact(map, Value::unsigned_integer(n)));
  };
  const auto as_int = [&](std::int64_t n) { return value_of(exact(map, Value::integer(n))); };
  if (key.is(Kind::kInt)) {
    return key.as_int() < 0 ? nullptr : as_uint(static_cast<std::uint64_t>(key.as_int()));
  }
  if (key.is(Kind::kUint)) {
    return key.as_uint() > INT64_MAX ? nullptr : as_int(static_cast<std::int64_t>(key.as_uint()));
  }
  const double value = key.as_double();
  if (value != std::trunc(value) || std::fabs(value) >= 1.8e19) return nullptr;
  if (std::fabs(value) < 9.2e18) {
    if (const Value* found = as_int(static_cast<std::int64_t>(value))) return found;
  }
  return value < 0 ? nullptr : as_uint(static_cast<std::uint64_t>(value));
}

}  // namespace

const Value* map_find_entry(const MapObject& map, const Value& key) {
  if (map.is_text_keyed && !key.is(Kind::kString)) return nullptr;
  if (const MapEntry* entry = exact(map, key)) return &entry->value;
  const bool is_number = key.is(Kind::kInt) || key.is(Kind::kUint) || key.is(Kind::kDouble);
  return is_number && !map.is_text_keyed ? find_number(map, key) : nullptr;
}

const Value* map_find(const MapObject& map, const Value& key) {
  const Value* found = map_find_entry(map, key);
  return found == nullptr ? map.missing : found;
}

MapObject* make_map(Arena& arena, std::size_t count) {
  auto* map = arena.make<MapObject>();
  map->entries = arena.array<MapEntry>(count);
  map->room = static_cast<std::int64_t>(count);
  return map;
}

void map_put(Arena& arena, MapObject& map, const Value& key, const Value& value) {
  if (MapEntry* entry = exact(map, key)) {
    entry->value = value;
    return;
  }
  map_append(arena, map, key, value);
}

void map_append(Arena& arena, MapObject& map, const Value& key, const Value& value) {
  map.entries[map.size] = {key, value};
  ++map.size;
  if (map.size <= kSmall) return;
  if (map.slot_count < 2 * map.room) {
    rehash(arena, map);
  } else {
    map.slots[slot_of(map, key)] = static_cast<std::uint32_t>(map.size);
  }
}

void map_remove(MapObject& map, const Value& key) {
  MapEntry* entry = exact(map, key);
  if (entry == nullptr) return;
  std::move(entry + 1, map.entries + map.size, entry);
  --map.size;
  map.slots = nullptr;  // numbers moved: scan, or build the table anew with the next key
  map.slot_count = 0;
}

Value growing_map(Frame& frame) {
  MapObject* map = make_map(frame.arena, 8);
  map->is_growing = true;
  return as_map(map);
}

Value grown_map(Frame& frame, const Value& map) {
  if (!map.as<MapObject>().is_growing) return map;
  auto* fixed = frame.arena.make<MapObject>(map.as<MapObject>());
  fixed->is_growing = false;
  return as_map(fixed);
}

Value map_insert(Frame& frame, const Value& map, const Value& key, const Value& value) {
  // A growing map is this evaluation's own, and only this changes it.
  auto* into = const_cast<MapObject*>(&map.as<MapObject>());
  if (map_find_entry(*into, key) != nullptr) {
    return frame.fail("insert failed: key " + text_of(key) + " already exists");
  }
  if (!frame.spend(1)) return Frame::cancelled();
  const std::int64_t room =
      into->size < into->room && into->is_growing ? into->room : 2 * into->size + 8;
  if (room != into->room || !into->is_growing) {
    if (!frame.may_allocate(static_cast<std::uint64_t>(room) * 48)) return Frame::cancelled();
    MapObject* larger = make_map(frame.arena, static_cast<std::size_t>(room));
    std::copy_n(into->entries, into->size, larger->entries);
    larger->size = into->size;
    larger->is_growing = into->is_growing;
    if (!into->is_growing) into = frame.arena.make<MapObject>();
    *into = *larger;
    if (into->size > kSmall) rehash(frame.arena, *into);
  }
  map_put(frame.arena, *into, key, value);
  return as_map(into);
}

}  // namespace gang::cel
