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

/// One document of a known kind.
struct ManifestObject {
  api::Kind kind = api::Kind::kPod;
  api::Object object;
};

/// What a manifest text holds.
struct Manifest {
  std::vector<ManifestObject> objects;
  std::vector<std::string> skipped;  ///< "Job train": kinds that the model does not hold
};

/// Fails with line and column on bad YAML, with the object's name on a bad object.
[[nodiscard]] Result<Manifest> parse_manifest(std::string_view yaml);

}  // namespace gang::sim
