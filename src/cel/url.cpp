#include "cel/url.h"

#include <algorithm>

#include "cel/network.h"

namespace gang::cel {
namespace {

enum class Part { kHost, kPath, kQuery, kUser };

bool is_alnum(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}
bool is_alpha(char c) {
  return is_alnum(c) && !(c >= '0' && c <= '9');
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool one_of(char c, std::string_view set) {
  return set.find(c) != std::string_view::npos;
}

// Whether a byte may stand in a host without an escape.
bool is_host_byte(char c) {
  return static_cast<unsigned char>(c) >= 0x80 || is_alnum(c) ||
         one_of(c, "-_.~!$&'()*+,;=:[]<>\"");
}

std::optional<std::string> unescape(std::string_view text, Part part) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '%') {
      const bool whole = i + 2 < text.size();
      const int high = whole ? hex_digit(text[i + 1]) : -1;
      const int low = whole ? hex_digit(text[i + 2]) : -1;
      if (high < 0 || low < 0) return std::nullopt;
      // Hosts may escape only what is not ASCII.
      if (part == Part::kHost && high < 8) return std::nullopt;
      out += static_cast<char>(high * 16 + low);
      i += 2;
    } else if (part == Part::kHost && !is_host_byte(c)) {
      return std::nullopt;
    } else {
      out += part == Part::kQuery && c == '+' ? ' ' : c;
    }
  }
  return out;
}

bool is_plain_path_byte(char c) {
  return is_alnum(c) || one_of(c, "-_.~$&+,/:;=@");
}

std::string escape_path(std::string_view path) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  for (const char c : path) {
    if (is_plain_path_byte(c)) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += '%';
      out += kHex[byte >> 4U];
      out += kHex[byte & 0xFU];
    }
  }
  return out;
}

bool is_valid_path(std::string_view path) {
  return std::ranges::all_of(path,
                             [](char c) { return is_plain_path_byte(c) || one_of(c, "!'()*[]%"); });
}

// Splits "scheme:" off; false where a colon comes first.
bool take_scheme(std::string_view& rest, std::string& scheme) {
  for (std::size_t i = 0; i < rest.size(); ++i) {
    const char c = rest[i];
    if (is_alpha(c)) continue;
    if (c == ':' && i == 0) return false;
    if (c == ':') {
      scheme = std::string(rest.substr(0, i));
      std::ranges::transform(scheme, scheme.begin(), [](char x) {
        return x >= 'A' && x <= 'Z' ? static_cast<char>(x + 32) : x;
      });
      rest.remove_prefix(i + 1);
      return true;
    }
    if (i == 0 || (!is_alnum(c) && !one_of(c, "+-."))) return true;
  }
  return true;
}

bool is_port(std::string_view port) {
  if (port.empty()) return true;
  return port[0] == ':' &&
         std::ranges::all_of(port.substr(1), [](char c) { return c >= '0' && c <= '9'; });
}

bool read_host(std::string_view host, Url& url) {
  std::string why;
  if (host.starts_with('[')) {
    const std::size_t end = host.rfind(']');
    if (end == std::string_view::npos || !is_port(host.substr(end + 1))) return false;
    const std::string_view address = host.substr(1, end - 1);
    const bool plain = address.find(':') != std::string_view::npos;
    if (!plain || (!parse_ip(address, why) && why.find("parse error") != std::string::npos)) {
      return false;
    }
    url.host = std::string(host);
    return true;
  }
  const std::size_t colon = host.find(':');
  if (colon != std::string_view::npos && !is_port(host.substr(colon))) return false;
  std::optional<std::string> read = unescape(host, Part::kHost);
  if (read) url.host = *std::move(read);
  return read.has_value();
}

bool read_authority(std::string_view authority, Url& url) {
  const std::size_t at = authority.rfind('@');
  if (at == std::string_view::npos) return read_host(authority, url);
  const std::string_view user = authority.substr(0, at);
  const bool valid = std::ranges::all_of(
      user, [](char c) { return is_alnum(c) || one_of(c, "-._:~!$&'()*+,;=%@"); });
  if (!valid || !unescape(user, Part::kUser)) return false;
  url.user = std::string(user);
  return read_host(authority.substr(at + 1), url);
}

bool read_path(std::string_view path, Url& url) {
  const std::optional<std::string> plain = unescape(path, Part::kPath);
  if (!plain) return false;
  url.escaped_path = is_valid_path(path) || path == "*" ? std::string(path) : escape_path(*plain);
  return true;
}

bool has_control_byte(std::string_view text) {
  return std::ranges::any_of(text, [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) == 0x7F;
  });
}

std::optional<Url> parse(std::string_view rest, bool is_request, std::string& why) {
  Url url;
  why = "invalid URL";
  if (has_control_byte(rest) || (rest.empty() && is_request)) return std::nullopt;
  if (rest == "*") {
    url.escaped_path = "*";
    return url;
  }
  if (!take_scheme(rest, url.scheme)) return std::nullopt;
  if (const std::size_t mark = rest.find('?'); mark != std::string_view::npos) {
    url.query = std::string(rest.substr(mark + 1));
    rest = rest.substr(0, mark);
  }
  if (!rest.starts_with('/')) {
    if (!url.scheme.empty()) {
      url.is_opaque = true;
      url.escaped_path = std::string(rest);
      return url;
    }
    why = "invalid URI for request";
    const std::string_view segment = rest.substr(0, rest.find('/'));
    if (is_request || segment.find(':') != std::string_view::npos) return std::nullopt;
  }
  const bool may_have_host = !url.scheme.empty() || (!is_request && !rest.starts_with("///"));
  if (may_have_host && rest.starts_with("//")) {
    rest.remove_prefix(2);
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    if (!read_authority(rest.substr(0, slash), url)) return std::nullopt;
    rest.remove_prefix(slash);
  }
  if (!read_path(rest, url)) return std::nullopt;
  return url;
}

}  // namespace

std::string Url::text() const {
  std::string out = scheme.empty() ? "" : scheme + ":";
  if (is_opaque) return out + escaped_path + (query.empty() ? "" : "?" + query);
  if (!scheme.empty() || !host.empty() || !user.empty()) {
    if (!host.empty() || !user.empty() || escaped_path.starts_with("//")) out += "//";
    if (!user.empty()) out += user + "@";
    out += host;
  }
  out += escaped_path;
  if (!query.empty()) out += "?" + query;
  return fragment.empty() ? out : out + "#" + fragment;
}

std::optional<Url> parse_request_url(std::string_view text, std::string& why) {
  return parse(text, true, why);
}

std::optional<Url> parse_url(std::string_view text, std::string& why) {
  const std::size_t hash = text.find('#');
  std::optional<Url> url = parse(text.substr(0, hash), false, why);
  if (!url || hash == std::string_view::npos) return url;
  if (!unescape(text.substr(hash + 1), Part::kPath)) return std::nullopt;
  url->fragment = std::string(text.substr(hash + 1));
  return url;
}

std::vector<std::pair<std::string, std::vector<std::string>>> parse_query(std::string_view query) {
  std::vector<std::pair<std::string, std::vector<std::string>>> all;
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    if (pair.empty() || pair.find(';') != std::string_view::npos) continue;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    const std::optional<std::string> key = unescape(pair.substr(0, equals), Part::kQuery);
    const std::optional<std::string> value =
        unescape(pair.substr(std::min(equals + 1, pair.size())), Part::kQuery);
    if (!key || !value) continue;
    auto found = std::ranges::find_if(all, [&](const auto& entry) { return entry.first == *key; });
    if (found == all.end()) found = all.insert(all.end(), {*key, {}});
    found->second.push_back(*value);
  }
  return all;
}

}  // namespace gang::cel
