// Objects of real drivers and users (test/shapes), and a small cluster made of some of them.
#pragma once

#include <string>
#include <vector>

#include "engine/allocation_checker.h"
#include "engine/cluster_fixture.h"

namespace gang::engine {

/// Which files a cluster is made of, each by its number.
struct ShapeFiles {
  std::vector<std::string> slices;
  std::vector<std::string> nodes = {};  ///< further files of which only the nodes are taken
};

/// Numbers of all files, in order.
[[nodiscard]] std::vector<std::string> shape_files();
/// Objects of one kind in one file; each file is read once. Fails the test on an unreadable one.
template <class Object>
[[nodiscard]] std::vector<Object> shapes_of(const std::string& file);

/// The slices, rules and nodes of some files, and the classes of all. Slices that name a node which
/// no file has get one; each driver has a class "every.<driver>" beside those of the files.
class ShapeWorld {
 public:
  explicit ShapeWorld(const ShapeFiles& files);

  /// A claim, planned with a pod that tolerates every node: "request=driver/pool/device,device
  /// ...", or "no: <text of the pod>". Fails the test on a wrong allocation. Held until release().
  std::string allocate(const api::ClaimSpec& spec);
  /// Takes a claim that has its devices already.
  void hold(api::ResourceClaim claim, const std::string& node);
  /// Takes all claims away again.
  void release();
  /// The same, and nobody gets their devices any more.
  void taint_and_release();
  /// How often one device of the class can be had; holds them all.
  int drain(const std::string& device_class);

  [[nodiscard]] const std::vector<api::ResourceSlice>& slices() const { return slices_; }

 private:
  template <class Object>
  void add(Object object);
  void judge(const api::ResourceClaim& claim, const std::string& node);
  void add_nodes(const std::string& file);
  void add_every_class(const std::string& driver);

  TestCluster cluster_;
  AllocationChecker checker_;
  std::vector<api::ResourceSlice> slices_;
  std::vector<api::ResourceClaim> claims_;
  std::vector<api::Pod> pods_;
  int asked_ = 0;
};

/// A claim for one device of a class.
[[nodiscard]] api::ClaimSpec one_of(const std::string& device_class, std::string selector = "");

}  // namespace gang::engine
