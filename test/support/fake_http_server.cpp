#include "support/fake_http_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstring>
#include <optional>

namespace gang::test {
namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::string status_line(int status) {
  return "HTTP/1.1 " + std::to_string(status) + " Fake\r\n";
}

SSL* make_session(const TlsIdentity& identity, int fd) {
  SSL_CTX* context = SSL_CTX_new(TLS_server_method());
  BIO* cert_bio = BIO_new_mem_buf(identity.cert_pem.data(), -1);
  X509* certificate = PEM_read_bio_X509(cert_bio, nullptr, nullptr, nullptr);
  BIO* key_bio = BIO_new_mem_buf(identity.key_pem.data(), -1);
  EVP_PKEY* key = PEM_read_bio_PrivateKey(key_bio, nullptr, nullptr, nullptr);
  SSL_CTX_use_certificate(context, certificate);
  SSL_CTX_use_PrivateKey(context, key);
  SSL* session = SSL_new(context);
  SSL_set_fd(session, fd);
  EVP_PKEY_free(key);
  X509_free(certificate);
  BIO_free(key_bio);
  BIO_free(cert_bio);
  SSL_CTX_free(context);
  return session;
}

}  // namespace

/// One accepted socket. Its thread reads and writes; the server may shut it down.
class FakeConnection {
 public:
  FakeConnection(int fd, const TlsIdentity* identity) : fd_(fd), identity_(identity) {}
  ~FakeConnection() {
    if (session_ != nullptr) SSL_free(session_);
    ::close(fd_);
  }
  FakeConnection(const FakeConnection&) = delete;
  FakeConnection& operator=(const FakeConnection&) = delete;

  bool handshake() {
    if (identity_ == nullptr) return true;
    session_ = make_session(*identity_, fd_);
    return SSL_accept(session_) == 1;
  }

  /// Reads more into the buffer; false at the end.
  bool fill() {
    char bytes[4096];
    const int count = session_ != nullptr ? SSL_read(session_, bytes, sizeof bytes)
                                          : static_cast<int>(recv(fd_, bytes, sizeof bytes, 0));
    if (count <= 0) return false;
    buffer_.append(bytes, static_cast<std::size_t>(count));
    return true;
  }

  void write(std::string_view bytes) {
    while (!bytes.empty()) {
      const int count = session_ != nullptr
                            ? SSL_write(session_, bytes.data(), static_cast<int>(bytes.size()))
                            : static_cast<int>(send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL));
      if (count <= 0) {
        open_ = false;
        return;
      }
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
  }

  void reset() {
    const linger hard{1, 0};
    setsockopt(fd_, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    // Connecting to "nowhere" dissolves the association: the peer sees RST at once.
    sockaddr address{};
    address.sa_family = AF_UNSPEC;
    ::connect(fd_, &address, sizeof address);
    open_ = false;
  }

  void cut() {
    shutdown(fd_, SHUT_RDWR);
    open_ = false;
  }

  [[nodiscard]] bool open() const { return open_; }
  [[nodiscard]] std::string& buffer() { return buffer_; }

 private:
  const int fd_;
  const TlsIdentity* const identity_;
  SSL* session_ = nullptr;
  std::atomic<bool> open_{true};
  std::string buffer_;
};

namespace {

std::optional<FakeRequest> read_request(FakeConnection& connection) {
  std::string& buffer = connection.buffer();
  std::size_t head_end = 0;
  while ((head_end = buffer.find("\r\n\r\n")) == std::string::npos) {
    if (!connection.fill()) return std::nullopt;
  }
  FakeRequest request;
  std::size_t at = buffer.find("\r\n");
  const std::string first = buffer.substr(0, at);
  const std::size_t space = first.find(' ');
  request.method = first.substr(0, space);
  const std::string target = first.substr(space + 1, first.rfind(' ') - space - 1);
  const std::size_t mark = target.find('?');
  request.path = target.substr(0, mark);
  if (mark != std::string::npos) request.query = target.substr(mark + 1);
  while (at < head_end) {
    const std::size_t next = buffer.find("\r\n", at + 2);
    const std::string line = buffer.substr(at + 2, next - at - 2);
    const std::size_t colon = line.find(':');
    if (colon != std::string::npos) {
      const std::size_t value = std::min(line.find_first_not_of(' ', colon + 1), line.size());
      request.headers[lower(line.substr(0, colon))] = line.substr(value);
    }
    at = next;
  }
  const std::string& length = request.headers["content-length"];
  const std::size_t size = length.empty() ? 0 : std::stoul(length);
  while (buffer.size() < head_end + 4 + size) {
    if (!connection.fill()) return std::nullopt;
  }
  request.body = buffer.substr(head_end + 4, size);
  buffer.erase(0, head_end + 4 + size);
  return request;
}

}  // namespace

// --- FakeResponder -----------------------------------------------------------------------------

void FakeResponder::answer(int status, std::string_view content_type, std::string_view body,
                           std::string_view headers) {
  raw(status_line(status) + "Content-Type: " + std::string(content_type) + "\r\nContent-Length: " +
      std::to_string(body.size()) + "\r\n" + std::string(headers) + "\r\n" + std::string(body));
}

void FakeResponder::begin(int status, std::string_view content_type) {
  raw(status_line(status) + "Content-Type: " + std::string(content_type) +
      "\r\nTransfer-Encoding: chunked\r\n\r\n");
}

void FakeResponder::chunk(std::string_view bytes) {
  if (bytes.empty()) return;
  char size[32];
  std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
  raw(size + std::string(bytes) + "\r\n");
}

void FakeResponder::end() {
  raw("0\r\n\r\n");
}
void FakeResponder::raw(std::string_view bytes) {
  connection_.write(bytes);
}
void FakeResponder::reset() {
  connection_.reset();
}
void FakeResponder::close() {
  connection_.cut();
}

void FakeResponder::hang() {
  while (!stopping_ && connection_.fill()) {
  }
  connection_.cut();
}

// --- FakeHttpServer ----------------------------------------------------------------------------

FakeHttpServer::FakeHttpServer(const TlsIdentity* identity) : identity_(identity) {
  std::signal(SIGPIPE, SIG_IGN);
  listener_ = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  const bool listens = bind(listener_, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                       listen(listener_, 64) == 0;
  getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
  port_ = listens ? ntohs(address.sin_port) : 0;
  acceptor_ = std::thread([this] { accept_loop(); });
}

FakeHttpServer::~FakeHttpServer() {
  stopping_ = true;
  shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  ::close(listener_);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& connection : connections_) connection->cut();
  }
  for (std::thread& thread : threads_) thread.join();
}

std::string FakeHttpServer::url() const {
  return (identity_ != nullptr ? "https://127.0.0.1:" : "http://127.0.0.1:") +
         std::to_string(port_);
}

void FakeHttpServer::on(const std::string& path, FakeHandler handler) {
  const std::lock_guard<std::mutex> lock(mutex_);
  handlers_[path].push_back(std::move(handler));
}

std::vector<FakeRequest> FakeHttpServer::requests() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return requests_;
}

bool FakeHttpServer::wait_for_requests(std::size_t count) const {
  std::unique_lock<std::mutex> lock(mutex_);
  return changed_.wait_for(lock, kPatience, [&] { return requests_.size() >= count; });
}

void FakeHttpServer::accept_loop() {
  while (!stopping_) {
    const int fd = accept(listener_, nullptr, nullptr);
    if (fd < 0) return;
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    const std::lock_guard<std::mutex> lock(mutex_);
    connections_.push_back(std::make_unique<FakeConnection>(fd, identity_));
    FakeConnection& connection = *connections_.back();
    threads_.emplace_back([this, &connection] { serve(connection); });
  }
}

void FakeHttpServer::serve(FakeConnection& connection) {
  if (!connection.handshake()) {
    connection.cut();
    return;
  }
  while (!stopping_ && connection.open()) {
    const std::optional<FakeRequest> request = read_request(connection);
    request_bytes_ += connection.buffer().size();
    if (!request) break;
    request_bytes_ += request->target().size();
    FakeResponder responder(connection, stopping_);
    take_handler (*request)(*request, responder);
  }
  connection.cut();
}

FakeHandler FakeHttpServer::take_handler(const FakeRequest& request) {
  FakeHandler handler = [](const FakeRequest&, FakeResponder& responder) {
    responder.answer(404, "text/plain", "404 page not found\n");
  };
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    requests_.push_back(request);
    const auto found = handlers_.find(request.path);
    if (found != handlers_.end()) {
      handler = found->second.front();
      if (found->second.size() > 1) found->second.pop_front();
    }
  }
  changed_.notify_all();
  return handler;
}

}  // namespace gang::test
