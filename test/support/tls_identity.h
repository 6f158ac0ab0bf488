// TlsIdentity: a self-signed certificate with its key, made when a test needs one.
#pragma once

#include <string>

namespace gang::test {

/// PEM texts. The certificate is its own authority.
struct TlsIdentity {
  std::string cert_pem;
  std::string key_pem;
};

/// `names` as in OpenSSL: "IP:127.0.0.1", "DNS:kubernetes".
[[nodiscard]] TlsIdentity make_tls_identity(const std::string& names);

}  // namespace gang::test
