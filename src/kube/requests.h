// Requests: single requests over a Connection, each ended by one Answer and its body.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "gang/kube/client.h"
#include "kube/connection.h"

namespace gang::kube {

/// Called once with the Answer and the whole body.
using Finish = std::function<void(Answer, std::string_view)>;

/// Hands an object to `done`; a 2xx whose body cannot be decoded is a transport error.
template <class T>
void finish_object(const std::function<void(const Answer&, std::optional<T>)>& done, Answer answer,
                   Result<T> object) {
  if (!answer.ok()) return done(answer, std::nullopt);
  if (!object) {
    answer.outcome = Outcome::kUnknown;
    answer.message = object.error().message;
    return done(answer, std::nullopt);
  }
  done(answer, *std::move(object));
}

/// Owned by a client. Callbacks run on the transport thread and hold no reference to this, so that
/// it may be destroyed while requests are in flight. Does not retry, does not read back.
class Requests {
 public:
  explicit Requests(std::shared_ptr<const Connection> connection);

  /// A write to `path` with the time-out in its query; the media type is that of the method, a
  /// strategic merge for PATCH.
  [[nodiscard]] HttpRequest write(Method method, const std::string& path) const;
  /// `query` goes on after the time-out: "" or "&key=value".
  void get(const std::string& path, Finish finish, const std::string& query = "") const;
  /// The request that get() starts.
  [[nodiscard]] HttpRequest read(const std::string& path, const std::string& query = "") const;
  void start(HttpRequest request, Finish finish) const;
  /// start() for who does not look at the body.
  void send(HttpRequest request, Done done) const;

 private:
  const std::shared_ptr<const Connection> connection_;
  const std::string timeout_query_;
};

}  // namespace gang::kube
