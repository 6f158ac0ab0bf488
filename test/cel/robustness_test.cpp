// Nothing in an expression can crash, hang or slow the caller.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "gang/cel/program.h"

namespace gang::cel {
namespace {

Match run(const std::string& expression) {
  const auto program = Program::compile(expression);
  if (!program) return {fail(Code::kInvalidArgument, program.error().message), 0};
  Scratch scratch;
  return program->matches(Device(DeviceSource{.driver = "d"}), scratch);
}

std::string repeated(const std::string& text, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += text;
  return out;
}

bool gave_up(const Match& match) {
  return !match.selected && match.selected.error().code == Code::kResourceExhausted;
}

TEST(CelRobustness, LimitsNesting) {
  EXPECT_TRUE(run(repeated("(", 200) + "true" + repeated(")", 200)).selected.has_value());
  EXPECT_FALSE(run(repeated("(", 251) + "true" + repeated(")", 251)).selected.has_value());
  EXPECT_FALSE(run("0" + repeated("+1", 300) + " > 0").selected.has_value());
  EXPECT_TRUE(run("true" + repeated(" && true", 2000)).selected.has_value());
}

TEST(CelRobustness, LimitsSize) {
  EXPECT_FALSE(run("'" + std::string(100'001, 'a') + "' == ''").selected.has_value());
}

TEST(CelRobustness, LimitsWhatMacrosMultiply) {
  EXPECT_FALSE(
      run("optional.of(1)" + repeated(".optMap(x, x)", 60) + ".hasValue()").selected.has_value());
}

TEST(CelRobustness, LimitsTypes) {
  std::string expression = "cel.bind(a0, {1: 1}, ";
  for (int i = 1; i < 40; ++i) {
    const std::string before = "a" + std::to_string(i - 1);
    expression += "cel.bind(a" + std::to_string(i) + ", {" + before + ": " + before + "}, ";
  }
  EXPECT_FALSE(run(expression + "true" + repeated(")", 40)).selected.has_value());
}

TEST(CelRobustness, GivesUpWhereTheCostIsTooHigh) {
  EXPECT_TRUE(gave_up(run("lists.range(1000).all(x, lists.range(1000).all(y, x + y >= 0))")));
}

TEST(CelRobustness, GivesUpOnDoubledLists) {
  std::string expression = "cel.bind(a0, [1, 2], ";
  for (int i = 1; i < 45; ++i) {
    const std::string before = "a" + std::to_string(i - 1);
    expression += "cel.bind(a" + std::to_string(i) + ", " + before + " + " + before + ", ";
  }
  EXPECT_TRUE(gave_up(run(expression + "a44 == a44" + repeated(")", 45))));
}

TEST(CelRobustness, GivesUpOnTextThatGrows) {
  const std::string text(3000, 'a');
  const std::string grown = "'" + text + "'.replace('a', '" + text + "')";
  EXPECT_TRUE(gave_up(run(grown + ".replace('a', '" + text + "').size() > 0")));
}

// Forty-four numbers, so that a body runs 1,936 times.
std::string often(const std::string& body) {
  std::string numbers = "0";
  for (int i = 1; i < 44; ++i) numbers += "," + std::to_string(i);
  return "[" + numbers + "].all(a, [" + numbers + "].all(b, " + body + "))";
}

std::string message_of(const std::string& expression) {
  const Match match = run(expression);
  return match.selected ? "" : match.selected.error().message;
}

std::uint64_t work_of(const std::string& expression) {
  Scratch scratch;
  const Match match =
      Program::compile(expression)->matches(Device(DeviceSource{.driver = "d"}), scratch);
  EXPECT_TRUE(match.selected.has_value()) << match.selected.error().message;
  return scratch.work();
}

// None of these costs much in upstream's units.
TEST(CelRobustness, GivesUpOnWorkThatHasNoCost) {
  const std::vector<std::string> slow = {
      often("!'x'.matches('y' + string(a) + '(.{0,100}){5}')"),
      often("!'x'.matches('y' + string(a) + '(\\\\pL{10}){10}')"),
      often("!(string(a * 1234567891 + b) + string(b * 7654321987 + "
            "1234567)).matches('(.{0,300}){3}y')"),
      often(often("true" + repeated(" && true", 1000))),
  };
  for (const std::string& expression : slow) {
    EXPECT_TRUE(gave_up(run(expression))) << expression;
  }
}

TEST(CelRobustness, LimitsConstantPatterns) {
  const auto patterns = [](const std::string& function, int count) {
    std::string expression = "true";
    for (int i = 0; i < count; ++i) {
      expression += " || " + function + "'\\\\pL{7}" + std::to_string(i) + "')";
    }
    return expression;
  };
  EXPECT_EQ(message_of(patterns("'x'.matches(", 4)), "");
  EXPECT_NE(message_of(patterns("'x'.matches(", 40)).find("invalid matches argument"),
            std::string::npos);
  EXPECT_EQ(message_of(patterns("'' == 'x'.find(", 40)),
            "program instantiation failed: its patterns are too large");
}

TEST(CelRobustness, WritesEachByteOfALongResultOnce) {
  const std::string text = "'" + std::string(2000, 'a') + "'";
  EXPECT_LT(work_of(often(text + ".replace('a', 'bb').size() > 0")), 20'000'000);
  EXPECT_LT(work_of("[1, 2, 3].all(x, " + text + ".split('a').join('b').size() > 0)"), 50'000);
}

TEST(CelRobustness, CountsStepsWhateverTheyCost) {
  const std::uint64_t one = work_of(often("true"));
  EXPECT_GT(one, 44 * 44);
  EXPECT_GT(work_of(often("true && true && true && true")), one + 3 * 44 * 44);
  EXPECT_GT(work_of(often("'" + std::string(1600, 'a') + "' != ''")), one + 200 * 44 * 44);
  std::uint64_t small = 0;
  std::uint64_t large = 0;
  (void)Program::compile("'x'.matches('[0-9]{3}')", {}, &small);
  (void)Program::compile("'x'.matches('[0-9]{300}')", {}, &large);
  EXPECT_GT(large, small + 5000);
}

// Pieces of the language in any order, and plain bytes.
TEST(CelRobustness, AnyTextCompilesOrIsRefused) {
  const char* pieces[] = {"device", ".",    "driver",   "[",    "]",   "(",      ")",   "{",
                          "}",      "==",   "&",        "&&",   "'a'", "1",      "1u",  "1.5",
                          "in",     "?",    ":",        ",",    "has", "all",    "x",   "+",
                          "-",      "!",    "map",      "\"",   "`",   "null",   "b''", "size",
                          "\n",     "\xff", "cel.bind", "true", "<",   "format", "%",   "optMap"};
  std::minstd_rand random(7);
  for (int round = 0; round < 3000; ++round) {
    std::string expression;
    const int length = static_cast<int>(random() % 14);
    for (int i = 0; i < length; ++i) expression += pieces[random() % std::size(pieces)];
    const Match match = run(expression);
    EXPECT_TRUE(match.selected || !match.selected.error().message.empty());
  }
}

}  // namespace
}  // namespace gang::cel
