#include "cel/lexer.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gang::cel {
namespace {

struct Row {
  const char* name;
  const char* source;
  std::vector<std::string> tokens;
};

class Lexer : public testing::TestWithParam<Row> {};

TEST_P(Lexer, TakesTheLongestToken) {
  std::vector<Issue> issues;
  std::vector<std::string> texts;
  for (const Token& token : tokenize(GetParam().source, issues)) {
    if (token.kind != TokenKind::kEnd) texts.emplace_back(token.text);
  }
  EXPECT_EQ(texts, GetParam().tokens);
  EXPECT_TRUE(issues.empty());
}

INSTANTIATE_TEST_SUITE_P(
    Rows, Lexer,
    testing::Values(Row{"IntThenDot", "1.", {"1", "."}},
                    Row{"FloatWithoutWhole", "a.5", {"a", ".5"}}, Row{"Exponent", "1e3", {"1e3"}},
                    Row{"NoExponentWithoutDigits", "1e", {"1", "e"}},
                    Row{"Unsigned", "0x1Fu", {"0x1Fu"}}, Row{"HexWithoutDigits", "0x", {"0", "x"}},
                    Row{"RawBytes", "br'\\d'", {"br'\\d'"}},
                    Row{"NoRawPrefix", "rb''", {"rb", "''"}},
                    Row{"TripleQuotes", R"("""a"b""" c)", {R"("""a"b""")", "c"}},
                    Row{"EmptyThenOther", R"(""'')", {R"("")", "''"}},
                    Row{"Comment", "a // b\n+ c", {"a", "+", "c"}}, Row{"Keyword", "in", {"in"}},
                    Row{"EscapedName", "a.`b-c`", {"a", ".", "`b-c`"}}),
    [](const auto& row) { return row.param.name; });

class LexerRefuses : public testing::TestWithParam<const char*> {};

TEST_P(LexerRefuses, WhatBeginsNoToken) {
  std::vector<Issue> issues;
  static_cast<void>(tokenize(GetParam(), issues));
  EXPECT_FALSE(issues.empty());
}

INSTANTIATE_TEST_SUITE_P(Rows, LexerRefuses,
                         testing::Values("=", "&", "'a", "\"a\nb\"", "'\\q'", "#", "``", "a ^ b"));

}  // namespace
}  // namespace gang::cel
