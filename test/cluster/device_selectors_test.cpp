#include "gang/cluster/device_selectors.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace gang::cluster {
namespace {

constexpr std::int64_t kEnough = std::numeric_limits<std::int64_t>::max() / 2;

api::Device device_of(std::int64_t serial) {
  api::Device device;
  device.name = "d" + std::to_string(serial);
  device.attributes.emplace_back("d.example.com/serial", serial);
  return device;
}

/// Asks one planner's worth of questions.
class SelectorWorld {
 public:
  Selected ask(const std::string& expression, const api::Device& device) {
    std::int64_t left = kEnough;
    Selected selected = selectors.judge({expression, driver_, device}, left);
    was_known_ = left == kEnough;
    return selected;
  }
  [[nodiscard]] bool was_known() const { return was_known_; }

  CelSelectors selectors;

 private:
  const std::string driver_ = "d.example.com";
  bool was_known_ = false;
};

std::string serial_is(std::int64_t serial) {
  return "device.attributes['d.example.com'].serial == " + std::to_string(serial);
}

TEST(CelSelectors, AnswersAreKeptByDeviceAndExpression) {
  SelectorWorld world;
  const std::vector<api::Device> devices = {device_of(0), device_of(1), device_of(2)};
  for (int round = 0; round < 2; ++round) {
    for (std::int64_t serial = 0; serial < 3; ++serial) {
      for (const api::Device& device : devices) {
        const bool is_it = device.name == "d" + std::to_string(serial);
        const Selected selected = world.ask(serial_is(serial), device);
        EXPECT_EQ(selected.end, is_it ? Selected::End::kYes : Selected::End::kNo);
        EXPECT_EQ(world.was_known(), round == 1);
      }
    }
  }
}

TEST(CelSelectors, DeviceThatTakesTheNumberOfAForgottenOneIsAskedAnew) {
  SelectorWorld world;
  const api::Device first = device_of(0);
  const api::Device other = device_of(7);
  EXPECT_EQ(world.ask(serial_is(0), first).end, Selected::End::kYes);
  EXPECT_EQ(world.ask(serial_is(0), other).end, Selected::End::kNo);
  world.selectors.forget(first);
  const api::Device second = device_of(1);
  EXPECT_EQ(world.ask(serial_is(0), second).end, Selected::End::kNo);
  EXPECT_FALSE(world.was_known());
  EXPECT_EQ(world.ask(serial_is(1), second).end, Selected::End::kYes);
  EXPECT_EQ(world.ask(serial_is(0), other).end, Selected::End::kNo);
  EXPECT_TRUE(world.was_known());
}

TEST(CelSelectors, ErrorsAreToldAgainAndMoreThanCanBeKeptAreFoundAgain) {
  SelectorWorld world;
  const std::string expression = "{'k': 1}[string(device.attributes['d.example.com'].serial)] == 1";
  std::vector<api::Device> devices;
  for (std::int64_t serial = 0; serial < 100; ++serial) devices.push_back(device_of(serial));
  std::vector<std::string> told;
  for (const api::Device& device : devices) {
    const Selected selected = world.ask(expression, device);
    EXPECT_EQ(selected.end, Selected::End::kRuntimeError);
    told.push_back(selected.message);
  }
  for (std::size_t i = 0; i < devices.size(); ++i) {
    EXPECT_EQ(world.ask(expression, devices[i]).message, told[i]);
  }
  EXPECT_EQ(world.ask("device.nothing", devices[0]).end, Selected::End::kCompileError);
  EXPECT_EQ(world.ask("device.nothing", devices[0]).end, Selected::End::kCompileError);
  EXPECT_TRUE(world.was_known());
}

TEST(CelSelectors, ExpressionsUsedLastAreKeptAndOthersCompiledAnew) {
  SelectorWorld world;
  const api::Device device = device_of(5);
  for (std::int64_t serial = 0; serial < 3'000; ++serial) {
    const bool is_it = serial == 5;
    EXPECT_EQ(world.ask(serial_is(serial), device).end,
              is_it ? Selected::End::kYes : Selected::End::kNo);
  }
  EXPECT_EQ(world.ask(serial_is(2'500), device).end, Selected::End::kNo);
  EXPECT_TRUE(world.was_known());
  EXPECT_EQ(world.ask(serial_is(5), device).end, Selected::End::kYes);
  EXPECT_FALSE(world.was_known());
}

}  // namespace
}  // namespace gang::cluster
