// Config: every option of the daemon, read from YAML and flags.
//
// The file is strict: unknown and duplicate keys, wrong types and values out of range are errors
// with line and column that name the key and the mend. config/gang-scheduler.yaml documents every
// key; a test compares both. Values only.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "gang/base/log.h"
#include "gang/base/result.h"
#include "gang/binder/binder.h"
#include "gang/kube/client.h"
#include "gang/scheduler/scheduler.h"

namespace gang::app {

/// What the daemon runs with.
struct Config {
  scheduler::Options scheduler;
  binder::Options binder;
  kube::ClientOptions client;
  std::string name_space;  ///< empty = all namespaces
  std::string listen = "127.0.0.1:10261";
  log::Level log_level = log::Level::kInfo;
  log::Format log_format = log::Format::kText;
  std::map<std::string, std::string> places;  ///< "FILE:2:15" of the dotted keys that a file set
};

/// Applies a configuration text on top of `config`. `file` is named in errors.
[[nodiscard]] Result<Config> parse_config(Config config, std::string_view yaml,
                                          const std::string& file);

/// Reads the file and applies it.
[[nodiscard]] Result<Config> load_config(Config config, const std::string& path);

/// Sets one option by its dotted key ("gang.repair_deadline"), as flags do.
[[nodiscard]] Result<void> set_config(Config& config, const std::string& key,
                                      const std::string& value);

/// What came of using the value of an option, told at the place where a file set it.
[[nodiscard]] tl::unexpected<Error> at_option(const Config& config, const std::string& key,
                                              Error error);

/// Every dotted key, sorted.
[[nodiscard]] std::vector<std::string> config_keys();

/// Checks what single options cannot: limits that contradict each other. `named` are the keys that
/// were set: of two that contradict each other, a named one is told first.
[[nodiscard]] Result<void> check_config(const Config& config,
                                        const std::set<std::string>& named = {});

}  // namespace gang::app
