// Slices, classes, templates and claims as real drivers and users write them (test/shapes). Every
// device can be had, every class selects, every claim is allocated; AllocationChecker judges each
// allocation. The tables name all objects of devices: a file or an object without a row fails.
// Files without such objects are loaded by test/scenarios/shapes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "engine/shape_world.h"

namespace gang::engine {
namespace {

/// What a file with slices needs, and its devices that are tainted.
struct SliceRow {
  ShapeFiles files;
  std::set<std::string> tainted = {};
};

const std::map<std::string, SliceRow>& slice_rows() {
  static const std::map<std::string, SliceRow> rows = {
      {"20", {{{"20"}}}},
      {"21", {{{"21"}}}},
      {"22", {{{"22"}}}},
      {"23", {{{"23"}}}},
      {"24", {{{"24"}}}},
      {"25", {{{"25"}}, {"gpu-0", "gpu-2", "gpu-7"}}},
      {"26", {{{"26"}}}},
      {"27", {{{"27"}}, {"0000-9a-00-0-0x0bd5"}}},
      {"28", {{{"28"}}}},
      {"29", {{{"29"}}}},
      {"30", {{{"30"}}}},
      {"31", {{{"31"}, {"30"}}}},
      {"32", {{{"32"}, {"20", "30"}}}},
  };
  return rows;
}

/// How many claims for one device of a class the slices of a file serve.
struct ClassRow {
  std::string name;
  std::string file;
  int served = 0;
};

const std::vector<ClassRow>& class_rows() {
  static const std::vector<ClassRow> rows = {
      {"gpu.nvidia.com", "20", 16},
      {"gpu.nvidia.com", "24", 10},  // two by memory as a whole, four shares of two others
      {"gpu.nvidia.com", "25", 5},
      {"mig.nvidia.com", "22", 8},  // four of 1g.10gb on each GPU
      {"mig.nvidia.com", "23", 4},
      {"compute-domain-default-channel.nvidia.com", "21", 20},
      {"compute-domain-daemon.nvidia.com", "21", 20},
      {"dranet-rdma", "28", 8},
      {"dranet-rdma", "29", 32},
      {"gpu.amd.com", "26", 8},
      {"partition.gpu.amd.com", "26", 64},
      {"gpu.intel.com", "27", 5},
      {"gpu.example.com", "30", 14},
      {"net.example.com", "31", 200},
      {"cpu.example.com", "31", 16},
      {"fabric.example.com", "32", 4},
  };
  return rows;
}

/// Claims as they stand in a cluster: how many claims for one device of a class are served beside
/// them.
struct HeldRow {
  std::map<std::string, std::string> nodes;  ///< by the name of the claim
  ShapeFiles files;
  std::string device_class;
  int served = 0;
};

const std::vector<HeldRow>& held_rows() {
  static const std::vector<HeldRow> rows = {
      {{{"trainer-0-gpu-x8k2m", "h100-a"}, {"infer-0-extended-resources-6b8wf", "h100-a"}},
       {{"20"}},
       "gpu.nvidia.com",
       14},
      {{{"train-pg-fabric-7p4wd", "h100-b"}}, {{"32"}, {"20"}}, "fabric.example.com", 3},
      {{{"notebook-1-gpu-2zv6c", "h100-shared-mem"}}, {{"24"}}, "gpu.nvidia.com", 9},
      {{{"best-effort-q5r7t", "kind-worker3"}}, {{"30"}}, "gpu.example.com", 13},
  };
  return rows;
}

/// What a claim or template gets on the slices of some files.
struct ClaimRow {
  std::string name;
  ShapeFiles files;
  std::string outcome;
};

const std::vector<ClaimRow>& claim_rows() {
  static const std::vector<ClaimRow> rows = {
      {"one-gpu", {{"20"}}, "gpu=gpu.nvidia.com/h100-a/gpu-0"},
      {"eight-gpus",
       {{"20"}},
       "gpus=gpu.nvidia.com/h100-a/gpu-0,gpu-1,gpu-2,gpu-3,gpu-4,gpu-5,gpu-6,gpu-7"},
      {"big-hopper", {{"20"}}, "gpu=gpu.nvidia.com/h100-a/gpu-0"},
      {"new-driver", {{"20"}}, "gpu=gpu.nvidia.com/h100-a/gpu-0"},
      {"gpu-nic-aligned",
       {{"28"}},
       "gpu=gpu.nvidia.com/gke-a3u-1/gpu-0 nic=dra.net/gke-a3u-1/pci-0000-0c-00-0"},
      {"gpu-nic-aligned",
       {{"29"}},
       "gpu=gpu.nvidia.com/eks-p5-1/gpu-0 nic=dra.net/eks-p5-1/pci-0000-4f-00-0"},
      {"all-rdma",
       {{"28"}},
       "nics=dra.net/gke-a3u-1/pci-0000-0c-00-0,pci-0000-1a-00-0,pci-0000-4d-00-0,"
       "pci-0000-5b-00-0,pci-0000-8c-00-0,pci-0000-9a-00-0,pci-0000-cb-00-0,pci-0000-d9-00-0"},
      {"mig-3g-and-1g",
       {{"22"}},
       "big=gpu.nvidia.com/a100-dra-1/gpu-0-mig-3g20gb-9-0 "
       "small=gpu.nvidia.com/a100-dra-1/gpu-0-mig-1g5gb-19-4"},
      {"mig-3g-and-1g",
       {{"23"}},
       "big=gpu.nvidia.com/a100-static-1/gpu-0-mig-3g20gb-9-4 "
       "small=gpu.nvidia.com/a100-static-1/gpu-0-mig-1g5gb-19-2"},
      {"two-partitions-apart", {{"26"}}, "parts=gpu.amd.com/mi300x-cpx-1/gpu-1-128,gpu-9-136"},
      {"best-effort-gpu", {{"30"}}, "gpu/latest=gpu.example.com/kind-worker2/gpu-0-partition-0"},
      {"share-10gi",
       {{"30", "31"}},
       "gpu=gpu.example.com/kind-worker/gpu-0 nic=net.example.com/kind-worker/nic-0"},
      // The cards are on one node, the shared GPUs on another.
      {"share-10gi",
       {{"31"}, {"30"}},
       "no: 0/3 nodes are available: 3 cannot allocate all claims. claim default/p0, request gpu: "
       "device class gpu.example.com: 2 free of 2; needed 1; to be met as well: all that a pod "
       "claims on one node, of which kind-worker lacks claim default/p0, request gpu"},
      {"tolerant-gpu", {{"25"}}, "gpu=gpu.nvidia.com/h100-sick/gpu-1"},
      {"train-domain-channel",
       {{"21"}},
       "channel=compute-domain.nvidia.com/nvl72-r07-n01/channel-0"},
      {"watch-all-gpus",
       {{"20"}},
       "gpus=gpu.nvidia.com/h100-a/gpu-0,gpu-1,gpu-2,gpu-3,gpu-4,gpu-5,gpu-6,gpu-7"},
      {"trainer-0-gpu-x8k2m", {{"20"}}, "gpu=gpu.nvidia.com/h100-a/gpu-0"},
      {"train-pg-fabric-7p4wd",
       {{"32"}, {"20", "30"}},
       "channel=fabric.example.com/fabric/nvmeof-0"},
      {"notebook-1-gpu-2zv6c", {{"24"}}, "gpu=gpu.nvidia.com/h100-shared-mem/gpu-0"},
      {"best-effort-q5r7t", {{"30"}}, "gpu/latest=gpu.example.com/kind-worker2/gpu-0-partition-0"},
      {"infer-0-extended-resources-6b8wf",
       {{"20"}},
       "container-0-request-2=gpu.nvidia.com/h100-a/gpu-0"},
      {"shared-by-name", {{"20"}}, "gpu=gpu.nvidia.com/h100-a/gpu-0"},
  };
  return rows;
}

std::map<std::string, api::ClaimSpec> all_specs() {
  std::map<std::string, api::ClaimSpec> specs;
  for (const std::string& file : shape_files()) {
    for (const auto& one : shapes_of<api::ResourceClaimTemplate>(file)) {
      EXPECT_TRUE(specs.emplace(one.meta.key.name, one.spec).second) << one.meta.key.name;
    }
    for (const auto& one : shapes_of<api::ResourceClaim>(file)) {
      EXPECT_TRUE(specs.emplace(one.meta.key.name, one.spec).second) << one.meta.key.name;
    }
  }
  return specs;
}

/// Names that the rows have.
template <class Row>
std::set<std::string> names_of(const std::vector<Row>& rows) {
  std::set<std::string> names;
  for (const Row& row : rows) names.insert(row.name);
  return names;
}

/// `device.attributes["domain"]["id"]`.
std::string access(const std::string& map, const std::string& name, const std::string& driver) {
  const std::size_t slash = name.find('/');
  const bool is_bare = slash == std::string::npos;
  const std::string domain = is_bare ? driver : name.substr(0, slash);
  const std::string id = is_bare ? name : name.substr(slash + 1);
  return "device." + map + "[\"" + domain + "\"][\"" + id + "\"]";
}

std::string is_equal(const std::string& read, const api::AttributeValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return read + " == '" + *text + "'";
  if (const auto* flag = std::get_if<bool>(&value))
    return read + (*flag ? " == true" : " == false");
  if (const auto* number = std::get_if<std::int64_t>(&value)) {
    return read + " == " + std::to_string(*number);
  }
  return read + ".compareTo(semver('" + std::get<api::Version>(value).text + "')) == 0";
}

/// A selector for devices with all attributes and capacities of this one.
std::string selector_for(const api::Device& device, const std::string& driver) {
  std::string text = "true";
  for (const auto& [name, value] : device.attributes) {
    text += " && " + is_equal(access("attributes", name, driver), value);
  }
  for (const auto& [name, capacity] : device.capacity) {
    text += " && " + access("capacity", name, driver) + ".compareTo(quantity('" +
            capacity.value.text() + "')) == 0";
  }
  return text;
}

/// The devices of slices by driver and selector: alike ones have one selector.
using Groups = std::map<std::pair<std::string, std::string>, std::set<std::string>>;

Groups groups_of(const ShapeWorld& world, const std::set<std::string>& left_out) {
  Groups groups;
  for (const api::ResourceSlice& slice : world.slices()) {
    for (const api::Device& device : slice.devices) {
      if (left_out.contains(device.name)) continue;
      groups[{slice.driver, selector_for(device, slice.driver)}].insert(
          "r=" + slice.driver + "/" + slice.pool + "/" + device.name);
    }
  }
  return groups;
}

TEST(DeviceShapes, EveryFileAndObjectOfDevicesHasRows) {
  std::set<std::string> classes;
  for (const std::string& file : shape_files()) {
    const bool has_slices = !shapes_of<api::ResourceSlice>(file).empty();
    EXPECT_EQ(has_slices, slice_rows().contains(file)) << file;
    const auto found = shapes_of<api::DeviceClass>(file);
    for (const api::DeviceClass& one : found) classes.insert(one.meta.key.name);
  }
  EXPECT_EQ(names_of(class_rows()), classes);
  std::set<std::string> claims;
  for (const auto& [name, spec] : all_specs()) claims.insert(name);
  EXPECT_EQ(names_of(claim_rows()), claims);
}

TEST(DeviceShapes, EveryDeviceIsGivenToTheClaimThatDescribesIt) {
  for (const auto& [file, row] : slice_rows()) {
    SCOPED_TRACE(file);
    ShapeWorld world(row.files);
    for (const auto& [selector, devices] : groups_of(world, row.tainted)) {
      const api::ClaimSpec spec = one_of("every." + selector.first, selector.second);
      std::set<std::string> given;
      while (given.size() < devices.size() && given.insert(world.allocate(spec)).second) {
        world.taint_and_release();
      }
      EXPECT_EQ(given, devices) << selector.second;
    }
  }
}

TEST(DeviceShapes, TaintedDevicesAreNotGiven) {
  for (const auto& [file, row] : slice_rows()) {
    ShapeWorld world(row.files);
    for (const auto& [selector, devices] : groups_of(world, {})) {
      const std::string& name = *devices.begin();
      const std::string device = name.substr(name.rfind('/') + 1);
      if (!row.tainted.contains(device)) continue;
      const api::ClaimSpec spec = one_of("every." + selector.first, selector.second);
      const std::string text = world.allocate(spec);
      EXPECT_THAT(text, testing::HasSubstr("; 1 tainted (")) << name;
      EXPECT_THAT(text, testing::HasSubstr("/" + device + ": ")) << name;
    }
  }
}

TEST(DeviceShapes, EveryClassServesAsManyClaimsAsItsDevicesCanTake) {
  for (const ClassRow& row : class_rows()) {
    ShapeWorld world(slice_rows().at(row.file).files);
    EXPECT_EQ(world.drain(row.name), row.served) << row.name << " on " << row.file;
  }
}

TEST(DeviceShapes, EveryClaimAndTemplateIsAllocated) {
  const std::map<std::string, api::ClaimSpec> specs = all_specs();
  for (const ClaimRow& row : claim_rows()) {
    ShapeWorld world(row.files);
    EXPECT_EQ(world.allocate(specs.at(row.name)), row.outcome) << row.name;
  }
}

TEST(DeviceShapes, AllocatedClaimsAreRightAndKeepTheirDevices) {
  std::map<std::string, api::ResourceClaim> allocated;
  for (const std::string& file : shape_files()) {
    for (api::ResourceClaim& one : shapes_of<api::ResourceClaim>(file)) {
      if (one.allocation) allocated.emplace(one.meta.key.name, std::move(one));
    }
  }
  for (const HeldRow& row : held_rows()) {
    ShapeWorld world(row.files);
    for (const auto& [name, node] : row.nodes) {
      ASSERT_TRUE(allocated.contains(name)) << name;
      world.hold(allocated.at(name), node);
      allocated.erase(name);
    }
    EXPECT_EQ(world.drain(row.device_class), row.served) << row.device_class;
  }
  EXPECT_TRUE(allocated.empty()) << allocated.begin()->first << " has no row";
}

TEST(DeviceShapes, SlicesOfTwoFilesForOnePoolMakeItOfferNothing) {
  ShapeWorld world({{"30", "31"}});
  const std::string partition = "has(device.attributes['gpu.example.com'].partition)";
  EXPECT_THAT(world.allocate(one_of("gpu.example.com", partition)),
              testing::HasSubstr("; pool gpu.example.com/kind-worker2 offers nothing: "));
  EXPECT_EQ(world.drain("gpu.example.com"), 6);
}

}  // namespace
}  // namespace gang::engine
