#include "kube/chunk_queue.h"

#include <gtest/gtest.h>

#include <thread>

namespace gang::kube {
namespace {

constexpr Duration kNow{0};
constexpr Duration kLong = std::chrono::seconds(20);

TEST(ChunkQueue, AsksToPauseAboveItsLimitAndToResumeBelowHalf) {
  ChunkQueue queue(10);
  EXPECT_EQ(queue.push(std::string(10, 'a')), Flow::kMore);
  EXPECT_EQ(queue.push(std::string(4, 'b')), Flow::kPause);
  EXPECT_TRUE(queue.pop(kNow).resume);
  EXPECT_FALSE(queue.pop(kNow).resume);
}

TEST(ChunkQueue, KeepsOrderAcrossHeadBodyAndEnd) {
  ChunkQueue queue(10);
  queue.push(HttpHead{.status = 200});
  queue.push(std::string("body"));
  queue.push(HttpEnd{HttpEndKind::kComplete, ""});
  EXPECT_TRUE(std::holds_alternative<HttpHead>(*queue.pop(kNow).heard));
  EXPECT_EQ(std::get<std::string>(*queue.pop(kNow).heard), "body");
  EXPECT_TRUE(std::holds_alternative<HttpEnd>(*queue.pop(kNow).heard));
  EXPECT_FALSE(queue.pop(kNow).heard);
}

TEST(ChunkQueue, WakesASleepingReaderForAPieceAndForWake) {
  ChunkQueue queue(10);
  std::thread writer([&queue] { queue.push(std::string("x")); });
  EXPECT_TRUE(queue.pop(kLong).heard);
  writer.join();
  queue.wake();
  EXPECT_FALSE(queue.pop(kLong).heard);
}

}  // namespace
}  // namespace gang::kube
