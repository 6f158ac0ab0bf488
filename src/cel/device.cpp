#include <algorithm>
#include <map>
#include <optional>
#include <string>

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

// Values by domain and id, in order.
using Domains = std::map<std::string_view, std::map<std::string_view, Value>>;

// Puts a value where its name says; a qualified name wins over a bare one.
void place(Domains& domains, std::string_view name, std::string_view driver, const Value& value) {
  const std::size_t slash = name.find('/');
  if (slash == std::string_view::npos) {
    domains[driver].try_emplace(name, value);
  } else {
    domains[name.substr(0, slash)].insert_or_assign(name.substr(slash + 1), value);
  }
}

bool is_bare(std::string_view name) {
  return name.find('/') == std::string_view::npos;
}

Value map_of(Arena& arena, const Domains& domains) {
  MapObject* outer = make_map(arena, domains.size());
  outer->is_text_keyed = true;
  MapObject* empty = make_map(arena, 0);
  outer->missing = arena.make<Value>(as_map(empty));
  for (const auto& [domain, values] : domains) {
    MapObject* inner = make_map(arena, values.size());
    inner->is_text_keyed = true;
    for (const auto& [id, value] : values) {
      map_put(arena, *inner, Value::string(arena.copy(id)), value);
    }
    map_put(arena, *outer, Value::string(arena.copy(domain)), as_map(inner));
  }
  return as_map(outer);
}

Value attributes_of(Arena& arena, const DeviceSource& source) {
  Domains domains;
  AttributeReader read(arena);
  for (const bool bare : {false, true}) {
    for (const auto& [name, attribute] : source.attributes) {
      if (is_bare(name) != bare) continue;
      const Value value = std::visit(read, attribute);
      if (!read.error.empty()) {
        return Value::error(arena.copy("attribute " + name + ": " + read.error));
      }
      place(domains, name, source.driver, value);
    }
  }
  return map_of(arena, domains);
}

Value capacity_of(Arena& arena, const DeviceSource& source) {
  Domains domains;
  for (const bool bare : {false, true}) {
    for (const auto& [name, quantity] : source.capacity) {
      if (is_bare(name) != bare) continue;
      Amount amount{quantity};
      // The canonical text is what the API server stores.
      if (const Result<Amount> read = parse_amount(quantity.text())) amount = *read;
      amount.exact = quantity;
      place(domains, name, source.driver,
            Value::object(Kind::kQuantity, arena.make<Amount>(amount)));
    }
  }
  return map_of(arena, domains);
}

Value root_of(Arena& arena, const DeviceSource& source) {
  const Value attributes = attributes_of(arena, source);
  if (attributes.is_error()) return attributes;
  MapObject* root = make_map(arena, 4);
  root->is_text_keyed = true;
  const auto put = [&](std::string_view name, const Value& value) {
    map_put(arena, *root, Value::string(name), value);
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
