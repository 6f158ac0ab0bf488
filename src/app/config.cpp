#include "app/config.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "app/config_options.h"
#include "gang/base/file.h"
#include "gang/base/utf8.h"
#include "gang/base/yaml_documents.h"

namespace gang::app {

namespace {

constexpr std::size_t kFileBytesMax = 1 << 20;

constexpr int kDocumentsMax = 8;

/// Walks a YAML document and sets options; remembers the file for its errors.
class Reader {
 public:
  Reader(Config& config, const std::string& file) : config_(config), file_(file) {}

  /// Checks the whole; a problem is told at the place of the option it begins with.
  Result<void> check_whole() const {
    std::set<std::string> named;
    for (const auto& [key, value] : values_) named.insert(key);
    const Result<void> checked = check_config(config_, named);
    if (checked) return {};
    const std::string& text = checked.error().message;
    const auto found = values_.find(text.substr(0, text.find(':')));
    if (found != values_.end()) return error(found->second, text);
    return fail(checked.error().code, file_ + ": " + text);
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
    if (option != config_options().end()) {
      if (key_node.Scalar().find('.') != std::string::npos) return error(key_node, dotted(key));
      // An absent value stands nowhere: the reader of YAML places it at the next line.
      if (value.IsNull()) return error(key_node, key + " has no value; write one or leave it out");
      return read_value(value, key, option->second);
    }
    const auto group = config_options().lower_bound(key + ".");
    const bool is_group = group != config_options().end() && group->first.starts_with(key + ".");
    if (!is_group) return error(key_node, unknown(key));
    if (value.IsNull()) return {};
    if (!value.IsMap()) return error(value, key + " is a group of options; write key: value below");
    return read_map(value, key + ".");
  }

  Result<void> read_value(const YAML::Node& value, const std::string& key,
                          const ConfigOption& option) {
    values_[key] = value;
    config_.places[key] = place_of(value);
    if (option.type == OptionType::kTextList) return read_list(value, key, option);
    if (!value.IsScalar()) return error(value, key + " needs one value");
    const std::string& text = value.Scalar();
    const Result<void> done = option.set(config_, text);
    if (!done) return error(value, key + ": " + done.error().message);
    // Only of a value that would do: quotes mend no other.
    const bool is_quoted = value.Tag() == "!";
    if (option.type == OptionType::kText && !is_quoted && is_ambiguous(text)) {
      return error(value, key + ": \"" + text + "\" is ambiguous; quote it");
    }
    return {};
  }

  /// Each item is tried alone first, so that a wrong one is told at its place.
  Result<void> read_list(const YAML::Node& list, const std::string& key,
                         const ConfigOption& option) {
    if (!list.IsSequence()) return error(list, key + " is a list; write it in brackets");
    std::set<std::string> items;
    std::string text;
    for (const auto& item : list) {
      if (!item.IsScalar()) return error(item, key + ": an item is a word");
      const std::string& word = item.Scalar();
      const Result<void> done = option.set(config_, word);
      if (!done) return error(item, key + ": " + done.error().message);
      if (word.empty() || word.find(',') != std::string::npos) {
        return error(item, key + ": \"" + word + "\" is not allowed; write one name an item");
      }
      const bool is_new = items.insert(word).second;
      if (!is_new) return error(item, key + ": \"" + word + "\" is there twice; remove one");
      text += (text.empty() ? "" : ",") + word;
    }
    return option.set(config_, text);
  }

  /// Of an option whose group is written with a dot, where it could be set a second time.
  static std::string dotted(const std::string& key) {
    const std::size_t dot = key.find('.');
    return key + " is written with a dot; write it in its group, as " + key.substr(0, dot) + ": {" +
           key.substr(dot + 1) + ": ...}";
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

  std::string place_of(const YAML::Node& node) const {
    const YAML::Mark mark = node.Mark();
    return file_ + ":" + std::to_string(mark.line + 1) + ":" + std::to_string(mark.column + 1);
  }

  tl::unexpected<Error> error(const YAML::Node& node, const std::string& problem) const {
    return fail(Code::kInvalidArgument, place_of(node) + ": " + problem);
  }

  Config& config_;
  const std::string& file_;
  std::map<std::string, YAML::Node> values_;  ///< by key, for problems that show later
};

/// The text has nothing that no configuration has. The reader of YAML takes other encodings for
/// UTF-8 or UTF-16, and a control character for the end.
Result<void> check_characters(std::string_view text, const std::string& file) {
  int line = 1;
  int column = 1;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const auto lead = static_cast<unsigned char>(text[0]);
    const bool is_blank = lead == '\t' || lead == '\n' || lead == '\r';
    if (length == 0 || (lead < ' ' && !is_blank)) {
      const char* problem = length == 0 ? "a byte that is no UTF-8; save the file as UTF-8"
                                        : "a control character; remove it";
      return fail(Code::kInvalidArgument, file + ":" + std::to_string(line) + ":" +
                                              std::to_string(column) + ": " + problem);
    }
    column = lead == '\n' ? 1 : column + 1;
    if (lead == '\n') ++line;
    text.remove_prefix(length);
  }
  return {};
}

}  // namespace

Result<Config> parse_config(Config config, std::string_view yaml, const std::string& file) {
  if (yaml.size() > kFileBytesMax) {
    return fail(Code::kResourceExhausted, file + ": larger than 1 MiB; a configuration is small");
  }
  GANG_TRY_VOID(check_characters(yaml, file));
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
    GANG_TRY_VOID(reader.check_whole());
  } catch (const YAML::Exception& error) {
    const YamlFault fault = yaml_fault(
        yaml, {error.mark.line + 1, error.mark.column + 1, error.msg + "; mend the YAML"});
    return fail(Code::kInvalidArgument, file + ":" + std::to_string(fault.line) + ":" +
                                            std::to_string(fault.column) + ": " + fault.problem);
  }
  return config;
}

Result<Config> load_config(Config config, const std::string& path) {
  GANG_TRY(const std::string text, read_file(path, kFileBytesMax));
  return parse_config(std::move(config), text, path);
}

Result<void> set_config(Config& config, const std::string& key, const std::string& value) {
  const auto option = config_options().find(key);
  if (option == config_options().end()) {
    return fail(Code::kInvalidArgument, "there is no option " + key);
  }
  Result<void> done = option->second.set(config, value);
  if (!done) return in_context(key, std::move(done).error());
  config.places.erase(key);
  return done;
}

tl::unexpected<Error> at_option(const Config& config, const std::string& key, Error error) {
  const auto place = config.places.find(key);
  if (place == config.places.end()) return tl::unexpected<Error>(std::move(error));
  return in_context(place->second + ": " + key, std::move(error));
}

std::vector<std::string> config_keys() {
  std::vector<std::string> keys;
  for (const auto& [key, option] : config_options()) keys.push_back(key);
  return keys;
}

}  // namespace gang::app
