// HttpConnection: one client of the HTTP server, from its first byte to the close. Never blocks.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "gang/base/time.h"

namespace gang::app {

/// Why the head of a request was not read to its end.
enum class HeadProblem { kNone, kTooSlow, kLineTooLong, kTooLong };

/// What came of a request's head.
struct RequestHead {
  std::string_view line;  ///< "GET /livez HTTP/1.1"; a part of it where there is a problem
  HeadProblem problem = HeadProblem::kNone;
};

/// Makes the whole answer to a request.
using Answerer = std::function<std::string(const RequestHead& head)>;

/// Owns its socket. Reads a head, writes the answer, waits for the client to close; each of the
/// three within its own time. A client that has sent a part of a head in time, or too much of it,
/// is told so. One thread.
class HttpConnection {
 public:
  HttpConnection(int socket, Duration now) : socket_(socket), deadline_(now + kReadMax) {}
  ~HttpConnection();
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  [[nodiscard]] int socket() const { return socket_; }
  [[nodiscard]] bool wants_to_write() const { return state_ == State::kWriting; }
  [[nodiscard]] Duration deadline() const { return deadline_; }
  /// Goes on as far as the socket lets it. False when the connection is over.
  [[nodiscard]] bool proceed(Duration now, const Answerer& answerer);

  static constexpr Duration kReadMax = std::chrono::milliseconds(1500);
  static constexpr Duration kWriteMax = std::chrono::seconds(5);
  static constexpr Duration kCloseMax = std::chrono::seconds(1);
  static constexpr std::size_t kHeadBytesMax = 8192;

 private:
  enum class State { kReading, kWriting, kClosing };

  bool read_head(Duration now, const Answerer& answerer);
  void begin_answer(Duration now, const Answerer& answerer, HeadProblem problem);
  bool write_answer(Duration now);
  bool wait_for_close();

  const int socket_;
  Duration deadline_;
  State state_ = State::kReading;
  std::string head_;
  std::string answer_;
  std::size_t written_ = 0;
};

}  // namespace gang::app
