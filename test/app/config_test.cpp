#include "app/config.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace gang::app {
namespace {

Result<Config> parse(const std::string& yaml) {
  return parse_config(Config{}, yaml, "f.yaml");
}

std::string refusal(const std::string& yaml) {
  const auto config = parse(yaml);
  EXPECT_FALSE(config) << yaml;
  return config ? "" : config.error().message;
}

std::string documented_file() {
  std::ifstream file(std::string(GANG_SOURCE_ROOT) + "/config/gang-scheduler.yaml");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// "group.key" and its value for every line of the documented file that holds a value.
std::vector<std::pair<std::string, std::string>> documented_options() {
  std::vector<std::pair<std::string, std::string>> options;
  std::istringstream lines(documented_file());
  std::string group;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(':');
    const std::size_t start = line.find_first_not_of(' ');
    if (colon == std::string::npos || line[start] == '#') continue;
    const std::string key = line.substr(start, colon - start);
    std::string value = line.substr(colon + 1);
    value = value.substr(0, value.find(" #"));
    value.erase(0, value.find_first_not_of(' '));
    value.erase(value.find_last_not_of(' ') + 1);
    if (start == 0) group = value.empty() ? key + "." : "";
    if (!value.empty()) options.emplace_back(group + key, value);
  }
  return options;
}

/// Every option of a configuration as text, to compare two of them.
std::string described(const Config& config) {
  std::ostringstream out;
  const auto& s = config.scheduler;
  const auto& e = s.engine;
  const auto& b = config.binder;
  out << s.scheduler_name << '|' << b.scheduler_name << '|' << config.name_space << '|'
      << config.listen << '|' << static_cast<int>(config.log_level) << '|'
      << static_cast<int>(config.log_format) << '|' << config.client.kubeconfig_path << '|'
      << config.client.request_timeout.count() << '|' << config.client.watch_idle_limit.count()
      << '|' << static_cast<int>(s.gated_members) << '|' << static_cast<int>(s.priority_mismatch)
      << '|' << s.incomplete_grace.count() << '|' << s.done_settle.count() << '|'
      << s.repair_deadline.count() << '|' << s.condition_interval.count() << '|'
      << s.safety_interval.count() << '|' << s.backoff_initial.count() << '|'
      << s.backoff_max.count() << '|' << e.weight_taint_preference << '|' << e.weight_node_affinity
      << '|' << e.weight_least_allocated << '|' << e.weight_balanced << '|'
      << e.weight_accelerator_packing << '|' << e.accelerators.size() << '|' << e.search_steps_max
      << '|' << e.class_tables_max << '|' << e.reasons_shown_max << '|' << e.toleration_comparison
      << '|' << b.writes_in_flight_max << '|' << b.commit_deadline.count() << '|'
      << b.slow_round.count() << '|' << b.retry_initial.count() << '|' << b.retry_max.count() << '|'
      << b.status_writes_per_second << '|' << b.events_per_second << '|' << b.event_queue_max;
  return out.str();
}

TEST(Config, DocumentedFileNamesEveryOptionAndNoOther) {
  std::set<std::string> documented;
  for (const auto& [key, value] : documented_options()) documented.insert(key);
  const std::vector<std::string> keys = config_keys();
  EXPECT_EQ(documented, std::set<std::string>(keys.begin(), keys.end()));
}

TEST(Config, DocumentedDefaultsAreTheDefaults) {
  const auto config = parse(documented_file());
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(described(*config), described(Config{}));
}

TEST(Config, EmptyTextChangesNothing) {
  for (const char* yaml : {"", "# only a comment\n", "---\n", "~", "log:\n", "{}"}) {
    const auto config = parse(yaml);
    ASSERT_TRUE(config) << yaml << config.error().message;
    EXPECT_EQ(described(*config), described(Config{}));
  }
}

TEST(Config, SetsOptionsOfEveryType) {
  const auto config = parse(
      "scheduler_name: trainer\nnamespace: team-a\nlog: {level: debug, format: json}\n"
      "gang:\n  gated_members: hold\n  repair_deadline: 1m30s\n"
      "scoring: {accelerators: [nvidia.com/gpu, google.com/tpu], weight_balanced: 0}\n"
      "filters: {toleration_comparison: true}\n");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->scheduler.scheduler_name, "trainer");
  EXPECT_EQ(config->binder.scheduler_name, "trainer");
  EXPECT_EQ(config->name_space, "team-a");
  EXPECT_EQ(config->log_level, log::Level::kDebug);
  EXPECT_EQ(config->log_format, log::Format::kJson);
  EXPECT_EQ(config->scheduler.gated_members, scheduler::GatedMembers::kHold);
  EXPECT_EQ(config->scheduler.repair_deadline, std::chrono::seconds(90));
  EXPECT_EQ(config->scheduler.engine.accelerators,
            std::vector<std::string>({"nvidia.com/gpu", "google.com/tpu"}));
  EXPECT_EQ(config->scheduler.engine.weight_balanced, 0);
  EXPECT_TRUE(config->scheduler.engine.toleration_comparison);
}

TEST(Config, B206RefusesWithFileLineColumnAndMend) {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"# c\nschedulerName: x\n", "f.yaml:2:1: there is no option schedulerName"},
      {"gang:\n  repair: 1m\n", "f.yaml:2:3: there is no option gang.repair"},
      {"level: info\n", "f.yaml:1:1: there is no option level, did you mean log.level?"},
      {"gang: {safety_interval: 5m}\ngang: {safety_interval: 6m}\n",
       "f.yaml:2:1: gang is there twice; remove one"},
      {"log:\n  level: info\n  level: warn\n", "f.yaml:3:3: log.level is there twice; remove one"},
      {"log: info\n", "f.yaml:1:6: log is a group of options; write key: value below"},
      {"listen: [a]\n", "f.yaml:1:9: listen needs one value"},
      {"scoring:\n  accelerators: nvidia.com/gpu\n",
       "f.yaml:2:17: scoring.accelerators is a list; write it in brackets"},
      {"scoring: {accelerators: [cpu]}\n", "\"cpu\" is not allowed; write the name of an extended"},
      {"binder: {writes_in_flight_max: 0}\n",
       "f.yaml:1:32: binder.writes_in_flight_max: \"0\" is not allowed; write a whole number from "
       "1 "
       "to 200"},
      {"binder: {writes_in_flight_max: 201}\n", "write a whole number from 1 to 200"},
      {"binder: {writes_in_flight_max: many}\n", "write a whole number from 1 to 200"},
      {"binder: {writes_in_flight_max: 1.5}\n", "write a whole number from 1 to 200"},
      {"gang: {repair_deadline: 60}\n", "\"60\" is not allowed; write a duration from 1s to"},
      {"gang: {repair_deadline: 10ms}\n", "write a duration from 1s to"},
      {"gang: {repair_deadline: 48h}\n", "write a duration from 1s to"},
      {"gang: {gated_members: maybe}\n", "\"maybe\" is not allowed; write hold or leave_out"},
      {"filters: {toleration_comparison: yes}\n", "\"yes\" is not allowed; write true or false"},
      {"scheduler_name: on\n", "f.yaml:1:17: scheduler_name: \"on\" is ambiguous; quote it"},
      {"namespace: 1e3\n", "namespace: \"1e3\" is ambiguous; quote it"},
      {"scheduler_name: \"\"\n",
       "f.yaml:1:17: scheduler_name: \"\" is no name; write the one that pods use"},
      {"scheduler_name: \"A b\"\n", "f.yaml:1:17: scheduler_name: \"A b\" is no name"},
      {"scheduler_name: a..b\n", "f.yaml:1:17: scheduler_name: \"a..b\" is no name"},
      {"namespace: \"A b\"\n", "f.yaml:1:12: namespace: \"A b\" is no name of a namespace"},
      {"namespace: team.a\n", "f.yaml:1:12: namespace: \"team.a\" is no name of a namespace"},
      {"listen: nonsense\n", "f.yaml:1:9: listen: \"nonsense\" is no ADDRESS:PORT"},
      {"listen: 127.0.0.1:99999\n", "is no ADDRESS:PORT; write one like 127.0.0.1:10261"},
      {"listen: \"10261\"\n", "is no ADDRESS:PORT"},
      {"scheduler_name: default-scheduler\n", "belongs to kube-scheduler; choose another name"},
      {"gang: {backoff_initial: 2m}\n",
       "f.yaml:1:25: gang.backoff_initial: 2m is above gang.backoff_max, 1m by default; lower the "
       "one or raise the other"},
      {"gang: {backoff_initial: 3s, backoff_max: 2s}\n",
       "f.yaml:1:42: gang.backoff_max: 2s is below gang.backoff_initial, 3s; raise the one or "
       "lower "
       "the other"},
      {"binder:\n  retry_max: 100ms\n",
       "f.yaml:2:14: binder.retry_max: 100ms is below binder.retry_initial, 200ms by default; "
       "raise the one"},
      {"client: {request_timeout: 1m}\n",
       "f.yaml:1:27: client.request_timeout: 1m is above binder.commit_deadline, 30s by default"},
      {"binder: {retry_max: 1m}\n",
       "f.yaml:1:21: binder.retry_max: 1m is above binder.commit_deadline, 30s by default"},
      {"binder: {slow_round: 30s}\n",
       "f.yaml:1:22: binder.slow_round: 30s is not below binder.commit_deadline, 30s by default; "
       "lower the one or raise the other"},
      {"binder: {commit_deadline: 10s, slow_round: 10s}\n",
       "f.yaml:1:27: binder.commit_deadline: 10s is not above binder.slow_round, 10s; raise"},
      {"client: {watch_idle_limit: 4s}\n",
       "f.yaml:1:28: client.watch_idle_limit: 4s is below client.request_timeout, 5s by default"},
      {"log: {level: info}\n---\nlog: {level: warn}\n", "f.yaml: more than one document; keep one"},
      {"[a]\n", "f.yaml:1:1: a configuration is a map of options"},
      {"words\n", "f.yaml:1:1: a configuration is a map of options"},
      {"? [a]\n: b\n", "f.yaml:1:3: a key is a word"},
      {"log: {level: info\n", "f.yaml:2:1: "},
      {"log:\n\tlevel: info\n", "f.yaml:2:"},
  };
  for (const auto& [yaml, problem] : rows) {
    const std::string message = refusal(yaml);
    EXPECT_NE(message.find(problem), std::string::npos) << message << "\nfor " << yaml;
  }
}

TEST(Config, RefusesAKeyWithADotForItCouldBeSetTwice) {
  EXPECT_EQ(refusal("gang: {repair_deadline: 2s}\ngang.repair_deadline: 1s\n"),
            "f.yaml:2:1: gang.repair_deadline is written with a dot; write it in its group, as "
            "gang: {repair_deadline: ...}");
  EXPECT_EQ(refusal("log.level: 5\n"),
            "f.yaml:1:1: log.level is written with a dot; write it in its group, as log: {level: "
            "...}");
  EXPECT_NE(refusal("log: {a.level: info}\n").find("1:7: there is no option log.a.level"),
            std::string::npos);
}

TEST(Config, TellsAnAbsentValueAtItsKey) {
  EXPECT_EQ(refusal("log: {}\nnamespace:\nscoring: {}\n"),
            "f.yaml:2:1: namespace has no value; write one or leave it out");
  EXPECT_EQ(refusal("scoring: {accelerators: ~}\n"),
            "f.yaml:1:11: scoring.accelerators has no value; write one or leave it out");
}

TEST(Config, CallsAValueAmbiguousOnlyWhereQuotesMendIt) {
  EXPECT_EQ(refusal("listen: 127.0.0.1\n"),
            "f.yaml:1:9: listen: \"127.0.0.1\" is no ADDRESS:PORT; write one like 127.0.0.1:10261 "
            "or 0.0.0.0:10261");
  EXPECT_EQ(refusal("log: {level: 5}\n"),
            "f.yaml:1:14: log.level: \"5\" is not allowed; write debug or error or info or warn");
  EXPECT_EQ(refusal("gang: {gated_members: true}\n"),
            "f.yaml:1:23: gang.gated_members: \"true\" is not allowed; write hold or leave_out");
  EXPECT_EQ(refusal("namespace: 5\n"), "f.yaml:1:12: namespace: \"5\" is ambiguous; quote it");
  ASSERT_TRUE(parse("namespace: \"5\"\n"));
}

TEST(Config, ChecksEveryNameOfAccelerators) {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"['']", "2:18: scoring.accelerators: \"\" is not allowed; write one name an item"},
      {"[a.b/c, '']", "2:25: scoring.accelerators: \"\" is not allowed"},
      {"['a.b/c,d.e/f']", "2:18: scoring.accelerators: \"a.b/c,d.e/f\" is not allowed"},
      {"[a/b/c]", "2:18: scoring.accelerators: \"a/b/c\" is not allowed; write the name of an"},
      {"[a.b/c, a.b/c]", "2:25: scoring.accelerators: \"a.b/c\" is there twice; remove one"},
  };
  for (const auto& [list, problem] : rows) {
    const std::string message = refusal("scoring:\n  accelerators: " + list + "\n");
    EXPECT_NE(message.find("f.yaml:" + problem), std::string::npos) << message;
  }
  ASSERT_TRUE(parse("scoring: {accelerators: []}\n"));
}

TEST(Config, TakesOneFormOfANumberAndOfADuration) {
  for (const char* number : {"010", "-0", "+1", "0x1", "1_0"}) {
    const std::string message = refusal("scoring: {weight_balanced: " + std::string(number) + "}");
    EXPECT_NE(message.find("write a whole number from 0 to 100"), std::string::npos) << message;
  }
  for (const char* text : {"1m1h", "1h1h", "010s", "1ms1s"}) {
    const std::string message = refusal("gang: {safety_interval: " + std::string(text) + "}");
    EXPECT_NE(message.find("write a duration from 1s to 24h"), std::string::npos) << message;
  }
}

TEST(Config, RefusesWhatIsNoTextOfUtf8) {
  EXPECT_EQ(refusal(std::string("\xFF\xFE\0", 3)),
            "f.yaml:1:1: a byte that is no UTF-8; save the file as UTF-8");
  EXPECT_EQ(refusal("# \xC3\xBC\nlisten: \xFC\n"),
            "f.yaml:2:9: a byte that is no UTF-8; save the file as UTF-8");
  EXPECT_EQ(refusal("log: {}\n\x04nonsense\n"), "f.yaml:2:1: a control character; remove it");
  EXPECT_EQ(refusal(std::string("\0", 1)), "f.yaml:1:1: a control character; remove it");
  ASSERT_TRUE(parse("\xEF\xBB\xBF# \xC3\xBC\r\nlog: {}\r\n"));
}

TEST(Config, RefusesHostileTexts) {
  EXPECT_NE(refusal(std::string(2 << 20, '#')).find("larger than 1 MiB"), std::string::npos);
  EXPECT_NE(refusal(std::string(5000, '[')), "");
  EXPECT_NE(refusal("&a {log: *a}\n").find("f.yaml:1:"), std::string::npos);
}

TEST(Config, EveryRefusedValueLeavesTheConfigurationAsItWas) {
  Config config;
  EXPECT_FALSE(set_config(config, "log.level", "loud"));
  EXPECT_FALSE(set_config(config, "no.such", "x"));
  EXPECT_FALSE(set_config(config, "listen", "127.0.0.1"));
  EXPECT_FALSE(set_config(config, "namespace", "A b"));
  EXPECT_FALSE(set_config(config, "scheduler_name", "default-scheduler"));
  EXPECT_EQ(described(config), described(Config{}));
  ASSERT_TRUE(set_config(config, "log.level", "warn"));
  EXPECT_EQ(config.log_level, log::Level::kWarn);
}

TEST(Config, NamesAFileThatIsNotThere) {
  const auto config = load_config(Config{}, "/no/such/file.yaml");
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().code, Code::kNotFound);
  EXPECT_EQ(config.error().message,
            "/no/such/file.yaml: cannot be read: No such file or directory; check the path and its "
            "rights");
  const auto folder = load_config(Config(), "/");
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().message, "/: is a directory; name a file in it");
  EXPECT_FALSE(load_config(Config(), "/dev/zero"));
  EXPECT_FALSE(load_config(Config(), "/proc/self/mem")) << "it opens, and cannot be read";
}

TEST(Config, TellsTheTabThatIndentsALine) {
  const std::string problem = "a tab indents the line; indent with spaces";
  EXPECT_EQ(refusal("log:\n\tlevel: info\n"), "f.yaml:2:1: " + problem);
  EXPECT_EQ(refusal("log:\n  \tlevel: info\n"), "f.yaml:2:3: " + problem);
}

TEST(Config, RemembersWhereTheFileSetAnOption) {
  const Error error{Code::kNotFound, "no such file"};
  auto config = parse("client:\n  kubeconfig: /x\n");
  ASSERT_TRUE(config);
  EXPECT_EQ(at_option(*config, "client.kubeconfig", error).value().message,
            "f.yaml:2:15: client.kubeconfig: no such file");
  EXPECT_EQ(at_option(*config, "listen", error).value(), error) << "not in the file";
  ASSERT_TRUE(set_config(*config, "client.kubeconfig", "/y"));
  EXPECT_EQ(at_option(*config, "client.kubeconfig", error).value(), error) << "a flag's now";
}

}  // namespace
}  // namespace gang::app
