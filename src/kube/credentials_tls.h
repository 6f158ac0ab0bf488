// TlsMaterial: the certificates and the key of one server's credentials, and what a failed
// handshake means. The implementation is the only file that knows OpenSSL.
#pragma once

#include <memory>
#include <string>

#include "gang/base/result.h"
#include "kube/credentials.h"
#include "kube/http.h"

struct ssl_ctx_st;

namespace gang::kube {

/// Parsed once, set on every new connection; reading files each time costs milliseconds.
///
/// Shared by a transport and its connections, constant, any thread. Does not verify host names:
/// the transport's library does.
class TlsMaterial {
 public:
  /// Fails when certificate, key or CA cannot be read, or key and certificate are no pair.
  [[nodiscard]] static Result<std::shared_ptr<const TlsMaterial>> parse(
      const Credentials& credentials);
  ~TlsMaterial();
  TlsMaterial(const TlsMaterial&) = delete;
  TlsMaterial& operator=(const TlsMaterial&) = delete;

  /// Trusts our authority alone from here on, and shows our certificate where there is one.
  void set_on(ssl_ctx_st* context) const;

 private:
  struct Parts;
  explicit TlsMaterial(std::unique_ptr<const Parts> parts);
  const std::unique_ptr<const Parts> parts_;
};

/// Why a handshake failed, in words.
struct HandshakeFailure {
  HttpFault fault = HttpFault::kHandshake;
  std::string why;
};

/// `code` is what the library gives: OpenSSL's, or the system's. REQUIRES: on the thread of the
/// handshake, before the next one fails.
[[nodiscard]] HandshakeFailure handshake_failure(int code);

}  // namespace gang::kube
