// gang-scheduler: the daemon's command line. Reads options, starts the Daemon, waits for a signal.
#include <csignal>
#include <cstdlib>
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

void define_words(gang::app::CommandLine& line, Flags& flags) {
  const auto overrides = [&flags](const std::string& key) {
    return [&flags, key](const std::string& value) { flags.overrides[key] = value; };
  };
  line.path(
      {"--config", "YAML configuration; every option is in it"},
      [&flags](const std::string& path) { flags.config_path = path; },
      "name a file, or leave the flag out for the defaults");
  line.path(
      {"--kubeconfig", "How to reach the API server; without it in-cluster credentials are used"},
      overrides("client.kubeconfig"), "leave the flag out for in-cluster credentials");
  line.option({"--listen", "ADDRESS:PORT of /metrics and the health endpoints"},
              overrides("listen"));
  line.option({"--namespace", "Schedule pods of this namespace only"}, overrides("namespace"));
  line.option({"--scheduler-name", "The schedulerName that is ours"}, overrides("scheduler_name"));
  line.option({"--log-format", "text or json"}, overrides("log.format"));
  line.option({"--log-level", "debug, info, warn or error"}, overrides("log.level"));
  line.flag({"--validate", "Check the configuration and the credentials, and exit"},
            flags.validate);
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
  gang::Result<bool> checked = gang::kube::check_credentials(config.client);
  if (!checked) {
    return gang::app::at_option(config, "client.kubeconfig", std::move(checked).error());
  }
  if (*checked) return "the configuration and the credentials are valid";
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
  gang::app::CommandLine line(kProgram,
                              "Schedules gangs of pods on Kubernetes: all of a gang or none.",
                              gang::app::kVersion);
  Flags flags;
  define_words(line, flags);
  const std::optional<int> ended = line.parse(argc, argv);
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
