// Scenario: a text that drives the Simulator, and the conversation that comes out of it.
//
// A file starts with a comment that says what it shows and why. Then blocks: a command line,
// "----", the expected output, an empty line. run_scenario() compares; with rewriting it fills in
// what came out. Names may hold ranges: n[1-3] is n1 n2 n3. Everything omitted has a default: a
// node has cpu=64 memory=256Gi ephemeral-storage=500Gi pods=110, a pod cpu=100m memory=64Mi.
//
//   nodes n[1-3] gpu=2 pool=a            Node objects; other keys than resources are labels
//                                        also: taint=key=value:NoSchedule  unschedulable
//   node n1 gpu=6 cordon | uncordon | taint=... | untaint=key | pool=b   change, touch
//   group train min=4 [basic] [priority=5] [namespace=x]                    a PodGroup alone
//   gang train pods=4 min=4 gpu=1 ...    a PodGroup and its pods train-0 ...
//   gangs a b pods=4 min=4 gpu=1         several, their pods created in turn
//   pods p[0-3] group=train gpu=1 ...    pods; without group= they are lone pods
//        selector.pool=a  affinity=pool:In:a,b  tolerate=key[:Effect]  port=8471[/UDP]  gate=g
//        priority=5  scheduler=other  init.cpu=1  sidecar.cpu=1  bare (no controller)
//        label.app=web  repels=app:In:web@zone (required anti-affinity; also NotIn, Exists,
//        DoesNotExist)
//        uses=pod-affinity|topology-spread|volumes|resource-claims
//   running r0 on=n1 gpu=1 ...           a pod of the default scheduler that runs there; also
//                                        r[0-2] on=n[1-3]
//   update group train min=3             change minCount
//   ungate p0 | finish p0 | fail p0 [reason=OutOfcpu]   gates gone; phase Succeeded; phase Failed
//   delete pod p0 [grace=30s] | delete group train | delete node n1
//   load FILE.yaml                       real manifests, path relative to the scenario
//   cycle                                run until nothing is left to do at this time
//   advance 30s                          let time pass, doing what falls due
//   plan train                           what the engine would answer now, for a gang or a lone
//                                        pod; changes nothing on the server
//   fail bind train-1 conflict|error|timeout|executed|throttled|forbidden [times=3]
//   drop watch Pod | restore watch Pod [expired] | unserve PodGroup | serve PodGroup
//   crash [after=2] | restart            kill the daemon (after 2 more Bindings); start a new one
//   show pods|queue|conditions|events|writes|nodes
//   config gated_members=hold            an option of the daemon; before the first cycle only
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

/// The bytes of a file, at most 64 MiB. Fails with the path on a directory and on what cannot be
/// read.
[[nodiscard]] Result<std::string> read_text(const std::string& path);

}  // namespace gang::sim
