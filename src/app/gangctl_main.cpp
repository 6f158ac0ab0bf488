// gangctl: the production scheduler on a simulated cluster, driven by scenario files.
#include <CLI/CLI.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "app/version.h"
#include "gang/sim/scenario.h"

namespace {

constexpr int kExitUsage = 2;
constexpr int kExitFailure = 1;

/// What `gangctl run` was asked for.
struct RunFlags {
  std::vector<std::string> files;
  bool rewrite = false;
  bool show = false;
};

gang::Result<std::string> read_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) return gang::fail(gang::Code::kNotFound, "cannot be read; name an existing file");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

gang::Result<void> write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::trunc);
  file << text;
  file.close();
  if (!file) return gang::fail(gang::Code::kUnavailable, "cannot be written");
  return {};
}

/// Runs one file; the result says whether its outputs were as expected.
gang::Result<bool> run_file(const std::string& path, const RunFlags& flags) {
  GANG_TRY(const std::string text, read_file(path));
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const auto mode =
      flags.rewrite ? gang::sim::ScenarioMode::kRewrite : gang::sim::ScenarioMode::kCompare;
  GANG_TRY(const gang::sim::ScenarioResult result,
           gang::sim::run_scenario(text, folder.empty() ? "." : folder, mode));
  if (flags.rewrite) {
    if (result.text != text) GANG_TRY_VOID(write_file(path, result.text));
    std::cout << (result.text == text ? "same " : "rewritten ") << path << "\n";
    return true;
  }
  if (flags.show) std::cout << result.text << "\n";
  if (!flags.show || !result.passed) {
    std::cout << (result.passed ? "ok " : "FAILED ") << path << "\n" << result.difference;
  }
  return result.passed;
}

int run(const RunFlags& flags) {
  int failed = 0;
  for (const std::string& path : flags.files) {
    const gang::Result<bool> passed = run_file(path, flags);
    if (!passed) std::cout << "FAILED " << path << "\n  " << passed.error().message << "\n";
    if (!passed || !*passed) ++failed;
  }
  if (flags.show && failed == 0) return EXIT_SUCCESS;
  std::cout << flags.files.size() - static_cast<std::size_t>(failed) << " passed, " << failed
            << " failed\n";
  return failed == 0 ? EXIT_SUCCESS : kExitFailure;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Runs the gang scheduler on a simulated cluster."};
  app.set_version_flag("--version", gang::app::kVersion);
  app.require_subcommand(1);
  RunFlags flags;
  CLI::App* run_command = app.add_subcommand("run", "Run scenario files and compare the outputs");
  run_command->add_option("FILE", flags.files, "Scenario files")->required();
  run_command->add_flag("--rewrite", flags.rewrite, "Write what came out into the files");
  run_command->add_flag("--show", flags.show, "Print the whole conversation");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? EXIT_SUCCESS : kExitUsage;
  }
  return run(flags);
}
