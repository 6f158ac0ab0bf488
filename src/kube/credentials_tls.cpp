#include "kube/credentials_tls.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include <utility>
#include <vector>

namespace gang::kube {
namespace {

/// Frees OpenSSL's objects.
struct OpensslFree {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(X509_STORE* store) const { X509_STORE_free(store); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
template <class T>
using Owned = std::unique_ptr<T, OpensslFree>;

Owned<BIO> memory_bio(const std::string& text) {
  return Owned<BIO>(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

std::vector<Owned<X509>> parse_certificates(const std::string& pem) {
  std::vector<Owned<X509>> out;
  const Owned<BIO> bio = memory_bio(pem);
  while (X509* certificate = PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)) {
    out.emplace_back(certificate);
  }
  ERR_clear_error();
  return out;
}

/// An encrypted key has no one to ask for its password.
int no_password(char*, int, int, void*) {
  return -1;
}

/// Why the last certificate was refused on this thread. Empty: it was of another name.
std::string& refusal() {
  thread_local std::string text;
  return text;
}

/// OpenSSL's own verification, remembering why it refuses. The library's check of the name runs
/// inside it and leaves no error of its own.
int verify(X509_STORE_CTX* store, void*) {
  const int verified = X509_verify_cert(store);
  if (verified > 0) return verified;
  const int error = X509_STORE_CTX_get_error(store);
  const bool is_unnamed = error == X509_V_OK || error == X509_V_ERR_UNSPECIFIED;
  refusal() = is_unnamed ? "" : X509_verify_cert_error_string(error);
  return verified;
}

}  // namespace

/// What is set on connections.
struct TlsMaterial::Parts {
  Owned<X509_STORE> trusted;
  std::vector<Owned<X509>> chain;  ///< client certificate first; may be empty
  Owned<EVP_PKEY> key;
};

TlsMaterial::TlsMaterial(std::unique_ptr<const Parts> parts) : parts_(std::move(parts)) {}
TlsMaterial::~TlsMaterial() = default;

Result<std::shared_ptr<const TlsMaterial>> TlsMaterial::parse(const Credentials& credentials) {
  auto parts = std::make_unique<Parts>();
  parts->trusted.reset(X509_STORE_new());
  const auto authorities = parse_certificates(credentials.ca_pem);
  const CredentialOrigin& origin = credentials.origin;
  if (authorities.empty()) {
    return fail(Code::kInvalidArgument, origin.authority +
                                            " holds no PEM certificate; give the one that has "
                                            "signed the API server's certificate");
  }
  for (const auto& authority : authorities)
    X509_STORE_add_cert(parts->trusted.get(), authority.get());
  if (!credentials.client_cert_pem.empty()) {
    parts->chain = parse_certificates(credentials.client_cert_pem);
    const Owned<BIO> bio = memory_bio(credentials.client_key_pem.reveal());
    parts->key.reset(PEM_read_bio_PrivateKey(bio.get(), nullptr, no_password, nullptr));
    ERR_clear_error();
    if (parts->chain.empty()) {
      return fail(Code::kInvalidArgument,
                  origin.identity + ": client-certificate holds no PEM certificate; give one");
    }
    if (!parts->key || X509_check_private_key(parts->chain.front().get(), parts->key.get()) != 1) {
      ERR_clear_error();
      return fail(Code::kInvalidArgument,
                  origin.identity +
                      ": client-key is no PEM key without a password, or does not belong to "
                      "client-certificate; give the key of that certificate");
    }
  }
  return std::shared_ptr<const TlsMaterial>(new TlsMaterial(std::move(parts)));
}

void TlsMaterial::set_on(ssl_ctx_st* context) const {
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set1_cert_store(context, parts_->trusted.get());
  SSL_CTX_set_cert_verify_callback(context, verify, nullptr);
  if (parts_->chain.empty()) return;
  SSL_CTX_use_certificate(context, parts_->chain.front().get());
  for (std::size_t i = 1; i < parts_->chain.size(); ++i) {
    SSL_CTX_add1_chain_cert(context, parts_->chain[i].get());
  }
  SSL_CTX_use_PrivateKey(context, parts_->key.get());
}

HandshakeFailure handshake_failure(int code) {
  const auto packed = static_cast<unsigned long>(code);
  const int reason = ERR_GET_REASON(packed);
  if (ERR_GET_LIB(packed) != ERR_LIB_SSL || reason == SSL_R_UNEXPECTED_EOF_WHILE_READING) {
    return {HttpFault::kHandshake, "the server has closed the connection"};
  }
  if (reason == SSL_R_CERTIFICATE_VERIFY_FAILED) {
    if (refusal().empty()) return {HttpFault::kServerName, "the certificate is of another name"};
    return {HttpFault::kCertificate, refusal()};
  }
  if (reason == SSL_R_WRONG_VERSION_NUMBER || reason == SSL_R_HTTP_REQUEST) {
    return {HttpFault::kNoTls, "the server does not speak TLS on this port"};
  }
  const char* text = ERR_reason_error_string(packed);
  return {HttpFault::kHandshake, text == nullptr ? "no reason is known" : text};
}

}  // namespace gang::kube
