#include "gang/base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <system_error>

namespace gang {

namespace {

/// Closes what it holds. Not copied.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int number() const { return number_; }

 private:
  const int number_;
};

tl::unexpected<Error> cannot_be_read(const std::string& path, int error) {
  Code code = Code::kUnavailable;
  if (error == ENOENT || error == ENOTDIR) code = Code::kNotFound;
  if (error == EACCES || error == EPERM) code = Code::kPermissionDenied;
  return fail(code, path + ": cannot be read: " + std::generic_category().message(error) +
                        "; check the path and its rights");
}

/// Whether another descriptor of this process is that pipe or terminal.
bool is_given_open(const struct stat& wanted, int own) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", ignored)) {
    const std::string name = entry.path().filename().string();
    int number = -1;
    std::from_chars(name.data(), name.data() + name.size(), number);
    struct stat status {};
    if (number == own || fstat(number, &status) != 0) continue;
    if (status.st_dev == wanted.st_dev && status.st_ino == wanted.st_ino) return true;
  }
  return false;
}

Result<void> check_kind(const std::string& path, const struct stat& status, int own) {
  if (S_ISREG(status.st_mode)) return {};
  if (S_ISDIR(status.st_mode)) {
    return fail(Code::kInvalidArgument, path + ": is a directory; name a file in it");
  }
  const bool has_end = S_ISFIFO(status.st_mode) || isatty(own) == 1;
  if (has_end && is_given_open(status, own)) return {};
  const char* what = S_ISFIFO(status.st_mode) ? "is a named pipe" : "is no regular file";
  return fail(Code::kInvalidArgument,
              path + ": " + what + "; name a regular file, or /dev/stdin and give the text there");
}

std::string text_of_size(std::size_t bytes) {
  const bool is_whole = bytes % (1U << 20U) == 0;
  return is_whole ? std::to_string(bytes >> 20U) + " MiB" : std::to_string(bytes) + " bytes";
}

Result<std::string> read_whole(const std::string& path, int file, std::size_t bytes_max) {
  std::string text;
  std::array<char, 64U << 10U> piece{};
  while (true) {
    const ssize_t count = read(file, piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return cannot_be_read(path, errno);
    if (count == 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(count));
    if (text.size() > bytes_max) {
      return fail(Code::kResourceExhausted,
                  path + ": larger than " + text_of_size(bytes_max) + "; name the right file");
    }
  }
}

}  // namespace

Result<std::string> read_file(const std::string& path, std::size_t bytes_max) {
  // A named pipe that nobody writes would block in open().
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  const bool is_open = file.number() >= 0 && fstat(file.number(), &status) == 0;
  if (!is_open) return cannot_be_read(path, errno);
  GANG_TRY_VOID(check_kind(path, status, file.number()));
  const int flags = fcntl(file.number(), F_GETFL);
  if (fcntl(file.number(), F_SETFL, flags & ~O_NONBLOCK) != 0) return cannot_be_read(path, errno);
  return read_whole(path, file.number(), bytes_max);
}

}  // namespace gang
