#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "cel/amount.h"
#include "cel/arena.h"
#include "cel/lists.h"
#include "cel/maps.h"
#include "cel/semver.h"
#include "gang/cel/program.h"

namespace gang::cel {
namespace {

// Reads attribute values into an arena; the first that cannot be read leaves an error text.
class AttributeReader {
 public:
  explicit AttributeReader(Arena& arena) : arena_(arena) {}

  std::string error;

  Value operator()(std::monostate) {
    error = "unsupported attribute value";
    return {};
  }
  Value operator()(bool value) { return Value::boolean(value); }
  Value operator()(std::int64_t value) { return Value::integer(value); }
  Value operator()(const std::string& value) { return Value::string(arena_.copy(value)); }
  Value operator()(const Version& value) {
    std::string why;
    const std::optional<SemverObject> version = parse_semver(value.text, arena_, why);
    if (!version) {
      error = "parse semantic version: " + why;
      return {};
    }
    return Value::object(Kind::kSemver, arena_.make<SemverObject>(*version));
  }
  template <class T>
  Value operator()(const std::vector<T>& values) {
    std::vector<Value> items;
    items.reserve(values.size());
    for (const T& value : values) items.push_back((*this)(value));
    return make_list(arena_, items);
  }
  Value operator()(const std::vector<bool>& values) {
    std::vector<Value> items;
    for (const bool value : values) items.push_back(Value::boolean(value));
    return make_list(arena_, items);
  }

 private:
  Arena& arena_;
};

// A value and the two parts of its name.
struct Named {
  std::string_view domain;
  std::string_view id;
  bool is_bare = false;
  Value value;
};

Named named(std::string_view name, std::string_view driver) {
  const std::size_t slash = name.find('/');
  if (slash == std::string_view::npos) return {driver, name, true, {}};
  return {name.substr(0, slash), name.substr(slash + 1), false, {}};
}

bool is_same_name(const Named& one, const Named& other) {
  return one.domain == other.domain && one.id == other.id;
}

// In order, each name once: a qualified name wins over a bare one.
void sort_names(std::vector<Named>& values) {
  std::ranges::sort(values, [](const Named& one, const Named& other) {
    return std::tie(one.domain, one.id, one.is_bare) <
           std::tie(other.domain, other.id, other.is_bare);
  });
  values.erase(std::unique(values.begin(), values.end(), is_same_name), values.end());
}

Value map_of_domain(Arena& arena, std::span<const Named> values) {
  MapObject* map = make_map(arena, values.size());
  map->is_text_keyed = true;
  for (const Named& one : values) {
    map_append(arena, *map, Value::string(arena.copy(one.id)), one.value);
  }
  return as_map(map);
}

Value map_of(Arena& arena, std::vector<Named>& values) {
  sort_names(values);
  MapObject* map = make_map(arena, values.size());
  map->is_text_keyed = true;
  map->missing = arena.make<Value>(as_map(make_map(arena, 0)));
  for (std::span<const Named> rest = values; !rest.empty();) {
    const std::string_view domain = rest.front().domain;
    const auto end =
        std::ranges::find_if_not(rest, [domain](const Named& one) { return one.domain == domain; });
    const auto count = static_cast<std::size_t>(end - rest.begin());
    const Value inner = map_of_domain(arena, rest.first(count));
    map_append(arena, *map, Value::string(arena.copy(domain)), inner);
    rest = rest.subspan(count);
  }
  return as_map(map);
}

// Qualified names are read first, so that of several bad values always the same is told.
Value attributes_of(Arena& arena, const DeviceSource& source) {
  std::vector<Named> values;
  values.reserve(source.attributes.size());
  AttributeReader read(arena);
  for (const bool bare : {false, true}) {
    for (const auto& [name, attribute] : source.attributes) {
      Named one = named(name, source.driver);
      if (one.is_bare != bare) continue;
      one.value = std::visit(read, attribute);
      if (!read.error.empty()) {
        return Value::error(arena.copy("attribute " + name + ": " + read.error));
      }
      values.push_back(one);
    }
  }
  return map_of(arena, values);
}

Value capacity_of(Arena& arena, const DeviceSource& source) {
  std::vector<Named> values;
  values.reserve(source.capacity.size());
  for (const auto& [name, quantity] : source.capacity) {
    Amount amount{quantity};
    // The canonical text is what the API server stores.
    if (const Result<Amount> read = parse_amount(quantity.text())) amount = *read;
    amount.exact = quantity;
    Named one = named(name, source.driver);
    one.value = Value::object(Kind::kQuantity, arena.make<Amount>(amount));
    values.push_back(one);
  }
  return map_of(arena, values);
}

Value root_of(Arena& arena, const DeviceSource& source) {
  const Value attributes = attributes_of(arena, source);
  if (attributes.is_error()) return attributes;
  MapObject* root = make_map(arena, 4);
  root->is_text_keyed = true;
  const auto put = [&](std::string_view name, const Value& value) {
    map_append(arena, *root, Value::string(name), value);
  };
  put("attributes", attributes);
  put("capacity", capacity_of(arena, source));
  put("driver", Value::string(arena.copy(source.driver)));
  put("allowMultipleAllocations", Value::boolean(source.allow_multiple_allocations));
  return as_map(root);
}

}  // namespace

Device::Device(const DeviceSource& source)
    : arena_(std::make_unique<Arena>()), root_(root_of(*arena_, source)) {}
Device::~Device() = default;
Device::Device(Device&&) noexcept = default;
Device& Device::operator=(Device&&) noexcept = default;

}  // namespace gang::cel
