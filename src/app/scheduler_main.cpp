// gang-scheduler: the daemon's command line. Reads options, starts the Daemon, waits for a signal.
#include <CLI/CLI.hpp>

#include <csignal>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <optional>
#include <string>

#include "app/command_line.h"
#include "app/config.h"
#include "app/daemon.h"
#include "app/version.h"
#include "gang/base/log.h"

namespace {

constexpr const char* kProgram = "gang-scheduler";
constexpr int kExitFailure = 1;

/// What the command line said; flags override the file.
struct Flags {
  std::string config_path;
  bool validate = false;
  std::map<std::string, std::string> overrides;  ///< dotted key to value
};

CLI::Option* add_flag(CLI::App& app, Flags& flags, const std::string& name, const std::string& key,
                      const std::string& help) {
  return app.add_option_function<std::string>(
      name, [&flags, key](const std::string& value) { flags.overrides[key] = value; }, help);
}

/// A check of CLI11: an empty path is the trace of a variable that was not set, never a wish.
std::function<std::string(const std::string&)> unless_empty(const std::string& mend) {
  return [mend](const std::string& path) {
    return path.empty() ? "the path is empty; " + mend : std::string();
  };
}

void define_flags(CLI::App& app, Flags& flags) {
  app.add_option("--config", flags.config_path, "YAML configuration; every option is in it")
      ->check(unless_empty("name a file, or leave the flag out for the defaults"));
  add_flag(app, flags, "--kubeconfig", "client.kubeconfig",
           "How to reach the API server; without it in-cluster credentials are used")
      ->check(unless_empty("leave the flag out for in-cluster credentials"));
  add_flag(app, flags, "--listen", "listen", "ADDRESS:PORT of /metrics and the health endpoints");
  add_flag(app, flags, "--namespace", "namespace", "Schedule pods of this namespace only");
  add_flag(app, flags, "--scheduler-name", "scheduler_name", "The schedulerName that is ours");
  add_flag(app, flags, "--log-format", "log.format", "text or json");
  add_flag(app, flags, "--log-level", "log.level", "debug, info, warn or error");
  app.add_flag("--validate", flags.validate,
               "Check the configuration and the credentials, and exit");
  app.set_version_flag("--version", gang::app::kVersion);
}

gang::Result<gang::app::Config> make_config(const Flags& flags) {
  gang::app::Config config;
  if (!flags.config_path.empty()) {
    GANG_TRY(config, gang::app::load_config(std::move(config), flags.config_path));
  }
  for (const auto& [key, value] : flags.overrides) {
    GANG_TRY_VOID(gang::app::set_config(config, key, value));
  }
  GANG_TRY_VOID(gang::app::check_config(config));
  return config;
}

/// What --validate answers to a configuration that is good by itself.
gang::Result<std::string> validate(const gang::app::Config& config) {
  GANG_TRY(const bool is_checked, gang::kube::check_credentials(config.client));
  if (is_checked) return "the configuration and the credentials are valid";
  return "the configuration is valid; credentials were not checked: no kubeconfig is named and "
         "this is no pod";
}

int complain(const gang::Error& error) {
  std::cerr << kProgram << ": " << error.message << "\n";
  return kExitFailure;
}

sigset_t awaited_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGHUP);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  return signals;
}

int run(gang::app::Config config) {
  const sigset_t signals = awaited_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  gang::log::configure(config.log_level, config.log_format);
  gang::kube::initialize_transport();
  const gang::SystemClock clock;
  gang::app::Daemon daemon(std::move(config), clock);
  const gang::Result<void> started = daemon.start();
  if (!started) return complain(started.error());
  int signal = 0;
  while (sigwait(&signals, &signal) == 0 && signal == SIGHUP) {
    gang::log::info("SIGHUP: the configuration is not read again; restart to apply it");
  }
  daemon.stop();
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Schedules gangs of pods on Kubernetes: all of a gang or none.", kProgram};
  Flags flags;
  define_flags(app, flags);
  const std::optional<int> ended = gang::app::parse_command_line(app, argc, argv);
  if (ended) return *ended;
  gang::Result<gang::app::Config> config = make_config(flags);
  if (!config) return complain(config.error());
  if (flags.validate) {
    const gang::Result<std::string> verdict = validate(*config);
    if (!verdict) return complain(verdict.error());
    std::cout << *verdict << "\n";
    return gang::app::end_output(kProgram, EXIT_SUCCESS);
  }
  return run(*std::move(config));
}
