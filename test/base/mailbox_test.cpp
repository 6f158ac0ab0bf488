#include "gang/base/mailbox.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace gang {
namespace {

constexpr Duration kNoWait{0};

TEST(Mailbox, GivesMessagesInOrderUpToTheLimit) {
  Mailbox<int> box(8);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(box.post(i));
  std::vector<int> taken;
  EXPECT_TRUE(box.take(taken, 3, std::nullopt));
  EXPECT_EQ(taken, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(box.size(), 2u);
  EXPECT_TRUE(box.take(taken, 3, std::nullopt));
  EXPECT_EQ(taken, (std::vector<int>{3, 4}));
}

TEST(Mailbox, TakeReturnsEmptyHandedAfterItsTimeout) {
  Mailbox<int> box(1);
  std::vector<int> taken{7};
  EXPECT_TRUE(box.take(taken, 1, kNoWait));
  EXPECT_TRUE(taken.empty());
}

TEST(Mailbox, CloseDrainsWhatIsLeftAndThenEnds) {
  Mailbox<int> box(4);
  EXPECT_TRUE(box.post(1));
  EXPECT_TRUE(box.post(2));
  box.close();
  EXPECT_FALSE(box.post(3));
  EXPECT_FALSE(box.post_unbounded(3));
  std::vector<int> taken;
  EXPECT_TRUE(box.take(taken, 1, std::nullopt));
  EXPECT_EQ(taken, std::vector<int>{1});
  EXPECT_TRUE(box.take(taken, 1, std::nullopt));
  EXPECT_EQ(taken, std::vector<int>{2});
  EXPECT_FALSE(box.take(taken, 1, std::nullopt));
  EXPECT_TRUE(taken.empty());
}

TEST(Mailbox, TheConsumerMayPostToItselfWhenFull) {
  Mailbox<int> box(1);
  EXPECT_TRUE(box.post(1));
  EXPECT_TRUE(box.post_unbounded(2));
  EXPECT_EQ(box.size(), 2u);
}

TEST(Mailbox, AFullMailboxHoldsItsProducerUntilThereIsRoom) {
  Mailbox<int> box(1);
  EXPECT_TRUE(box.post(0));
  std::atomic<bool> second_posted{false};
  std::thread producer([&] {
    EXPECT_TRUE(box.post(1));
    second_posted = true;
  });
  EXPECT_EQ(box.size(), 1u);
  EXPECT_FALSE(second_posted);
  std::vector<int> taken;
  EXPECT_TRUE(box.take(taken, 1, std::nullopt));
  EXPECT_TRUE(box.take(taken, 1, std::nullopt));
  EXPECT_EQ(taken, std::vector<int>{1});
  producer.join();
  EXPECT_TRUE(second_posted);
}

TEST(Mailbox, CloseFreesAWaitingProducerAndAWaitingConsumer) {
  Mailbox<int> full(1);
  EXPECT_TRUE(full.post(0));
  std::thread producer([&] { EXPECT_FALSE(full.post(1)); });
  Mailbox<int> empty(1);
  std::thread consumer([&] {
    std::vector<int> taken;
    EXPECT_FALSE(empty.take(taken, 1, std::nullopt));
  });
  full.close();
  empty.close();
  producer.join();
  consumer.join();
}

TEST(Mailbox, NoMessageOfManyProducersIsLostOrTurnedRound) {
  struct Message {
    int producer;
    int number;
  };
  constexpr int kProducers = 4;
  constexpr int kEach = 5'000;
  Mailbox<Message> box(16);
  std::vector<std::thread> producers;
  for (int p = 0; p < kProducers; ++p) {
    producers.emplace_back([&box, p] {
      for (int n = 0; n < kEach; ++n) EXPECT_TRUE(box.post({p, n}));
    });
  }
  std::vector<int> next(kProducers, 0);
  std::vector<Message> batch;
  for (int received = 0; received < kProducers * kEach;) {
    ASSERT_TRUE(box.take(batch, 64, std::nullopt));
    EXPECT_LE(batch.size(), 16u);
    for (const Message& message : batch) {
      EXPECT_EQ(message.number, next[static_cast<std::size_t>(message.producer)]++);
    }
    received += static_cast<int>(batch.size());
  }
  for (std::thread& producer : producers) producer.join();
  EXPECT_EQ(box.size(), 0u);
  EXPECT_EQ(next, std::vector<int>(kProducers, kEach));
}

}  // namespace
}  // namespace gang
