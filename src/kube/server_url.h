// ServerUrl: the address of an API server, checked. Pure.
#pragma once

#include <string>

#include "gang/base/result.h"

namespace gang::kube {

/// The parts of a server's address that requests need.
struct ServerUrl {
  std::string base;    ///< "https://host:port", as it was given
  std::string host;    ///< name or IPv4 address
  std::string port;    ///< the scheme's own when none is given
  std::string prefix;  ///< path before every target; may be empty
  bool is_tls = true;
};

/// Accepts https, and plain http for loopback only. Refuses IPv6 literals (the transport cannot
/// connect to them), users, queries and fragments.
[[nodiscard]] Result<ServerUrl> parse_server_url(const std::string& text);

}  // namespace gang::kube
