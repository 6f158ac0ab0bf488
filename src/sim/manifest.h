// Manifests: YAML documents of Kubernetes objects, through JSON into the values of `api`.
//
// The scalar rules are those of spec'd YAML 1.2 core with one addition: a plain scalar that
// YAML 1.1 (which kubectl reads) would take for a boolean or a number and we would not is an error
// "quote it". Limits: 64 MiB of text; an object has at most 200,000 YAML nodes, depth 100; a List
// at most 100,000 objects and no List. manifest.cpp is the only file here that knows yaml-cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gang/api/delta.h"
#include "gang/base/result.h"

namespace gang::sim {

/// One object of a known kind.
struct ManifestObject {
  int line = 0;  ///< where it starts, from 1
  api::Kind kind = api::Kind::kPod;
  api::Object object;
};

/// What a manifest text holds.
struct Manifest {
  std::vector<ManifestObject> objects;
  /// "Job train: the simulator holds ...": kinds that the simulator does not hold.
  std::vector<std::string> skipped;
};

/// What is said of an object of a kind that the simulator does not hold.
inline constexpr std::string_view kHeldKinds =
    "the simulator holds the kinds that the daemon watches only";

/// Fails with the line: on bad YAML, on a merge key, on a bad object and on one of a version that
/// is not read, each of these with its name.
[[nodiscard]] Result<Manifest> parse_manifest(std::string_view yaml);

}  // namespace gang::sim
