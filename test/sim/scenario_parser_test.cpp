#include "sim/scenario_parser.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gang::sim {
namespace {

using Names = std::vector<std::string>;

TEST(ScenarioParser, ReadsCommentCommandsAndOutputs) {
  const auto scenario =
      parse_scenario("# why\n# more\nnodes n1\n----\n1 node\n\ncycle\n----\nx\ny\n");
  ASSERT_TRUE(scenario);
  EXPECT_EQ(scenario->comment, Names({"# why", "# more"}));
  ASSERT_EQ(scenario->blocks.size(), 2U);
  EXPECT_EQ(scenario->blocks[0].command, "nodes n1");
  EXPECT_EQ(scenario->blocks[0].line, 3);
  EXPECT_EQ(scenario->blocks[0].expected, Names({"1 node"}));
  EXPECT_EQ(scenario->blocks[1].line, 7);
  EXPECT_EQ(scenario->blocks[1].expected, Names({"x", "y"}));
}

TEST(ScenarioParser, WritesBackWhatItRead) {
  const std::string text = "# why\nnodes n1\n----\n1 node\n\ncycle\n----\n";
  const auto scenario = parse_scenario(text);
  ASSERT_TRUE(scenario);
  EXPECT_EQ(format_scenario(*scenario, {{"1 node"}, {}}), text);
}

TEST(ScenarioParser, ReadsCarriageReturnsAsLineEnds) {
  const auto scenario = parse_scenario("# why\r\ncycle\r\n----\r\nnothing to do\r\n");
  ASSERT_TRUE(scenario);
  EXPECT_EQ(scenario->blocks[0].expected, Names({"nothing to do"}));
}

TEST(ScenarioParser, ReadsOverAByteOrderMarkAndBlanksBehindTheSeparator) {
  const auto scenario = parse_scenario("\xEF\xBB\xBF# why\ncycle\n---- \t\nnothing to do\n");
  ASSERT_TRUE(scenario) << scenario.error().message;
  EXPECT_EQ(format_scenario(*scenario, {{"nothing to do"}}), "# why\ncycle\n----\nnothing to do\n");
  EXPECT_FALSE(parse_scenario("# why\ncycle\n ----\n"));
  EXPECT_FALSE(parse_scenario("# why\ncycle\n-----\n"));
}

TEST(ScenarioParser, RefusesWithTheLineAndTheMend) {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"", "is empty; write a comment that says what it shows, then commands"},
      {"nodes n1\n----\n", "line 1: a scenario starts with a comment"},
      {"# why\n", "the scenario has no command; write one, then \"----\""},
      {"# why\n\nnodes n1\n", "line 3: the command is not followed by a line \"----\"; write one"},
      {"# why\nnodes n1\ncycle\n----\n", "line 2: the command is not followed"},
      {"# why\nnodes n1\n----\n1 node\ncycle\n----\n", "line 6: a second \"----\" in one block"},
      {std::string("# why\n\0\n", 8), "line 2: a control character: this is no text"},
      {"\x7f"
       "ELF\n",
       "line 1: a control character: this is no text"},
  };
  for (const auto& [text, problem] : rows) {
    const auto scenario = parse_scenario(text);
    ASSERT_FALSE(scenario) << text;
    EXPECT_EQ(scenario.error().code, Code::kInvalidArgument);
    EXPECT_NE(scenario.error().message.find(problem), std::string::npos)
        << scenario.error().message;
  }
}

TEST(Command, TakesVerbWordsAndOptionsApart) {
  const auto command = Command::parse("  gang a\tb  pods=4 basic affinity=pool:In:a,b x=1=2");
  ASSERT_TRUE(command);
  EXPECT_EQ(command->verb(), "gang");
  EXPECT_EQ(command->words(), Names({"a", "b", "basic"}));
  ASSERT_EQ(command->options().size(), 3U);
  EXPECT_EQ(*command->option("affinity"), "pool:In:a,b");
  EXPECT_EQ(*command->option("x"), "1=2");
  EXPECT_EQ(command->option("min"), nullptr);
  EXPECT_TRUE(command->has_word("basic"));
  EXPECT_FALSE(command->has_word("gang"));
}

TEST(Command, RefusesAnEmptyLineAndAnEmptyKey) {
  EXPECT_FALSE(Command::parse(" \t"));
  const auto no_key = Command::parse("nodes =4");
  ASSERT_FALSE(no_key);
  EXPECT_EQ(no_key.error().message, "nodes: \"=4\" has no key before the \"=\"; write key=value");
}

TEST(Command, ReadsWholeNumbersOnly) {
  const auto command =
      Command::parse("gang g min=4 pods=4x big=2147483648 most=2147483647 low=-1 empty=");
  ASSERT_TRUE(command);
  const Range any{-1, 2147483647};
  EXPECT_EQ(command->number("min", 1, any), 4);
  EXPECT_EQ(command->number("absent", 7, Range{8, 9}), 7);
  EXPECT_EQ(command->number("low", 1, any), -1);
  EXPECT_EQ(command->number("most", 1, any), 2147483647);
  for (const char* key : {"pods", "big", "empty"}) {
    const auto number = command->number(key, 1, any);
    ASSERT_FALSE(number) << key;
    EXPECT_NE(number.error().message.find(std::string(key) + "="), std::string::npos);
  }
  for (const Range range : {Range{0, 3}, Range{5, 9}}) {
    EXPECT_FALSE(command->number("min", 1, range));
  }
  EXPECT_EQ(command->number("min", 1, Range{5, 9}).error().message,
            "min=4 is not allowed; write a whole number from 5 to 9");
}

TEST(ExpandNames, ExpandsOneRange) {
  EXPECT_EQ(*expand_names("n1"), Names({"n1"}));
  EXPECT_EQ(*expand_names("n[1-3]"), Names({"n1", "n2", "n3"}));
  EXPECT_EQ(*expand_names("n[08-10].x"), Names({"n08.x", "n09.x", "n10.x"}));
  EXPECT_EQ(*expand_names("x/p-[0-1]"), Names({"x/p-0", "x/p-1"}));
  EXPECT_EQ(*expand_names("n[5-5]"), Names({"n5"}));
}

TEST(ExpandNames, RefusesWhatIsNoRange) {
  for (const char* pattern :
       {"n[1-", "n[1]", "n[]", "n[a-b]", "n[3-1]", "n[1-3", "n[-1-3]", "n[1-2][3-4]"}) {
    const auto names = expand_names(pattern);
    ASSERT_FALSE(names) << pattern;
    EXPECT_EQ(names.error().message,
              "\"" + std::string(pattern) + "\" is not a name range; write one like n[1-3]");
  }
}

TEST(ExpandNames, SaysItsLimits) {
  EXPECT_EQ(expand_names("n[0-99999]")->size(), 100'000U);
  EXPECT_EQ(expand_names("n[0-100000]").error().message,
            "\"n[0-100000]\" stands for more than 100000 names, the most; write a smaller range");
  EXPECT_EQ(*expand_names("n[2147483647-2147483647]"), Names({"n2147483647"}));
  EXPECT_EQ(expand_names("n[" + std::string(400, '0') + "-9]").error().message,
            "a name of 405 characters, more than the 253 that are allowed; write a shorter one");
}

TEST(ParseSpan, HasAYearForALimit) {
  EXPECT_EQ(*parse_span("8760h"), std::chrono::hours(8760));
  EXPECT_EQ(parse_span("8761h").error().message,
            "8761h is longer than 8760h, the most; write less");
  EXPECT_FALSE(parse_span("-1s"));
}

}  // namespace
}  // namespace gang::sim
