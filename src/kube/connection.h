// Connection: one API server with its credentials and its transport, shared by client and
// informers.
#pragma once

#include <memory>
#include <string>

#include "gang/base/clock.h"
#include "gang/kube/client.h"
#include "kube/credentials.h"
#include "kube/reachability.h"

namespace gang::kube {

/// Made by connect(), shared by everything that talks to the server, constant except for the token.
///
/// Any thread. The last owner must not be a callback of the transport (see Http). Always: `http` is
/// destroyed before the `tokens` it reads.
struct Connection {
  ClientOptions options;
  std::string name_space;
  SystemClock clock;
  std::unique_ptr<TokenSource> tokens;
  std::unique_ptr<ReachabilityHttp> http;
};

/// Where credentials should be, when there are none; else empty.
[[nodiscard]] std::string missing_credentials(const Credentials& credentials);

}  // namespace gang::kube
