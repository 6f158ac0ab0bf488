// AllocationChecker finds what is wrong: each row breaks one thing of an allocation that is right.
#include "engine/allocation_checker.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "gang/api/json.h"
#include "support/builders.h"

namespace gang::engine {
namespace {

constexpr const char* kSlice = R"({"metadata":{"name":"s"},"spec":{"driver":"d","nodeName":"n1",
  "pool":{"name":"p","resourceSliceCount":2},"devices":[
  {"name":"a","attributes":{"root":{"string":"r1"}}},
  {"name":"b","attributes":{"root":{"string":"r2"}}},
  {"name":"sick","taints":[{"key":"k","effect":"NoSchedule"}]},
  {"name":"half","consumesCounters":[{"counterSet":"c","counters":{"m":{"value":"1"}}}]},
  {"name":"whole","consumesCounters":[{"counterSet":"c","counters":{"m":{"value":"2"}}}]},
  {"name":"shared","allowMultipleAllocations":true,
   "capacity":{"m":{"value":"4","requestPolicy":{"default":"1",
     "validRange":{"min":"1","step":"2"}}}}}]}})";
constexpr const char* kCounters = R"({"metadata":{"name":"t"},"spec":{"driver":"d","nodeName":"n1",
  "pool":{"name":"p","resourceSliceCount":2},
  "sharedCounters":[{"name":"c","counters":{"m":{"value":"2"}}}]}})";

class AllocationCheckerTest : public testing::Test {
 protected:
  AllocationCheckerTest() {
    for (const char* text : {kSlice, kCounters}) {
      checker_.add(*api::decode_resource_slice(text));
    }
    api::DeviceClass every;
    every.meta.key.name = "every";
    every.selectors = {{.expression = "device.driver == 'd'"}};
    checker_.add(every);
    checker_.add(test::node("n1").build());
    checker_.add(test::node("n2").build());
  }

  /// A claim for as many devices as it has, all of request r.
  static api::ResourceClaim claim(const std::string& name,
                                  const std::vector<std::string>& devices) {
    api::ResourceClaim made;
    made.meta.key.name = name;
    made.spec.requests = {
        {.name = "r",
         .exactly = api::DeviceAsk{.class_name = "every",
                                   .count = static_cast<std::int64_t>(devices.size())}}};
    made.allocation.emplace();
    for (const std::string& device : devices) {
      made.allocation->results.push_back(
          {.request = "r", .driver = "d", .pool = "p", .device = device});
    }
    api::NodeSelectorTerm here;
    here.fields = {{.key = "metadata.name", .op = "In", .values = {"n1"}}};
    made.allocation->node_selector = {.terms = {here}};
    return made;
  }

  /// The claim after a change of it, judged for n1.
  std::string problem(const std::vector<std::string>& devices,
                      const std::function<void(api::ResourceClaim&)>& change) {
    api::ResourceClaim made = claim("c", devices);
    change(made);
    return checker_.charge(made, "n1");
  }

  AllocationChecker checker_;
};

TEST_F(AllocationCheckerTest, AcceptsWhatIsRight) {
  EXPECT_EQ(problem({"a", "b"}, [](auto&) {}), "");
  EXPECT_EQ(checker_.overuse(), "");
}

TEST_F(AllocationCheckerTest, FindsADeviceThatDoesNotFit) {
  const auto ask = [](api::ResourceClaim& one) -> api::DeviceAsk& {
    return *one.spec.requests[0].exactly;
  };
  EXPECT_EQ(problem({"z"}, [](auto&) {}), "d/p/z: in no pool");
  EXPECT_EQ(problem({"sick"}, [](auto&) {}), "d/p/sick: tainted");
  EXPECT_EQ(problem({"a"}, [&](auto& one) { ask(one).class_name = "none"; }),
            "d/p/a: no class none");
  EXPECT_EQ(problem({"a"}, [&](auto& one) { ask(one).selectors = {{.expression = "false"}}; }),
            "d/p/a: not selected");
  EXPECT_EQ(problem({"a"}, [](auto& one) { one.allocation->node_selector.reset(); }),
            "no node selector");
  EXPECT_EQ(checker_.charge(claim("c", {"a"}), "n2"), "the allocation is not for node n2");
  EXPECT_EQ(problem({"a"}, [](auto& one) { one.allocation->results[0].admin_access = true; }),
            "d/p/a: admin access differs");
}

TEST_F(AllocationCheckerTest, FindsWrongNumbersAndConstraints) {
  EXPECT_EQ(problem({"a", "a"}, [](auto&) {}), "d/p/a twice in request r");
  EXPECT_EQ(problem({"a", "b"}, [](auto& one) { one.spec.requests[0].exactly->count = 3; }),
            "request r has a wrong number of devices");
  const auto constrained = [](api::ConstraintKind kind) {
    return [kind](api::ResourceClaim& one) {
      one.spec.constraints = {{.kind = kind, .attribute = "d/root"}};
    };
  };
  EXPECT_EQ(problem({"a", "b"}, constrained(api::ConstraintKind::kMatch)), "d/root differs");
  EXPECT_EQ(problem({"a", "b"}, constrained(api::ConstraintKind::kDistinct)), "");
  EXPECT_EQ(problem({"a", "half"}, constrained(api::ConstraintKind::kMatch)),
            "d/p/half lacks d/root");
}

TEST_F(AllocationCheckerTest, FindsWhatClaimsTakeTogether) {
  EXPECT_EQ(checker_.charge(claim("one", {"a"}), "n1"), "");
  EXPECT_EQ(checker_.charge(claim("two", {"a"}), "n1"), "");
  EXPECT_EQ(checker_.overuse(), "d/p/a twice");
  checker_.release(claim("two", {"a"}));
  EXPECT_EQ(checker_.overuse(), "");
  EXPECT_EQ(checker_.charge(claim("three", {"half", "whole"}), "n1"), "");
  EXPECT_EQ(checker_.overuse(), "d/p/c/m is overdrawn");
}

TEST_F(AllocationCheckerTest, FindsSharesOfAWrongSize) {
  const auto share = [](const char* amount) {
    return [amount](api::ResourceClaim& one) {
      one.spec.requests[0].exactly->capacity = {{"m", *api::Quantity::parse("2")}};
      one.allocation->results[0].share_id = "s";
      one.allocation->results[0].consumed_capacity = {{"m", *api::Quantity::parse(amount)}};
    };
  };
  EXPECT_EQ(problem({"shared"}, share("2")), "d/p/shared: a wrong amount of m");
  EXPECT_EQ(problem({"shared"}, share("3")), "");
  api::ResourceClaim second = claim("second", {"shared"});
  share("3")(second);
  EXPECT_EQ(checker_.charge(second, "n1"), "");
  EXPECT_EQ(checker_.overuse(), "d/p/shared has too little m");
}

}  // namespace
}  // namespace gang::engine
