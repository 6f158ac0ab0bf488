#include "gang/base/result.h"

#include <gtest/gtest.h>

#include <set>

namespace gang {
namespace {

Result<int> half(int value) {
  if (value % 2 != 0) return fail(Code::kInvalidArgument, "odd");
  return value / 2;
}

Result<int> quarter(int value) {
  GANG_TRY(const int once, half(value));
  GANG_TRY(const int twice, half(once));
  return twice;
}

Result<void> check_even(int value) {
  GANG_TRY_VOID(half(value));
  return {};
}

TEST(Result, TryStoresTheValueOrReturnsTheError) {
  EXPECT_EQ(quarter(12), 3);
  EXPECT_EQ(quarter(6).error(), (Error{Code::kInvalidArgument, "odd"}));
  EXPECT_TRUE(check_even(2));
  EXPECT_FALSE(check_even(3));
}

TEST(Result, ContextStandsBeforeTheMessageAndKeepsTheCode) {
  const Result<int> failed = in_context("pod ns/a", half(1).error());
  EXPECT_EQ(failed.error(), (Error{Code::kInvalidArgument, "pod ns/a: odd"}));
}

TEST(Result, EveryCodeHasANameOfItsOwn) {
  std::set<std::string> names;
  for (int i = 0; i <= static_cast<int>(Code::kInternal); ++i) {
    names.insert(code_name(static_cast<Code>(i)));
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(Code::kInternal) + 1);
  EXPECT_STREQ(code_name(Code::kUnknownOutcome), "unknown_outcome");
}

}  // namespace
}  // namespace gang
