#include "engine/shape_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <utility>
#include <variant>

#include "sim/manifest.h"

namespace gang::engine {
namespace {

using Manifests = std::map<std::string, sim::Manifest>;

Manifests read_all() {
  Manifests read;
  const std::string folder = std::string(GANG_SOURCE_ROOT) + "/test/shapes";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream stream(entry.path());
    std::stringstream text;
    text << stream.rdbuf();
    const std::string name = entry.path().filename().string();
    auto manifest = sim::parse_manifest(text.str());
    EXPECT_TRUE(manifest) << name << ": " << manifest.error().message;
    const bool is_new = read.emplace(name.substr(0, 2), *std::move(manifest)).second;
    EXPECT_TRUE(is_new) << name << " has the number of another file";
  }
  return read;
}

const Manifests& manifests() {
  static const Manifests all = read_all();
  return all;
}

std::string text_of(const api::Allocation& allocation) {
  std::string text;
  std::string last;
  for (const api::DeviceResult& one : allocation.results) {
    const std::string place = one.request + "=" + one.driver + "/" + one.pool + "/";
    text += place == last ? "," + one.device : (text.empty() ? "" : " ") + place + one.device;
    last = place;
  }
  return text;
}

}  // namespace

std::vector<std::string> shape_files() {
  std::vector<std::string> files;
  for (const auto& [file, manifest] : manifests()) files.push_back(file);
  return files;
}

template <class Object>
std::vector<Object> shapes_of(const std::string& file) {
  std::vector<Object> objects;
  for (const sim::ManifestObject& one : manifests().at(file).objects) {
    const auto* object = std::get_if<Object>(&one.object);
    if (object == nullptr) continue;
    EXPECT_EQ(object->meta.unreadable, "") << file << " " << object->meta.key.text();
    objects.push_back(*object);
  }
  return objects;
}

template std::vector<api::ResourceSlice> shapes_of(const std::string& file);
template std::vector<api::ResourceClaim> shapes_of(const std::string& file);
template std::vector<api::ResourceClaimTemplate> shapes_of(const std::string& file);
template std::vector<api::DeviceClass> shapes_of(const std::string& file);

ShapeWorld::ShapeWorld(const ShapeFiles& files) {
  api::Namespace own;
  own.meta.key.name = "default";
  own.meta.labels = {{std::string(api::kAdminAccess), "true"}};
  own.meta.uid.text = "uid-default";
  cluster_.add(std::move(own));
  std::set<std::string> drivers;
  for (const std::string& file : shape_files()) {
    for (api::DeviceClass& one : shapes_of<api::DeviceClass>(file)) add(std::move(one));
  }
  for (const std::string& file : files.nodes) add_nodes(file);
  for (const std::string& file : files.slices) {
    add_nodes(file);
    for (auto& rule : shapes_of<api::DeviceTaintRule>(file)) add(std::move(rule));
    for (api::ResourceSlice& slice : shapes_of<api::ResourceSlice>(file)) {
      if (drivers.insert(slice.driver).second) add_every_class(slice.driver);
      const std::string& node = slice.place.node_name;
      if (!node.empty() && !checker_.knows_node(node)) add(test::node(node).cpu("64").build());
      slices_.push_back(slice);
      add(std::move(slice));
    }
  }
}

void ShapeWorld::add_nodes(const std::string& file) {
  for (api::Node& node : shapes_of<api::Node>(file)) add(std::move(node));
}

void ShapeWorld::add_every_class(const std::string& driver) {
  api::DeviceClass every;
  every.meta.key.name = "every." + driver;
  every.selectors = {{.expression = "device.driver == '" + driver + "'"}};
  add(std::move(every));
}

template <class Object>
void ShapeWorld::add(Object object) {
  if (object.meta.uid.text.empty()) object.meta.uid.text = "uid-" + object.meta.key.name;
  checker_.add(object);
  cluster_.add(std::move(object));
}

std::string ShapeWorld::allocate(const api::ClaimSpec& spec) {
  const std::string name = "p" + std::to_string(asked_++);
  api::ResourceClaim claim;
  claim.meta.key = {"default", name};
  claim.meta.uid.text = "uid-" + name;
  claim.spec = spec;
  cluster_.add(claim);
  api::Pod pod = test::pod(name).tolerates("").rules({.resource_claims = true}).build();
  pod.claims = {{.name = "c", .claim_name = name}};
  cluster_.add(pod);
  const Decision decision = cluster_.decide(name);
  const auto* plan = std::get_if<Plan>(&decision);
  if (plan != nullptr) {
    claim.allocation = plan->claims.at(0).allocation;
    judge(claim, plan->assignments.at(0).node_name);
    cluster_.state.assume_allocation(claim.meta.uid, *claim.allocation);
  }
  pods_.push_back(std::move(pod));
  claims_.push_back(claim);
  if (plan != nullptr) return text_of(*claim.allocation);
  return "no: " + engine::text_of(std::get<Explanation>(decision), name);
}

void ShapeWorld::judge(const api::ResourceClaim& claim, const std::string& node) {
  EXPECT_EQ(checker_.charge(claim, node), "") << claim.meta.key.text();
  EXPECT_EQ(checker_.overuse(), "") << claim.meta.key.text();
}

void ShapeWorld::hold(api::ResourceClaim claim, const std::string& node) {
  claim.meta.uid.text = "uid-" + claim.meta.key.name;
  judge(claim, node);
  cluster_.add(claim);
  claims_.push_back(std::move(claim));
}

void ShapeWorld::release() {
  for (const api::Pod& pod : std::exchange(pods_, {})) cluster_.remove(pod);
  for (const api::ResourceClaim& claim : std::exchange(claims_, {})) {
    checker_.release(claim);
    cluster_.remove(claim);
  }
}

void ShapeWorld::taint_and_release() {
  for (const api::ResourceClaim& claim : claims_) {
    if (!claim.allocation) continue;
    for (const api::DeviceResult& one : claim.allocation->results) {
      api::DeviceTaintRule rule;
      rule.meta.key.name = "given-" + claim.meta.key.name;
      rule.selector = {.driver = one.driver, .pool = one.pool, .device = one.device};
      rule.taint = {.key = "given", .effect = api::DeviceTaintEffect::kNoSchedule};
      add(std::move(rule));
    }
  }
  release();
}

int ShapeWorld::drain(const std::string& device_class) {
  int count = 0;
  while (!allocate(one_of(device_class)).starts_with("no: ")) ++count;
  return count;
}

api::ClaimSpec one_of(const std::string& device_class, std::string selector) {
  api::DeviceAsk ask{.class_name = device_class};
  if (!selector.empty()) ask.selectors = {{.expression = std::move(selector)}};
  api::ClaimSpec spec;
  spec.requests.push_back({.name = "r", .exactly = std::move(ask)});
  return spec;
}

}  // namespace gang::engine
