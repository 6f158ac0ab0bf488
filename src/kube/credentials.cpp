#include "kube/credentials.h"

#include <cstdlib>
#include <utility>

#include "gang/base/file.h"
#include "gang/base/log.h"

namespace gang::kube {
namespace {

constexpr Duration kTokenAgeMax = std::chrono::seconds(60);
constexpr Duration kTokenAgeMin = std::chrono::seconds(1);
constexpr std::size_t kTokenBytesMax = 64U << 10U;
constexpr std::size_t kCaBytesMax = 1U << 20U;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

std::string trimmed(std::string text) {
  constexpr const char* kBlank = " \t\r\n";
  text.erase(text.find_last_not_of(kBlank) + 1);
  text.erase(0, text.find_first_not_of(kBlank));
  return text;
}

/// A token becomes a header line: anything but visible ASCII would break it or smuggle another.
bool is_header_safe(const std::string& token) {
  for (const char c : token) {
    if (c <= ' ' || c > '~') return false;
  }
  return true;
}

}  // namespace

Result<Secret> read_token(const std::string& path) {
  GANG_TRY(std::string text, read_file(path, kTokenBytesMax));
  text = trimmed(std::move(text));
  if (text.empty())
    return fail(Code::kUnauthenticated,
                "token file " + path + " is empty; write the token into it");
  if (!is_header_safe(text)) {
    return fail(
        Code::kUnauthenticated,
        "token file " + path + " holds characters that no bearer token has; write the token alone");
  }
  return Secret(std::move(text));
}

InClusterPaths in_cluster_paths() {
  InClusterPaths paths;
  paths.host = environment("KUBERNETES_SERVICE_HOST");
  paths.port = environment("KUBERNETES_SERVICE_PORT");
  return paths;
}

Result<Credentials> load_in_cluster(const InClusterPaths& paths) {
  if (paths.host.empty() || paths.port.empty()) {
    return fail(Code::kInvalidArgument,
                "no kubeconfig was given and this is no pod: KUBERNETES_SERVICE_HOST and "
                "KUBERNETES_SERVICE_PORT are not set; pass --kubeconfig FILE");
  }
  Credentials credentials;
  credentials.server = "https://" + paths.host + ":" + paths.port;
  if (paths.host.find(':') != std::string::npos) {
    // The transport cannot connect to IPv6 literals; the service's DNS name resolves to the same.
    credentials.server = "https://kubernetes.default.svc:" + paths.port;
  }
  credentials.token_file = paths.directory + "/token";
  credentials.origin = {
      .server = "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT of the pod",
      .authority = "file " + paths.directory + "/ca.crt",
      .tls_server_name = "tls-server-name of a kubeconfig",
      .identity = "token file " + credentials.token_file + " of the pod's service account"};
  GANG_TRY(credentials.ca_pem, read_file(paths.directory + "/ca.crt", kCaBytesMax));
  GANG_TRY(credentials.token, read_token(credentials.token_file));
  GANG_TRY(std::string name_space, read_file(paths.directory + "/namespace", 1024));
  credentials.name_space = trimmed(std::move(name_space));
  return credentials;
}

TokenSource::TokenSource(Secret fixed, std::string file, const Clock& clock)
    : file_(std::move(file)), clock_(clock), token_(std::move(fixed)) {}

Secret TokenSource::current() {
  MutexLock lock(mutex_);
  if (!looked_at_ || clock_.monotonic() - *looked_at_ >= kTokenAgeMax) reload();
  return token_;
}

void TokenSource::refuse() {
  MutexLock lock(mutex_);
  if (!looked_at_ || clock_.monotonic() - *looked_at_ >= kTokenAgeMin) reload();
}

void TokenSource::reload() {
  if (file_.empty()) return;
  looked_at_ = clock_.monotonic();
  Result<Secret> token = read_token(file_);
  if (token) {
    token_ = *std::move(token);
  } else {
    log::warn("bearer token kept: its file could not be read",
              {{"file", file_}, {"error", token.error().message}});
  }
}

}  // namespace gang::kube
