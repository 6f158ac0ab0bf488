#include "app/config.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <system_error>

#include "app/config_options.h"
#include "gang/base/yaml_documents.h"

namespace gang::app {

namespace {

constexpr std::size_t kFileBytesMax = 1 << 20;

constexpr int kDocumentsMax = 8;

/// Walks a YAML document and sets options; remembers the file for its errors.
class Reader {
 public:
  Reader(Config& config, const std::string& file) : config_(config), file_(file) {}

  /// A problem of the whole, at the place of the option it begins with, or of another it names.
  tl::unexpected<Error> error_about(const Error& problem) const {
    const std::string& text = problem.message;
    auto found = values_.find(text.substr(0, text.find(':')));
    for (auto it = values_.begin(); found == values_.end() && it != values_.end(); ++it) {
      if (text.find(" " + it->first + ",") != std::string::npos) found = it;
    }
    if (found != values_.end()) return error(found->second, text);
    return fail(problem.code, file_ + ": " + text);
  }

  Result<void> read_map(const YAML::Node& map, const std::string& prefix) {
    std::vector<std::string> seen;
    for (const auto& entry : map) {
      if (!entry.first.IsScalar()) return error(entry.first, "a key is a word");
      const std::string key = prefix + entry.first.Scalar();
      if (std::find(seen.begin(), seen.end(), key) != seen.end()) {
        return error(entry.first, key + " is there twice; remove one");
      }
      seen.push_back(key);
      GANG_TRY_VOID(read_entry(entry.first, entry.second, key));
    }
    return {};
  }

 private:
  Result<void> read_entry(const YAML::Node& key_node, const YAML::Node& value,
                          const std::string& key) {
    const auto option = config_options().find(key);
    if (option != config_options().end()) return read_value(value, key, option->second);
    const auto group = config_options().lower_bound(key + ".");
    const bool is_group = group != config_options().end() && group->first.starts_with(key + ".");
    if (!is_group) return error(key_node, unknown(key));
    if (value.IsNull()) return {};
    if (!value.IsMap()) return error(value, key + " is a group of options; write key: value below");
    return read_map(value, key + ".");
  }

  Result<void> read_value(const YAML::Node& value, const std::string& key,
                          const ConfigOption& option) {
    std::string text;
    if (option.type == OptionType::kTextList) {
      if (!value.IsSequence()) return error(value, key + " is a list; write it in brackets");
      for (const auto& item : value) {
        if (!item.IsScalar()) return error(item, key + ": an item is a word");
        text += (text.empty() ? "" : ",") + item.Scalar();
      }
    } else {
      if (!value.IsScalar()) return error(value, key + " needs one value");
      text = value.Scalar();
      const bool is_quoted = value.Tag() == "!";
      if (option.type == OptionType::kText && !is_quoted && is_ambiguous(text)) {
        return error(value, key + ": \"" + text + "\" is ambiguous; quote it");
      }
    }
    values_[key] = value;
    const Result<void> done = option.set(config_, text);
    if (!done) return error(value, key + ": " + done.error().message);
    return {};
  }

  /// Text that YAML may read as a boolean, null or number.
  static bool is_ambiguous(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    for (const char* word :
         {"", "~", "null", "true", "false", "yes", "no", "on", "off", "y", "n"}) {
      if (text == word) return true;
    }
    return text.find_first_not_of("0123456789+-._e") == std::string::npos;
  }

  static std::string unknown(const std::string& key) {
    std::string near;
    const std::string last = key.substr(key.rfind('.') + 1);
    for (const auto& [name, option] : config_options()) {
      const bool ends_alike = name.ends_with("." + last) || name == last;
      if (ends_alike) near = ", did you mean " + name + "?";
    }
    return "there is no option " + key + near + "; every option is in config/gang-scheduler.yaml";
  }

  tl::unexpected<Error> error(const YAML::Node& node, const std::string& problem) const {
    const YAML::Mark mark = node.Mark();
    return fail(Code::kInvalidArgument, file_ + ":" + std::to_string(mark.line + 1) + ":" +
                                            std::to_string(mark.column + 1) + ": " + problem);
  }

  Config& config_;
  const std::string& file_;
  std::map<std::string, YAML::Node> values_;  ///< by key, for problems that show later
};

}  // namespace

Result<Config> parse_config(Config config, std::string_view yaml, const std::string& file) {
  if (yaml.size() > kFileBytesMax) {
    return fail(Code::kResourceExhausted, file + ": larger than 1 MiB; a configuration is small");
  }
  try {
    const std::string text(yaml);
    const bool is_endless = !has_few_documents(text, kDocumentsMax);
    const std::vector<YAML::Node> documents =
        is_endless ? std::vector<YAML::Node>(2) : YAML::LoadAll(text);
    if (documents.size() > 1) {
      return fail(Code::kInvalidArgument, file + ": more than one document; keep one");
    }
    if (documents.empty() || documents[0].IsNull()) return config;
    if (!documents[0].IsMap()) {
      return fail(Code::kInvalidArgument, file + ":1:1: a configuration is a map of options");
    }
    Reader reader(config, file);
    GANG_TRY_VOID(reader.read_map(documents[0], ""));
    const Result<void> checked = check_config(config);
    if (!checked) return reader.error_about(checked.error());
  } catch (const YAML::Exception& error) {
    return fail(Code::kInvalidArgument, file + ":" + std::to_string(error.mark.line + 1) + ":" +
                                            std::to_string(error.mark.column + 1) + ": " +
                                            error.msg + "; mend the YAML");
  }
  return config;
}

Result<Config> load_config(Config config, const std::string& path) {
  std::error_code error;
  const bool is_file = std::filesystem::is_regular_file(path, error);
  std::ifstream file(path);
  if (!is_file || !file) {
    return fail(Code::kNotFound, path + ": is no file that can be read; name one with --config");
  }
  if (std::filesystem::file_size(path, error) > kFileBytesMax) {
    return fail(Code::kResourceExhausted, path + ": larger than 1 MiB; a configuration is small");
  }
  std::stringstream text;
  text << file.rdbuf();
  return parse_config(std::move(config), text.str(), path);
}

Result<void> set_config(Config& config, const std::string& key, const std::string& value) {
  const auto option = config_options().find(key);
  if (option == config_options().end()) {
    return fail(Code::kInvalidArgument, "there is no option " + key);
  }
  Result<void> done = option->second.set(config, value);
  if (!done) return in_context(key, std::move(done).error());
  return done;
}

std::vector<std::string> config_keys() {
  std::vector<std::string> keys;
  for (const auto& [key, option] : config_options()) keys.push_back(key);
  return keys;
}

}  // namespace gang::app
