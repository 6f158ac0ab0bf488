#include "cel/declarations.h"

#include <map>
#include <string>

namespace gang::cel {
namespace {

// Reads types as the rows write them: "map(K, list(V))".
class TypeReader {
 public:
  TypeReader(TypePool& pool, std::string_view text) : pool_(pool), rest_(text) {}

  std::vector<const Type*> types() {
    std::vector<const Type*> read;
    while (!rest_.empty() && rest_[0] != ')') {
      read.push_back(&type());
      if (rest_.starts_with(", ")) rest_.remove_prefix(2);
    }
    return read;
  }
  [[nodiscard]] bool is_generic() const { return is_generic_; }

 private:
  const Type& type() {
    const std::size_t end = std::min(rest_.find_first_of(",()"), rest_.size());
    const std::string_view name = rest_.substr(0, end);
    rest_.remove_prefix(end);
    if (!rest_.starts_with("(")) return plain(name);
    rest_.remove_prefix(1);
    const std::vector<const Type*> params = types();
    rest_.remove_prefix(1);
    if (name == "list") return pool_.list(*params[0]);
    if (name == "map") return pool_.map(*params[0], *params[1]);
    return name == "type" ? pool_.type_of(*params[0]) : pool_.optional(*params[0]);
  }

  const Type& plain(std::string_view name) {
    if (name.size() == 1) {
      is_generic_ = true;
      return pool_.param(name);
    }
    if (name == "duration") return simple_type(TypeKind::kDuration);
    if (name == "timestamp") return simple_type(TypeKind::kTimestamp);
    for (int kind = 0; kind <= static_cast<int>(TypeKind::kBytes); ++kind) {
      const Type& simple = simple_type(static_cast<TypeKind>(kind));
      if (simple.name == name) return simple;
    }
    return name.starts_with("net.") ? pool_.opaque(name) : pool_.structure(name);
  }

  TypePool& pool_;
  std::string_view rest_;
  bool is_generic_ = false;
};

// Built once, then only read.
struct Environment {
  TypePool pool;
  std::map<std::string_view, std::vector<Overload>> functions;
  std::map<std::string_view, const Type*> type_values;
  std::map<std::string_view, const Type*> device_fields;
  const Type* device = nullptr;

  Environment() {
    add(base_rows());
    add(library_rows());
    add_type_values();
    add_device();
  }

  void add(std::span<const DeclarationRow> rows) {
    for (const DeclarationRow& row : rows) {
      TypeReader args(pool, row.args);
      TypeReader result(pool, row.result);
      Overload made{row.function, row.overload, row.style, args.types(), result.types()[0]};
      made.is_generic = args.is_generic() || result.is_generic();
      functions[row.function].push_back(std::move(made));
    }
  }

  void add_type_values() {
    for (int kind = static_cast<int>(TypeKind::kNull);
         kind <= static_cast<int>(TypeKind::kTimestamp); ++kind) {
      const Type& simple = simple_type(static_cast<TypeKind>(kind));
      type_values[simple.name] = &simple;
    }
    const Type& a = pool.param("A");
    const Type& b = pool.param("B");
    for (const Type* type : {&pool.list(a), &pool.map(a, b), &pool.optional(a), &pool.type_of(a),
                             &pool.opaque("net.IP"), &pool.opaque("net.CIDR")}) {
      type_values[type->name] = type;
    }
  }

  void add_device() {
    const Type& text = simple_type(TypeKind::kString);
    const auto by_domain_and_id = [&](const Type& value) {
      return &pool.map(text, pool.map(text, value));
    };
    device = &pool.structure("kubernetes.DRADevice");
    device_fields["driver"] = &text;
    device_fields["allowMultipleAllocations"] = &simple_type(TypeKind::kBool);
    device_fields["attributes"] = by_domain_and_id(simple_type(TypeKind::kDyn));
    device_fields["capacity"] = by_domain_and_id(pool.structure("kubernetes.Quantity"));
  }
};

const Environment& environment() {
  static const Environment kEnvironment;
  return kEnvironment;
}

const Type* find_in(const std::map<std::string_view, const Type*>& types, std::string_view name) {
  const auto found = types.find(name);
  return found == types.end() ? nullptr : found->second;
}

}  // namespace

const std::vector<Overload>* find_function(std::string_view name) {
  const auto found = environment().functions.find(name);
  return found == environment().functions.end() ? nullptr : &found->second;
}

const Type* find_type_value(std::string_view name) {
  return find_in(environment().type_values, name);
}

const Type& device_type() {
  return *environment().device;
}

const Type* device_field(std::string_view field) {
  return find_in(environment().device_fields, field);
}

}  // namespace gang::cel
