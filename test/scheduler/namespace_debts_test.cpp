#include "scheduler/namespace_debts.h"

#include <gtest/gtest.h>

#include <set>

#include "support/builders.h"

namespace gang::scheduler {
namespace {

using std::chrono::microseconds;
using std::chrono::seconds;
using test::at_second;
using Names = std::vector<std::string>;

constexpr std::int64_t kCredit = 30'000'000;
constexpr std::int64_t kFree = kCredit / NamespaceDebts::kFreeParts;
constexpr std::int64_t kDear = 20'000'000 + kFree;

TEST(NamespaceDebts, OrdinaryAttemptsAreFree) {
  NamespaceDebts debts(kCredit);
  for (int i = 0; i < 10'000; ++i) EXPECT_EQ(debts.charge("a", kFree).owed, 0);
  EXPECT_EQ(debts.debt("a"), 0);
  EXPECT_EQ(debts.charge("a", kFree + 1).owed, 1);
}

TEST(NamespaceDebts, WhoOwesMoreThanItsCreditIsBehind) {
  NamespaceDebts debts(kCredit);
  EXPECT_FALSE(debts.charge("a", kDear).falls_behind);
  EXPECT_FALSE(debts.is_behind("a"));
  EXPECT_TRUE(debts.charge("a", kDear).falls_behind);
  EXPECT_TRUE(debts.is_behind("a"));
  EXPECT_FALSE(debts.is_behind("b"));
}

TEST(NamespaceDebts, TimePays) {
  NamespaceDebts debts(kCredit);
  EXPECT_EQ(debts.pay(at_second(100)), Names());
  static_cast<void>(debts.charge("a", kDear));
  static_cast<void>(debts.charge("a", kDear));
  EXPECT_EQ(debts.pay(at_second(102)), Names());
  EXPECT_EQ(debts.pay(at_second(103)), Names{"a"});
  EXPECT_FALSE(debts.is_behind("a"));
  EXPECT_EQ(debts.debt("a"), 28'000'000);
  EXPECT_EQ(debts.pay(at_second(110)), Names());
  EXPECT_EQ(debts.debt("a"), 0);
}

TEST(NamespaceDebts, FallsBehindAnewOnlyOnceAllIsPaid) {
  NamespaceDebts debts(kCredit);
  EXPECT_TRUE(debts.charge("a", 2 * kCredit).falls_behind);
  static_cast<void>(debts.pay(at_second(1)));
  EXPECT_FALSE(debts.charge("a", 2 * kCredit).falls_behind);
  static_cast<void>(debts.pay(at_second(100)));
  EXPECT_TRUE(debts.charge("a", 2 * kCredit).falls_behind);
}

TEST(NamespaceDebts, IdleTimeIsNotHeldAgainstAnybody) {
  NamespaceDebts debts(kCredit);
  for (int i = 0; i < 1'000; ++i) static_cast<void>(debts.charge("a", kDear));
  EXPECT_LE(debts.debt("a"), kCredit + kDear);
}

TEST(NamespaceDebts, TimeBeforeADebtPaysNothing) {
  NamespaceDebts debts(kCredit);
  static_cast<void>(debts.pay(at_second(1'000)));
  static_cast<void>(debts.charge("a", kDear));
  EXPECT_EQ(debts.pay(at_second(1'000)), Names());
  EXPECT_EQ(debts.debt("a"), 20'000'000);
}

TEST(NamespaceDebts, ManySmallSpansPayAsOne) {
  NamespaceDebts debts(kCredit);
  TimePoint now = at_second(0);
  static_cast<void>(debts.pay(now));
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g"}) {
    static_cast<void>(debts.charge(name, kDear));
  }
  for (int i = 0; i < 1'000; ++i) static_cast<void>(debts.pay(now += microseconds(1)));
  EXPECT_EQ(20'000'000 - debts.debt("a"), 4'000 / 7);
}

/// However many namespaces are behind, what they get while others wait is the part that is paid,
/// and each gets as much of it as the others.
TEST(NamespaceDebts, ManyNamespacesShareWhatOneWouldGet) {
  for (const int count : {1, 40}) {
    NamespaceDebts debts(kCredit);
    std::map<std::string, int> turns;
    for (int i = 0; i < count; ++i) {
      static_cast<void>(debts.charge("n" + std::to_string(i), kCredit + kDear));
    }
    for (int second = 0; second < 4'000; ++second) {
      for (const std::string& name : debts.pay(at_second(second))) {
        ++turns[name];
        static_cast<void>(debts.charge(name, kDear));
      }
    }
    int total = 0;
    for (const auto& [name, turn_count] : turns) {
      total += turn_count;
      EXPECT_NEAR(turn_count, 800 / count, 2) << name;
    }
    EXPECT_NEAR(total, 800, 2 * count);
    EXPECT_EQ(turns.size(), static_cast<std::size_t>(count));
  }
}

}  // namespace
}  // namespace gang::scheduler
