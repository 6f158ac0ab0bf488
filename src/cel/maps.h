// Maps from values to values.
#pragma once

#include <vector>

#include "cel/frame.h"
#include "cel/objects.h"

namespace gang::cel {

inline std::int64_t map_size(const Value& map) {
  return map.as<MapObject>().size;
}

/// The value of this key: numbers find equal numbers of other types. Null where there is none;
/// `missing` of a map stands for unknown keys.
[[nodiscard]] const Value* map_find(const MapObject& map, const Value& key);
/// As map_find(), but only what is really there.
[[nodiscard]] const Value* map_find_entry(const MapObject& map, const Value& key);

/// Room for `count` entries.
[[nodiscard]] MapObject* make_map(Arena& arena, std::size_t count);
/// Adds or replaces. REQUIRES: room.
void map_put(Arena& arena, MapObject& map, const Value& key, const Value& value);
/// Adds. REQUIRES: room, and that the key is not there.
void map_append(Arena& arena, MapObject& map, const Value& key, const Value& value);
/// Takes the entry of exactly this key out, if it is there.
void map_remove(MapObject& map, const Value& key);
inline Value as_map(const MapObject* map) {
  return Value::object(Kind::kMap, map);
}

/// An empty map that map_insert() changes in place, and the same map for good.
[[nodiscard]] Value growing_map(Frame& frame);
[[nodiscard]] Value grown_map(Frame& frame, const Value& map);
/// The map with one more key; an error where it has it.
[[nodiscard]] Value map_insert(Frame& frame, const Value& map, const Value& key,
                               const Value& value);

}  // namespace gang::cel
