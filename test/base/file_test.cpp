#include "gang/base/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

namespace gang {
namespace {

/// A folder of its own for each test.
class ReadFile : public testing::Test {
 protected:
  ReadFile() {
    std::string name = testing::TempDir() + "read-file-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  std::string write(const std::string& text) {
    const std::string path = folder_ + "/file";
    std::ofstream(path) << text;
    return path;
  }
  static std::string refusal(const std::string& path, Code code) {
    const auto text = read_file(path, 8);
    if (text) return "none";
    EXPECT_EQ(text.error().code, code) << text.error().message;
    return text.error().message;
  }

  std::string folder_;
};

TEST_F(ReadFile, GivesTheBytes) {
  EXPECT_EQ(read_file(write(""), 8), "");
  EXPECT_EQ(read_file(write(std::string("a\0b\n", 4)), 8), std::string("a\0b\n", 4));
}

TEST_F(ReadFile, RefusesMoreThanTheLimit) {
  EXPECT_TRUE(read_file(write("12345678"), 8));
  const std::string path = write("123456789");
  EXPECT_EQ(refusal(path, Code::kResourceExhausted),
            path + ": larger than 8 bytes; name the right file");
  const auto large = read_file(write(std::string((1U << 20U) + 1, 'x')), 1U << 20U);
  EXPECT_EQ(large.error().message, path + ": larger than 1 MiB; name the right file");
}

TEST_F(ReadFile, SaysWhatTheSystemSays) {
  const std::string path = folder_ + "/nothing";
  EXPECT_EQ(refusal(path, Code::kNotFound),
            path + ": cannot be read: No such file or directory; check the path and its rights");
  EXPECT_EQ(refusal("/proc/self/mem", Code::kUnavailable),
            "/proc/self/mem: cannot be read: Input/output error; check the path and its rights");
}

TEST_F(ReadFile, RefusesWhatIsNoRegularFile) {
  EXPECT_EQ(refusal(folder_, Code::kInvalidArgument),
            folder_ + ": is a directory; name a file in it");
  const std::string pipe = folder_ + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(refusal(pipe, Code::kInvalidArgument),
            pipe + ": is a named pipe; name a regular file, or /dev/stdin and give the text there");
  EXPECT_EQ(refusal("/dev/zero", Code::kInvalidArgument),
            "/dev/zero: is no regular file; name a regular file, or /dev/stdin and give the text "
            "there");
}

TEST_F(ReadFile, ReadsAPipeThatTheProcessHasOpen) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(::write(ends[1], "text", 4), 4);
  close(ends[1]);
  EXPECT_EQ(read_file("/dev/fd/" + std::to_string(ends[0]), 8), "text");
  close(ends[0]);
}

}  // namespace
}  // namespace gang
