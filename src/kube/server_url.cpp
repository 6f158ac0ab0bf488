#include "kube/server_url.h"

#include <algorithm>

namespace gang::kube {
namespace {

bool is_host_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_';
}

bool is_path_character(char c) {
  return is_host_character(c) || c == '/' || c == '~' || c == '%';
}

bool is_port(const std::string& text) {
  const bool digits = std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  return digits && !text.empty() && text.size() <= 5 && std::stoi(text) >= 1 &&
         std::stoi(text) <= 65535;
}

/// Only literal addresses count: what a name resolves to is not ours to decide.
bool is_loopback(const std::string& host) {
  const bool numeric =
      std::ranges::all_of(host, [](char c) { return c == '.' || (c >= '0' && c <= '9'); });
  return host == "localhost" || (numeric && host.starts_with("127."));
}

tl::unexpected<Error> refuse(const std::string& text, const std::string& why) {
  return fail(Code::kInvalidArgument,
              "server " + text + " " + why + "; give the API server as https://host:port");
}

}  // namespace

Result<ServerUrl> parse_server_url(const std::string& text) {
  ServerUrl url;
  const std::size_t scheme_end = text.find("://");
  if (scheme_end == std::string::npos) return refuse(text, "is no URL");
  const std::string scheme = text.substr(0, scheme_end);
  const std::string rest = text.substr(scheme_end + 3);
  const std::string authority = rest.substr(0, rest.find('/'));
  url.prefix = rest.substr(authority.size());
  while (url.prefix.ends_with('/')) url.prefix.pop_back();
  if (authority.starts_with('[')) {
    return refuse(text, "is an IPv6 literal, which cannot be connected to");
  }
  if (authority.find('@') != std::string::npos) return refuse("(with a user)", "names a user");
  const std::size_t colon = authority.find(':');
  const std::string host = authority.substr(0, colon);
  if (host.empty() || !std::ranges::all_of(host, is_host_character)) {
    return refuse(text, "has no usable host");
  }
  if (colon != std::string::npos && !is_port(authority.substr(colon + 1))) {
    return refuse(text, "has no usable port");
  }
  if (!std::ranges::all_of(url.prefix, is_path_character)) {
    return refuse(text, "has a path with unusual characters");
  }
  url.is_tls = scheme == "https";
  if (!url.is_tls && scheme != "http") return refuse(text, "is neither https nor http");
  if (!url.is_tls && !is_loopback(host)) return refuse(text, "would be reached without TLS");
  url.base = scheme + "://" + authority;
  url.host = host;
  url.port = url.is_tls ? "443" : "80";
  if (colon != std::string::npos) url.port = authority.substr(colon + 1);
  return url;
}

}  // namespace gang::kube
