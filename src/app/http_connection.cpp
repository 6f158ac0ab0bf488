#include "app/http_connection.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace gang::app {

namespace {

/// Whether the last call only found nothing to do now.
bool is_early() {
  return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

}  // namespace

HttpConnection::~HttpConnection() {
  ::close(socket_);
}

bool HttpConnection::proceed(Duration now, const Answerer& answerer) {
  if (now >= deadline_) {
    if (state_ != State::kReading || head_.empty()) return false;
    begin_answer(now, answerer, HeadProblem::kTooSlow);
  }
  if (state_ == State::kReading && !read_head(now, answerer)) return false;
  if (state_ == State::kWriting && !write_answer(now)) return false;
  return state_ != State::kClosing || wait_for_close();
}

bool HttpConnection::read_head(Duration now, const Answerer& answerer) {
  std::array<char, 2048> piece{};
  while (head_.find("\r\n\r\n") == std::string::npos) {
    if (head_.size() > kHeadBytesMax) {
      const bool has_line = head_.find("\r\n") != std::string::npos;
      begin_answer(now, answerer, has_line ? HeadProblem::kTooLong : HeadProblem::kLineTooLong);
      return true;
    }
    const ssize_t count = ::recv(socket_, piece.data(), piece.size(), 0);
    if (count < 0) return is_early();
    if (count == 0) return false;
    head_.append(piece.data(), static_cast<std::size_t>(count));
  }
  begin_answer(now, answerer, HeadProblem::kNone);
  return true;
}

void HttpConnection::begin_answer(Duration now, const Answerer& answerer, HeadProblem problem) {
  answer_ = answerer({std::string_view(head_).substr(0, head_.find("\r\n")), problem});
  state_ = State::kWriting;
  deadline_ = now + kWriteMax;
}

bool HttpConnection::write_answer(Duration now) {
  while (written_ < answer_.size()) {
    const ssize_t count =
        ::send(socket_, answer_.data() + written_, answer_.size() - written_, MSG_NOSIGNAL);
    if (count < 0) return is_early();
    written_ += static_cast<std::size_t>(count);
  }
  ::shutdown(socket_, SHUT_WR);
  state_ = State::kClosing;
  deadline_ = now + kCloseMax;
  return true;
}

// Bytes that were never read would make the close reset the connection and lose the answer.
bool HttpConnection::wait_for_close() {
  std::array<char, 2048> piece{};
  const ssize_t count = ::recv(socket_, piece.data(), piece.size(), 0);
  return count < 0 ? is_early() : count > 0;
}

}  // namespace gang::app
