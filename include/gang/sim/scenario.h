// Scenario: a text that drives the Simulator, and the conversation that comes out of it.
//
// A file starts with a comment that says what it shows and why. Then blocks: a command line,
// "----", the expected output, an empty line. run_scenario() compares; with rewriting it fills in
// what came out. Names may hold ranges: n[1-3] is n1 n2 n3. Everything omitted has a default: a
// node has cpu=64 memory=256Gi ephemeral-storage=500Gi pods=110, a pod cpu=100m memory=64Mi.
// The verbs and their options are those of docs/simulator.md; the table of verbs is in
// src/sim/scenario.cpp, their forms are in src/sim/verb_forms.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gang/base/result.h"

namespace gang::sim {

/// What to do with the expected output.
enum class ScenarioMode { kCompare, kRewrite };

/// What came of one file.
struct ScenarioResult {
  bool passed = true;
  std::string difference;             ///< first block that differs: command, expected, got
  std::vector<std::string> mistakes;  ///< "line 3: ...": each command that was refused, and why
  std::string text;                   ///< the file with the outputs that came out
};

/// Runs a scenario text. `folder` is where load looks for files. Fails with line and mend on a text
/// that cannot be understood.
[[nodiscard]] Result<ScenarioResult> run_scenario(std::string_view text, const std::string& folder,
                                                  ScenarioMode mode);

}  // namespace gang::sim
