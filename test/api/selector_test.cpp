#include "gang/api/selector.h"

#include <gtest/gtest.h>

#include <vector>

namespace gang::api {
namespace {

constexpr auto kOff = TolerationComparison::kOff;
constexpr auto kOn = TolerationComparison::kOn;

NodeSelectorTerm expression(std::string key, std::string op, std::vector<std::string> values = {}) {
  return {{{std::move(key), std::move(op), std::move(values)}}, {}};
}

NodeSelectorTerm field(std::string key, std::string op, std::vector<std::string> values) {
  return {{}, {{std::move(key), std::move(op), std::move(values)}}};
}

bool matches_labels(const NodeSelectorTerm& term, const StringMap& labels) {
  return matches(term, NodeFacts{"n1", labels});
}

TEST(NodeSelector, EveryOperatorOnALabelThatIsThereAndOneThatIsNot) {
  const StringMap labels = {{"count", "8"}, {"zone", "a"}};
  struct Row {
    NodeSelectorTerm term;
    bool matches;
  };
  const std::vector<Row> rows = {
      {expression("zone", "In", {"a", "b"}), true}, {expression("zone", "In", {"b"}), false},
      {expression("rack", "In", {"a"}), false},     {expression("zone", "NotIn", {"a"}), false},
      {expression("zone", "NotIn", {"b"}), true},   {expression("rack", "NotIn", {"a"}), true},
      {expression("zone", "Exists"), true},         {expression("rack", "Exists"), false},
      {expression("zone", "DoesNotExist"), false},  {expression("rack", "DoesNotExist"), true},
      {expression("count", "Gt", {"7"}), true},     {expression("count", "Gt", {"8"}), false},
      {expression("count", "Lt", {"8"}), false},    {expression("count", "Lt", {"9"}), true},
      {expression("count", "Gt", {"007"}), true},   {expression("rack", "Gt", {"1"}), false},
      {expression("rack", "Lt", {"1"}), false},     {expression("zone", "Gt", {"1"}), false},
  };
  for (const Row& row : rows) {
    const NodeSelectorRequirement& r = row.term.expressions[0];
    EXPECT_EQ(matches_labels(row.term, labels), row.matches) << r.key << " " << r.op;
    EXPECT_EQ(term_problem(row.term), "") << r.key << " " << r.op;
  }
}

TEST(NodeSelector, AMalformedTermNeverMatchesAndSaysWhy) {
  const StringMap labels = {{"count", "8"}, {"zone", "a"}};
  struct Row {
    NodeSelectorTerm term;
    std::string problem;
  };
  const std::string name63(63, 'x');
  const std::vector<Row> rows = {
      {{}, ""},
      {expression("zone", "in", {"a"}),
       "matchExpressions \"zone\" in: the operator is none of In, NotIn, Exists, DoesNotExist, Gt, "
       "Lt"},
      {expression("zone", "In"),
       "matchExpressions \"zone\" In: In and NotIn need at least one value"},
      {expression("rack", "NotIn"),
       "matchExpressions \"rack\" NotIn: In and NotIn need at least one value"},
      {expression("zone", "Exists", {"a"}),
       "matchExpressions \"zone\" Exists: Exists and DoesNotExist take no values"},
      {expression("count", "Gt", {"1", "2"}),
       "matchExpressions \"count\" Gt: Gt and Lt need exactly one integer"},
      {expression("count", "Lt", {"9.5"}),
       "matchExpressions \"count\" Lt: Gt and Lt need exactly one integer"},
      {expression("count", "Gt", {"-1"}),
       "matchExpressions \"count\" Gt: a value is not a label value"},
      {expression("count", "Gt", {"9223372036854775808"}),
       "matchExpressions \"count\" Gt: Gt and Lt need exactly one integer"},
      {expression("", "DoesNotExist"),
       "matchExpressions \"\" DoesNotExist: the key is not a label key"},
      {expression("a b", "DoesNotExist"),
       "matchExpressions \"a b\" DoesNotExist: the key is not a label key"},
      {expression("Example.com/x", "DoesNotExist"),
       "matchExpressions \"Example.com/x\" DoesNotExist: the key is not a label key"},
      {expression("rack", "NotIn", {"-a"}),
       "matchExpressions \"rack\" NotIn: a value is not a label value"},
      {expression("rack", "NotIn", {name63 + "x"}),
       "matchExpressions \"rack\" NotIn: a value is not a label value"},
      {field("metadata.uid", "In", {"n1"}),
       "matchFields \"metadata.uid\" In: the only field is metadata.name"},
      {field("metadata.name", "Exists", {}),
       "matchFields \"metadata.name\" Exists: a field takes In or NotIn"},
      {field("metadata.name", "NotIn", {"a", "b"}),
       "matchFields \"metadata.name\" NotIn: a field takes exactly one value"},
      {field("metadata.name", "In", {}),
       "matchFields \"metadata.name\" In: a field takes exactly one value"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(term_problem(row.term), row.problem);
    EXPECT_FALSE(matches_labels(row.term, labels)) << row.problem;
  }
}

TEST(NodeSelector, KeysAndValuesUpToTheirLimitsAreWellFormed) {
  const std::string name63(63, 'x');
  for (const std::string& key : {std::string("a"), name63, "nvidia.com/" + name63,
                                 std::string("A_b.C-9"), std::string("a.b-c.d/E")}) {
    EXPECT_EQ(term_problem(expression(key, "Exists")), "") << key;
  }
  for (const std::string& key :
       {name63 + "x", std::string("a/"), std::string("/a"), std::string("a..b/c"),
        std::string("-a/b"), std::string("a-/b"), std::string("a.-b/c"), std::string("a/b/c"),
        std::string("a-"), std::string(254, 'a') + "/b"}) {
    EXPECT_NE(term_problem(expression(key, "Exists")), "") << key;
  }
  EXPECT_EQ(term_problem(expression("a", "In", {"", name63})), "");
}

TEST(NodeSelector, LabelsAreReadAsGoReadsIntegers) {
  const NodeSelectorTerm above = expression("count", "Gt", {"5"});
  for (const std::string value : {"6", "+6", "006", "9223372036854775807"}) {
    EXPECT_TRUE(matches_labels(above, {{"count", value}})) << value;
  }
  for (const std::string value : {"-6", "+-6", "6.0", "0x6", "", "9223372036854775808"}) {
    EXPECT_FALSE(matches_labels(above, {{"count", value}})) << value;
  }
  EXPECT_TRUE(matches_labels(expression("count", "Lt", {"5"}), {{"count", "-6"}}));
}

TEST(NodeSelector, PartsOfATermAreAllNeededAndTermsAreAlternatives) {
  const StringMap labels = {{"zone", "a"}};
  NodeSelectorTerm both = expression("zone", "In", {"a"});
  both.fields = field("metadata.name", "In", {"n1"}).fields;
  EXPECT_TRUE(matches(both, NodeFacts{"n1", labels}));
  EXPECT_FALSE(matches(both, NodeFacts{"n2", labels}));
  EXPECT_TRUE(matches(field("metadata.name", "NotIn", {"n1"}), NodeFacts{"n2", labels}));
  EXPECT_TRUE(matches(NodeSelector{{expression("zone", "in"), both}}, NodeFacts{"n1", labels}));
  EXPECT_FALSE(matches(NodeSelector{}, NodeFacts{"n1", labels}));
}

TEST(NodeSelector, B193NumbersAreIntegersAndAnEmptyTermMatchesNothing) {
  const StringMap n1 = {{"mem", "200"}};
  const StringMap n2 = {{"mem", "150.1"}};
  const StringMap n3 = {{"mem", "abc"}};
  const NodeSelector a{{expression("mem", "Gt", {"150"})}};
  const NodeSelector b{{field("metadata.name", "In", {"n3"}), expression("mem", "Lt", {"160"})}};
  const NodeSelector c{{NodeSelectorTerm{}}};
  const NodeSelector d{{expression("mem", "Gt", {"150.1"})}};
  const auto on = [&](const NodeSelector& selector) {
    return std::vector<bool>{matches(selector, NodeFacts{"n1", n1}),
                             matches(selector, NodeFacts{"n2", n2}),
                             matches(selector, NodeFacts{"n3", n3})};
  };
  EXPECT_EQ(on(a), (std::vector<bool>{true, false, false}));
  EXPECT_EQ(on(b), (std::vector<bool>{false, false, true}));
  EXPECT_EQ(on(c), (std::vector<bool>{false, false, false}));
  EXPECT_EQ(on(d), (std::vector<bool>{false, false, false}));
}

TEST(LabelSelector, EmptySelectsEverythingAndRequirementsAreAnded) {
  const StringMap labels = {{"app", "db"}, {"tier", "1"}};
  EXPECT_TRUE(matches(LabelSelector{}, labels));
  EXPECT_TRUE(matches(LabelSelector{}, {}));
  EXPECT_TRUE(matches(LabelSelector{{{"app", "In", {"db"}}, {"x", "DoesNotExist", {}}}}, labels));
  EXPECT_FALSE(matches(LabelSelector{{{"app", "In", {"db"}}, {"x", "Exists", {}}}}, labels));
  EXPECT_TRUE(matches(LabelSelector{{{"x", "NotIn", {"db"}}}}, labels));
}

TEST(LabelSelector, HasNoNumericOperators) {
  EXPECT_FALSE(matches(LabelSelector{{{"tier", "Gt", {"0"}}}}, {{"tier", "1"}}));
  EXPECT_FALSE(matches(LabelSelector{{{"tier", "Lt", {"2"}}}}, {{"tier", "1"}}));
}

TEST(Toleration, KeyValueAndEffectMustFit) {
  const Taint taint{"gpu", "yes", TaintEffect::kNoSchedule};
  struct Row {
    Toleration toleration;
    bool tolerates;
  };
  const std::vector<Row> rows = {
      {{"gpu", "", "yes", "NoSchedule"}, true},
      {{"gpu", "Equal", "yes", ""}, true},
      {{"gpu", "Equal", "no", ""}, false},
      {{"gpu", "Exists", "", "NoSchedule"}, true},
      {{"gpu", "Exists", "", "NoExecute"}, false},
      {{"gpu", "Exists", "", "noschedule"}, false},
      {{"", "Exists", "", ""}, true},
      {{"", "", "", ""}, false},
      {{"", "Equal", "yes", ""}, true},
      {{"cpu", "Exists", "", ""}, false},
      {{"gpu", "exists", "", ""}, false},
      {{"gpu", "In", "yes", ""}, false},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(tolerates(row.toleration, taint, kOff), row.tolerates)
        << row.toleration.key << " " << row.toleration.op << " " << row.toleration.effect;
  }
  EXPECT_FALSE(tolerates(std::vector<Toleration>{}, taint, kOff));
  EXPECT_TRUE(tolerates({rows[2].toleration, rows[0].toleration}, taint, kOff));
}

TEST(Toleration, AnUnknownTaintEffectIsToleratedOnlyByAllEffects) {
  const Taint taint{"x", "", TaintEffect::kOther};
  EXPECT_TRUE(tolerates({"x", "Exists", "", ""}, taint, kOff));
  EXPECT_FALSE(tolerates({"x", "Exists", "", "NoSchedule"}, taint, kOff));
}

TEST(Toleration, B189NumericOperatorsCompareCanonicalIntegersOnly) {
  const std::vector<std::string> values = {"950", "800", "high", "0950"};
  const Toleration above{"node.example.com/sla", "Gt", "900", ""};
  const Toleration below{"node.example.com/sla", "Lt", "900", ""};
  const auto tolerated = [&](const Toleration& toleration, TolerationComparison comparison) {
    std::vector<bool> result;
    for (const std::string& value : values) {
      const Taint taint{"node.example.com/sla", value, TaintEffect::kNoSchedule};
      result.push_back(tolerates(toleration, taint, comparison));
    }
    return result;
  };
  EXPECT_EQ(tolerated(above, kOn), (std::vector<bool>{true, false, false, false}));
  EXPECT_EQ(tolerated(below, kOn), (std::vector<bool>{false, true, false, false}));
  EXPECT_EQ(tolerated(above, kOff), std::vector<bool>(4, false));
  EXPECT_EQ(tolerated(below, kOff), std::vector<bool>(4, false));
}

TEST(Toleration, CanonicalIntegersHaveOneSpelling) {
  const auto above = [](std::string value, std::string limit) {
    return tolerates(Toleration{"k", "Gt", std::move(limit), ""},
                     Taint{"k", std::move(value), TaintEffect::kNoSchedule}, kOn);
  };
  EXPECT_TRUE(above("0", "-1"));
  EXPECT_TRUE(above("9223372036854775807", "0"));
  for (const std::string value : {"+5", "05", "-0", "00", "", "-", "5 ", "9223372036854775808"}) {
    EXPECT_FALSE(above(value, "-5")) << value;
    EXPECT_FALSE(above("5", value)) << value;
  }
}

}  // namespace
}  // namespace gang::api
