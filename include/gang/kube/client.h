// Client: the port through which everything but list and watch reaches the API server.
//
// Two implementations: HttpClient over cpprestsdk and sim::SimCluster in memory. Every call is
// asynchronous: it returns at once and `done` is called exactly once, from a thread of the
// implementation (the simulator: from its event loop); `done` must not block. No call retries a
// write by itself; reads are retried by the caller too. The request time-out is also sent to the
// server. Rules of answers: the commit protocol, chapters 5.3 and 8.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "gang/api/json.h"
#include "gang/base/result.h"

namespace gang::kube {

/// What is known about a request after it ended.
enum class Outcome {
  kOk,            ///< 2xx
  kNotSent,       ///< failed before the first byte: may be sent again
  kUnknown,       ///< time-out, reset, 500, 502, 503, 504: read until definite
  kConflict,      ///< 409
  kNotFound,      ///< 404
  kInvalid,       ///< 400, 405, 406, 413, 415, 422, and redirects
  kUnauthorized,  ///< 401
  kForbidden,     ///< 403
  kThrottled,     ///< 429: not executed
};

/// Stable lower-case name for logs and metrics ("conflict", "not_found", ...).
[[nodiscard]] const char* outcome_name(Outcome outcome);

/// The end of one request.
struct Answer {
  Outcome outcome = Outcome::kUnknown;
  int http_status = 0;                  ///< 0 when there was no answer
  std::string message;                  ///< Status message or transport error, for people
  std::string reason;                   ///< of the Status: "Conflict", "Timeout"; may be empty
  std::optional<Duration> retry_after;  ///< from header or body
  [[nodiscard]] bool ok() const { return outcome == Outcome::kOk; }
};

using Done = std::function<void(const Answer&)>;
using PodDone = std::function<void(const Answer&, std::optional<api::Pod>)>;
using PodGroupDone = std::function<void(const Answer&, std::optional<api::PodGroup>)>;

/// A DELETE of one pod with preconditions and the pod's own grace period.
struct PodDelete {
  api::ObjectKey pod;
  api::Uid uid;
  api::ResourceVersion resource_version;  ///< empty = only the uid is a precondition
};

/// Owned by the shell, outlives the binder. Methods may be called from any one thread at a time.
class Client {
 public:
  virtual ~Client() = default;

  virtual void bind(const api::Binding& binding, Done done) = 0;
  /// As bind(), but nothing is stored (dryRun=All): what the server would answer.
  virtual void try_bind(const api::Binding& binding, Done done) = 0;
  virtual void patch_pod_status(const api::PodStatusPatch& patch, Done done) = 0;
  virtual void patch_pod_group_status(const api::PodGroupStatusPatch& patch, Done done) = 0;
  virtual void delete_pod(const PodDelete& request, Done done) = 0;
  virtual void create_event(const api::Event& event, Done done) = 0;
  /// Quorum read: resourceVersion unset.
  virtual void get_pod(const api::ObjectKey& pod, PodDone done) = 0;
  virtual void get_pod_group(const api::ObjectKey& group, PodGroupDone done) = 0;
};

/// How to reach and convince an API server.
struct Connection;

/// Settings of the HTTP client and the informers.
struct ClientOptions {
  std::string kubeconfig_path;  ///< empty = in-cluster credentials
  Duration request_timeout = std::chrono::seconds(5);
  Duration watch_idle_limit = std::chrono::seconds(150);
  Duration unserved_interval = std::chrono::seconds(60);  ///< between looks for an absent kind
  std::string user_agent = "gang-scheduler";
};

/// Loads credentials (kubeconfig or in-cluster), checks them and the probe of Binding preconditions
/// is left to the caller. Fails with one clear error on bad input; does not contact the server.
[[nodiscard]] Result<std::shared_ptr<const Connection>> connect(const ClientOptions& options);

/// As connect(), without keeping anything: reads the credentials and every file they name, and
/// checks them. False where there are none to check: no kubeconfig is named and this is no pod.
[[nodiscard]] Result<bool> check_credentials(const ClientOptions& options);

/// What is wrong with the connection and was told in the log: "API server https://host:port cannot
/// be reached: ..."; empty = nothing. Any thread.
[[nodiscard]] std::string connection_trouble(const Connection& connection);

/// Namespace of the kubeconfig's context or of the pod; may be empty.
[[nodiscard]] std::string default_namespace(const Connection& connection);

/// A Client over HTTPS. REQUIRES: connection from connect().
[[nodiscard]] std::unique_ptr<Client> make_http_client(
    std::shared_ptr<const Connection> connection);

/// Must run before any other use of this part and before threads start: one transport thread, no
/// system trust store, no proxy from the environment.
void initialize_transport();

/// Cancels what is in flight and waits until every callback has run.
void shutdown_transport();

}  // namespace gang::kube
