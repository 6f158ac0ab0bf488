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
#include "gang/base/file.h"
#include "gang/base/log.h"
#include "gang/sim/scenario.h"
#include "gang/sim/trace.h"

namespace {

constexpr const char* kProgram = "gangctl";
constexpr int kExitFailure = 1;
constexpr std::size_t kFileBytesMax = 64U << 20U;

/// What `gangctl run` was asked for.
struct RunFlags {
  std::vector<std::string> files;
  bool rewrite = false;
  bool show = false;
};

gang::Result<std::string> read_text(const std::string& path) {
  return gang::read_file(path, kFileBytesMax);
}

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
  GANG_TRY(const std::string text, read_text(path));
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
  std::string seeds = "10";
  std::string fleet;
  std::string load = "95";
  [[nodiscard]] std::vector<std::string> policies() const {
    return policy.empty() ? std::vector<std::string>() : std::vector<std::string>{policy};
  }
};

/// A number from 1 to `most`.
gang::Result<std::int32_t> parse_count(const std::string& option, const std::string& text,
                                       std::int32_t most) {
  std::int32_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  const bool is_number = error == std::errc() && stopped == end;
  if (is_number && number >= 1 && number <= most) return number;
  return gang::fail(gang::Code::kInvalidArgument,
                    option + "=" + text + ": write a number from 1 to " + std::to_string(most));
}

/// Prints the lines of each list as soon as they are known.
gang::Result<void> simulate_pods(const SimulateFlags& flags) {
  gang::sim::TraceOptions options{.policies = flags.policies()};
  GANG_TRY(options.seeds, parse_count("--seeds", flags.seeds, 1'000));
  if (flags.nodes.empty()) {
    return gang::fail(gang::Code::kInvalidArgument,
                      "--nodes or --fleet is missing; give the table of the fleet's nodes for "
                      "pods, or a number of nodes for jobs");
  }
  GANG_TRY(const std::string nodes, read_text(flags.nodes));
  std::string published;
  if (!flags.published.empty()) {
    GANG_TRY(published, read_text(flags.published));
  }
  std::cout << gang::sim::pod_trace_head();
  for (const std::string& path : flags.files) {
    GANG_TRY(const std::string pods, read_text(path));
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

gang::Result<void> simulate_gangs(const SimulateFlags& flags) {
  gang::sim::GangTrace trace;
  GANG_TRY(const std::int32_t nodes, parse_count("--fleet", flags.fleet, 100'000));
  trace.node_count = static_cast<std::uint32_t>(nodes);
  GANG_TRY(trace.load_percent, parse_count("--load", flags.load, 1'000));
  std::cout << gang::sim::gang_trace_head();
  for (const std::string& path : flags.files) {
    GANG_TRY(const std::string jobs, read_text(path));
    trace.jobs = jobs;
    gang::Result<std::string> lines = gang::sim::play_gangs(trace, flags.policies());
    if (!lines) return gang::in_context(path, std::move(lines).error());
    std::cout << *lines << std::flush;
  }
  return {};
}

int simulate(const SimulateFlags& flags) {
  const gang::Result<void> done =
      flags.fleet.empty() ? simulate_pods(flags) : simulate_gangs(flags);
  if (done) return EXIT_SUCCESS;
  std::cerr << "gangctl: " << done.error().message << "\n";
  return gang::app::kExitUsage;
}

void define_simulate(gang::app::CommandLine& line, SimulateFlags& flags) {
  line.command({"simulate", "Play public traces with the engine and with plain references"});
  const auto keep = [](std::string& in) { return [&in](const std::string& text) { in = text; }; };
  line.rest({"FILE", "Lists of pods, or of jobs: tables of comma-separated values"}, flags.files);
  line.path({"--nodes", "For pods: the table of the fleet's nodes"}, keep(flags.nodes),
            "give the table of nodes");
  line.path({"--published", "The table of published allocations, to be told beside ours"},
            keep(flags.published), "give the table of published allocations");
  line.option({"--seeds", "Orders of arrival of which the mean is told; 10 if not said"},
              keep(flags.seeds));
  line.path({"--fleet", "For jobs: the number of nodes with 8 GPUs each"}, keep(flags.fleet),
            "give a number of nodes");
  line.option({"--load", "Per cent of the fleet that the jobs want; 95 if not said"},
              keep(flags.load));
  line.option({"--policy", "Only this one, engine or a reference; all if not said"},
              keep(flags.policy));
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
