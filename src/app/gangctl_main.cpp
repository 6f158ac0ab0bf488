// gangctl: the production scheduler on a simulated cluster, driven by scenario files.
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

}  // namespace

int main(int argc, char** argv) {
  gang::app::CommandLine line(kProgram, "Runs the gang scheduler on a simulated cluster.",
                              gang::app::kVersion);
  RunFlags flags;
  line.command({"run", "Run scenario files and compare the outputs"});
  line.rest({"FILE", "Scenario files"}, flags.files);
  line.flag({"--rewrite", "Write what came out into the files"}, flags.rewrite);
  line.flag({"--show", "Print the whole conversation"}, flags.show);
  const std::optional<int> ended = line.parse(argc, argv);
  if (ended) return *ended;
  // Log lines carry the time of the machine, and a scenario has its own: show events says the rest.
  gang::log::configure(gang::log::Level::kOff, gang::log::Format::kText);
  return gang::app::end_output(kProgram, run(flags));
}
