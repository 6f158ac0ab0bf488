#include "gang/cel/program.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace gang::cel {
namespace {

api::Quantity quantity(std::string_view text) {
  return *api::Quantity::parse(text);
}

Device device() {
  DeviceSource source{.driver = "dra.example.com", .allow_multiple_allocations = true};
  source.attributes = {{"model", std::string("A100")},
                       {"index", std::int64_t{5}},
                       {"ready", true},
                       {"version", Version{"1.2.3"}},
                       {"other.com/models", std::vector<std::string>{"x", "y"}},
                       {"ints", std::vector<std::int64_t>{1, 2, 3}}};
  source.capacity = {{"memory", quantity("40Gi")}, {"other.com/n", quantity("3")}};
  return Device(source);
}

struct Row {
  const char* name;
  const char* expression;
  const char* answer;  // "true", "false", or a part of the error
  std::uint64_t cost;  // as Kubernetes 1.37.2 counts it
};

class Selector : public testing::TestWithParam<Row> {};

TEST_P(Selector, AnswersAndCostsAsUpstream) {
  const auto program = Program::compile(GetParam().expression);
  ASSERT_TRUE(program.has_value()) << program.error().message;
  Scratch scratch;
  const Match match = program->matches(device(), scratch);
  const std::string answer = !match.selected   ? match.selected.error().message
                             : *match.selected ? "true"
                                               : "false";
  EXPECT_NE(answer.find(GetParam().answer), std::string::npos) << answer;
  EXPECT_EQ(match.cost, GetParam().cost);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, Selector,
    testing::Values(
        Row{"Driver", "device.driver == 'x'", "false", 3},
        Row{"BareBool", "device.attributes['dra.example.com'].ready", "true", 4},
        Row{"NoSuchKey", "device.attributes['dra.example.com'].x",
            "no such key: x. consider using CEL optional chaining", 4},
        Row{"NotABool", "device.attributes['dra.example.com'].index",
            "CEL result of type int could not be converted to bool", 4},
        Row{"Capacity",
            "device.capacity['dra.example.com'].memory.compareTo(quantity('40Gi')) >= 0", "true",
            7},
        Row{"UnhashableMember", "device.attributes['dra.example.com'].version in ['1.0.0']",
            "hash of unhashable type", 4},
        Row{"ConstantMembership", "b'a' in [b'a']", "true", 1},
        Row{"IntAmongDoubles", "dyn(3) in [5.0, 3.0]", "true", 0},
        Row{"DoubleAmongUints", "dyn(2.0) in [1u, 2u]", "true", 0},
        Row{"IntAmongFractions", "dyn(1) in [1.5]", "false", 0},
        Row{"WidthOfScientific", "'%.15e'.format([1.5]) == '  1.500000\u00d710\u2070\u2070'",
            "true", 3},
        Row{"InfinityIsPadded", "'%.3e'.format([double('Infinity')]) == '  \u221e'", "true", 2},
        Row{"ZeroHasNoSign", "'%.1f'.format([-0.0]) == '0.0'", "true", 2},
        Row{"EmptyMajor", "dyn(semver('.1.2'))", "parsing \"\": invalid syntax", 2},
        Row{"QuantityWithoutDigits", "isQuantity('-.') && isQuantity('Ki') && !isQuantity('')",
            "true", 3},
        Row{"Includes", "[1, 2, 3].includes(2)", "true", 3},
        Row{"DeviceEqualsItself", "device == device", "true", 3},
        Row{"GrowingAlias", "cel.bind(x, [], (x + [1]).size() + x.size() == 2)", "true", 7},
        Row{"TypeOfConstant", "type(1) == int", "true", 1},
        Row{"DoubledKey", "{'a': 1, 'a': 2}['a'] == 2", "true", 3}),
    [](const auto& row) { return row.param.name; });

struct BadRow {
  const char* name;
  const char* expression;
  const char* text;
};

class BadSelector : public testing::TestWithParam<BadRow> {};

TEST_P(BadSelector, IsRefusedWithThePlace) {
  const auto program = Program::compile(GetParam().expression);
  ASSERT_FALSE(program.has_value());
  EXPECT_NE(program.error().message.find(GetParam().text), std::string::npos)
      << program.error().message;
}

INSTANTIATE_TEST_SUITE_P(
    Rows, BadSelector,
    testing::Values(
        BadRow{"Syntax", "1 == 1 ||", "compilation failed: ERROR: <input>:1:10: Syntax error"},
        BadRow{"Field", "device.x", "undefined field 'x'"},
        BadRow{"Name", "foo == 1", "undeclared reference to 'foo' (in container '')"},
        BadRow{"Overload", "1 in [1.0]",
               "found no matching overload for '@in' applied to '(int, list(double))'"},
        BadRow{"MixedList", "[1, 'a'] == []", "1:5: expected type 'int' but found 'string'"},
        BadRow{"Regex", "'abc'.matches('(')", "1:15: invalid matches argument"},
        BadRow{"FoundRegex", "'abc'.find('(') == 'a'", "program instantiation failed: "},
        BadRow{"Conversion", "int('abc') == 1",
               "program instantiation failed: type conversion error from 'string' to 'int'"},
        BadRow{"Format", "'%d'.format(['a']) == 'a'",
               "decimal clause can only be used on integers, was given string"},
        BadRow{"NotBool", "'a'", "must evaluate to bool or the unknown type, not string"}),
    [](const auto& row) { return row.param.name; });

TEST(CelProgram, ForeseesTheCostAsUpstream) {
  const auto estimate = [](const char* expression) {
    return Program::compile(expression)->cost_estimate();
  };
  EXPECT_EQ(estimate("device.driver == 'x'"), 3U);
  EXPECT_EQ(estimate("device.attributes['dra.example.com'].x"), 4U);
  EXPECT_EQ(estimate("dyn(device.attributes.map(k, k))"), 430U);
  EXPECT_EQ(estimate("type(1) == int"), 1844674407370955266U);
}

std::string text_of(std::monostate /*none*/) {
  return "none";
}
std::string text_of(bool value) {
  return value ? "bool true" : "bool false";
}
std::string text_of(std::int64_t value) {
  return "int " + std::to_string(value);
}
std::string text_of(const std::string& value) {
  return "string " + value;
}
std::string text_of(const Version& value) {
  return "version " + value.text;
}
template <class T>
std::string text_of(const std::vector<T>& values) {
  std::string text = "list of";
  for (const T& value : values) text += " " + text_of(value);
  return text;
}

/// The value that the expression derives: "int 5", "list of string a"; or the error.
std::string derived(const char* expression) {
  const auto program = Program::compile(expression, {.purpose = Purpose::kDerivedAttribute});
  if (!program) return program.error().message;
  Scratch scratch;
  const Result<AttributeValue> value = program->derive(device(), scratch);
  if (!value) return value.error().message;
  return std::visit([](const auto& held) { return text_of(held); }, *value);
}

TEST(DerivedAttribute, IsTheValueOfTheExpression) {
  const std::pair<const char*, const char*> rows[] = {
      {"device.driver == 'x'", "bool false"},
      {"device.attributes['dra.example.com'].index", "int 5"},
      {"device.attributes['dra.example.com'].model.lowerAscii()", "string a100"},
      {"semver('1.2', true)", "version 1.2.0"},
      {"semver('1.0.0-a.1+b')", "version 1.0.0-a.1+b"},
      {"device.attributes['other.com'].models", "list of string x string y"},
      {"device.attributes['dra.example.com'].ints.map(x, x * 2)", "list of int 2 int 4 int 6"},
      {"[true, device.allowMultipleAllocations]", "list of bool true bool true"},
      {"[semver('1.0.0')]", "list of version 1.0.0"},
      {"[]", "list of"},
      {"dyn(optional.of(1))", "int 1"},
      {"dyn(type(1))", "string int"},
  };
  for (const auto& [expression, value] : rows) EXPECT_EQ(derived(expression), value) << expression;
}

TEST(DerivedAttribute, WhatNoAttributeCanHaveIsAnError) {
  const std::string types =
      "must evaluate to a primitive scalar (string, integer, boolean, semver) or a list of these "
      "scalars, not ";
  const std::pair<const char*, std::string> rows[] = {
      {"1.5", types + "double"},
      {"[1.5]", types + "list(double)"},
      {"device.capacity['dra.example.com'].memory", types + "kubernetes.Quantity"},
      {"dyn(1.5)", "unsupported CEL return type: double"},
      {"dyn(optional.none())", "unsupported CEL return type: optional_type"},
      {"dyn([1.5])", "unsupported list element type: double"},
      {"[dyn(1), dyn('a')]", "expected list element at index 1 to be int, got string"},
      {"device.attributes['dra.example.com'].nothing", "no such key: nothing"},
  };
  for (const auto& [expression, why] : rows) EXPECT_EQ(derived(expression), why) << expression;
}

TEST(CelDevice, OneBadAttributeFailsEverySelector) {
  DeviceSource source{.driver = "d"};
  source.attributes = {{"v", Version{"1.2"}}};
  const auto program = Program::compile("true");
  Scratch scratch;
  const Match match = program->matches(Device(source), scratch);
  ASSERT_FALSE(match.selected.has_value());
  EXPECT_EQ(match.selected.error().message,
            "attribute v: parse semantic version: No Major.Minor.Patch elements found");
}

TEST(CelDevice, TheQualifiedNameWins) {
  DeviceSource source{.driver = "d"};
  source.attributes = {{"a", std::int64_t{1}}, {"d/a", std::int64_t{2}}};
  const auto program = Program::compile("device.attributes['d'].a == 2");
  Scratch scratch;
  EXPECT_TRUE(program->matches(Device(source), scratch).selected.value_or(false));
}

}  // namespace
}  // namespace gang::cel
