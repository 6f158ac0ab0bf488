#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "cel/functions.h"
#include "cel/lists.h"
#include "cel/maps.h"
#include "cel/url.h"

namespace gang::cel {
namespace {

using Args = std::span<const Value>;

const UrlObject& url(const Value& value) {
  return value.as<UrlObject>();
}

Value to_url(Frame& frame, Args args) {
  std::string why;
  std::optional<Url> read = parse_request_url(args[0].as_text(), why);
  if (read) read = parse_url(args[0].as_text(), why);
  if (!read) return frame.fail("URL parse error during conversion from string: " + why);
  auto* made = frame.arena.make<UrlObject>();
  made->text = frame.arena.copy(read->text());
  made->scheme = frame.arena.copy(read->scheme);
  made->host = frame.arena.copy(read->host);
  made->escaped_path = frame.arena.copy(read->is_opaque ? "" : read->escaped_path);
  made->query = frame.arena.copy(read->query);
  return Value::object(Kind::kUrl, made);
}
Value is_url(Frame&, Args args) {
  std::string why;
  return Value::boolean(parse_request_url(args[0].as_text(), why).has_value());
}

// Where the port's colon is, or the end of the host.
std::size_t port_colon(std::string_view host) {
  const std::size_t colon = host.rfind(':');
  if (colon == std::string_view::npos) return host.size();
  for (const char c : host.substr(colon + 1)) {
    if (c < '0' || c > '9') return host.size();
  }
  return colon;
}

Value scheme(Frame&, Args args) {
  return Value::string(url(args[0]).scheme);
}
Value host(Frame&, Args args) {
  return Value::string(url(args[0]).host);
}
Value hostname(Frame&, Args args) {
  const std::string_view whole = url(args[0]).host;
  std::string_view name = whole.substr(0, port_colon(whole));
  if (name.size() >= 2 && name.front() == '[' && name.back() == ']') {
    name = name.substr(1, name.size() - 2);
  }
  return Value::string(name);
}
Value port(Frame&, Args args) {
  const std::string_view whole = url(args[0]).host;
  const std::size_t colon = port_colon(whole);
  return Value::string(whole.substr(std::min(colon + 1, whole.size())));
}
Value escaped_path(Frame&, Args args) {
  return Value::string(url(args[0]).escaped_path);
}

Value query(Frame& frame, Args args) {
  const std::string_view text = url(args[0]).query;
  const auto count = static_cast<std::uint64_t>(std::ranges::count(text, '&')) + 1;
  // Each key is looked for among those before it.
  if (!frame.spend(text.size() + count * count / 16)) return Frame::cancelled();
  const auto pairs = parse_query(text);
  MapObject* map = make_map(frame.arena, pairs.size());
  for (const auto& [key, values] : pairs) {
    std::vector<Value> items;
    for (const std::string& value : values) items.push_back(Value::string(frame.arena.copy(value)));
    const Value name = Value::string(frame.arena.copy(key));
    map_put(frame.arena, *map, name, make_list(frame.arena, items));
  }
  return as_map(map);
}

constexpr std::array kBuiltins = std::to_array<NamedBuiltin>({
    {"string_to_url", to_url},
    {"is_url_string", is_url},
    {"url_get_scheme", scheme},
    {"url_get_host", host},
    {"url_get_hostname", hostname},
    {"url_get_port", port},
    {"url_get_escaped_path", escaped_path},
    {"url_get_query", query},
});

}  // namespace

std::span<const NamedBuiltin> url_builtins() {
  return kBuiltins;
}

}  // namespace gang::cel
