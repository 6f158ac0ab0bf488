// gangctl: the production scheduler on a simulated cluster, driven by scenario files, and its
// engine on public traces.
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/command_line.h"
#include "app/version.h"
#include "gang/base/log.h"
#include "gang/sim/scenario.h"
#include "gang/sim/trace.h"

namespace {

constexpr const char* kProgram = "gangctl";
constexpr int kExitFailure = 1;

/// What `gangctl run` was asked for.
struct RunFlags {
  std::vector<std::string> files;
  bool rewrite = false;
  bool show = false;
};

gang::Result<void> write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::trunc);
  file << text;
  file.close();
  if (!file)
    return gang::fail(gang::Code::kUnavailable, path + ": cannot be written; give a path that can");
  return {};
}

/// Runs one file; the result says whether its outputs were as expected.
gang::Result<bool> run_file(const std::string& path, const RunFlags& flags) {
  GANG_TRY(const std::string text, gang::sim::read_text(path));
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const auto mode =
      flags.rewrite ? gang::sim::ScenarioMode::kRewrite : gang::sim::ScenarioMode::kCompare;
  gang::Result<gang::sim::ScenarioResult> result =
      gang::sim::run_scenario(text, folder.empty() ? "." : folder, mode);
  if (!result) return gang::in_context(path, std::move(result).error());
  if (flags.rewrite) {
    if (result->text != text) GANG_TRY_VOID(write_file(path, result->text));
    std::cout << (result->text == text ? "same " : "rewritten ") << path << "\n";
    for (const std::string& mistake : result->mistakes) std::cout << "  " << mistake << "\n";
    return true;
  }
  if (flags.show) std::cout << result->text << "\n";
  if (!flags.show || !result->passed) {
    std::cout << (result->passed ? "ok " : "FAILED ") << path << "\n" << result->difference;
  }
  return result->passed;
}

/// The exit code: 2 when a file cannot be read or is no scenario, 1 when an output differs.
int run(const RunFlags& flags) {
  std::size_t failed = 0;
  bool is_unreadable = false;
  for (const std::string& path : flags.files) {
    const gang::Result<bool> passed = run_file(path, flags);
    if (!passed) std::cerr << "gangctl: " << passed.error().message << "\n";
    if (!passed) is_unreadable = true;
    if (!passed || !*passed) ++failed;
  }
  if (flags.show && failed == 0) return EXIT_SUCCESS;
  std::cout << flags.files.size() - failed << " passed, " << failed << " failed\n";
  if (is_unreadable) return gang::app::kExitUsage;
  return failed == 0 ? EXIT_SUCCESS : kExitFailure;
}

/// What `gangctl simulate` was asked for.
struct SimulateFlags {
  std::vector<std::string> files;
  std::string nodes;
  std::string published;
  std::string policy;
  std::string seeds;
};

constexpr std::int32_t kSeedsMax = 1'000;

gang::Result<gang::sim::TraceOptions> trace_options(const SimulateFlags& flags) {
  gang::sim::TraceOptions options;
  if (!flags.policy.empty()) options.policies = {flags.policy};
  if (flags.seeds.empty()) return options;
  const char* end = flags.seeds.data() + flags.seeds.size();
  const auto [stopped, error] = std::from_chars(flags.seeds.data(), end, options.seeds);
  const bool is_number = error == std::errc() && stopped == end;
  if (is_number && options.seeds >= 1 && options.seeds <= kSeedsMax) return options;
  return gang::fail(gang::Code::kInvalidArgument,
                    "--seeds=" + flags.seeds + ": write a number from 1 to 1000");
}

/// Prints the lines of each list as soon as they are known.
gang::Result<void> simulate_lists(const SimulateFlags& flags) {
  GANG_TRY(const gang::sim::TraceOptions options, trace_options(flags));
  if (flags.nodes.empty()) {
    return gang::fail(gang::Code::kInvalidArgument,
                      "--nodes is missing; give the table of the fleet's nodes");
  }
  GANG_TRY(const std::string nodes, gang::sim::read_text(flags.nodes));
  std::string published;
  if (!flags.published.empty()) {
    GANG_TRY(published, gang::sim::read_text(flags.published));
  }
  std::cout << gang::sim::pod_trace_head();
  for (const std::string& path : flags.files) {
    GANG_TRY(const std::string pods, gang::sim::read_text(path));
    gang::Result<std::string> lines =
        gang::sim::play_pods({.name = std::filesystem::path(path).stem().string(),
                              .nodes = nodes,
                              .pods = pods,
                              .published = published},
                             options);
    if (!lines) return gang::in_context(path, std::move(lines).error());
    std::cout << *lines << std::flush;
  }
  return {};
}

int simulate(const SimulateFlags& flags) {
  const gang::Result<void> done = simulate_lists(flags);
  if (done) return EXIT_SUCCESS;
  std::cerr << "gangctl: " << done.error().message << "\n";
  return gang::app::kExitUsage;
}

void define_simulate(gang::app::CommandLine& line, SimulateFlags& flags) {
  line.command({"simulate", "Play public traces with the engine and with plain references"});
  line.rest({"PODS", "Lists of pods, tables of comma-separated values"}, flags.files);
  line.path(
      {"--nodes", "The table of the fleet's nodes"},
      [&flags](const std::string& path) { flags.nodes = path; }, "give the table of nodes");
  line.path(
      {"--published", "The table of published allocations, to be told beside ours"},
      [&flags](const std::string& path) { flags.published = path; },
      "give the table of published allocations");
  line.option({"--policy", "Only this one of: engine, upstream-like, best fit, FGD"},
              [&flags](const std::string& name) { flags.policy = name; });
  line.option({"--seeds", "Orders of arrival of which the mean is told; 10 if not said"},
              [&flags](const std::string& number) { flags.seeds = number; });
}

}  // namespace

int main(int argc, char** argv) {
  gang::app::CommandLine line(kProgram, "Runs the gang scheduler on a simulated cluster.",
                              gang::app::kVersion);
  RunFlags flags;
  line.command({"run", "Run scenario files and compare the outputs"});
  line.rest({"FILE", "Scenario files"}, flags.files);
  line.flag({"--rewrite", "Write what came out into the files"}, flags.rewrite);
  line.flag({"--show", "Print the whole conversation"}, flags.show);
  SimulateFlags simulate_flags;
  define_simulate(line, simulate_flags);
  const std::optional<int> ended = line.parse(argc, argv);
  if (ended) return *ended;
  // Log lines carry the time of the machine, and a scenario has its own: show events says the rest.
  gang::log::configure(gang::log::Level::kOff, gang::log::Format::kText);
  const int code = flags.files.empty() ? simulate(simulate_flags) : run(flags);
  return gang::app::end_output(kProgram, code);
}
