#include "sim/scenario_parser.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

namespace gang::sim {

namespace {

constexpr std::size_t kTextBytesMax = 16 << 20;
constexpr std::size_t kPatternMax = 253 + 1 + 63;  ///< a name, "/", a namespace
constexpr Duration kSpanMax = std::chrono::hours(24 * 365);
constexpr std::string_view kSeparator = "----";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    while (line.ends_with('\r')) line.remove_suffix(1);
    lines.emplace_back(line);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return lines;
}

std::string at_line(std::size_t index, const std::string& problem) {
  return "line " + std::to_string(index + 1) + ": " + problem;
}

bool is_blank(const std::string& line) {
  return std::all_of(line.begin(), line.end(), [](unsigned char c) { return std::isspace(c); });
}

/// Blanks behind it are not seen in an editor, and count for nothing.
bool is_separator(std::string_view line) {
  while (line.ends_with(' ') || line.ends_with('\t')) line.remove_suffix(1);
  return line == kSeparator;
}

/// Fails on the first line with a control character: a binary file, or one in another encoding.
Result<void> check_text(const std::vector<std::string>& lines) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool has_control = std::any_of(lines[i].begin(), lines[i].end(), [](unsigned char c) {
      return (c < 0x20 && c != '\t') || c == 0x7f;
    });
    if (has_control) {
      return fail(Code::kInvalidArgument,
                  at_line(i, "a control character: this is no text; write it in UTF-8"));
    }
  }
  return {};
}

/// The outputs that are expected below a "----", up to an empty line.
Result<void> read_expected(const std::vector<std::string>& lines, std::size_t& at, Block& block) {
  for (; at < lines.size() && !is_blank(lines[at]); ++at) {
    if (is_separator(lines[at])) {
      return fail(Code::kInvalidArgument,
                  at_line(at,
                          "a second \"----\" in one block; write an empty line before its "
                          "command"));
    }
    block.expected.push_back(lines[at]);
  }
  return {};
}

/// The word at `at`, and `at` behind it. key="a value" may hold blanks; its quotes are left out.
Result<std::string> next_word(const std::string& line, std::size_t& at) {
  const std::size_t end = std::min(line.find_first_of(" \t", at), line.size());
  const std::size_t open = line.find("=\"", at);
  if (open >= end || line.find('=', at) != open) {
    return line.substr(std::exchange(at, end), end - at);
  }
  const std::string key = line.substr(at, open - at + 1);
  const std::size_t close = line.find('"', open + 2);
  const bool is_closed = close != std::string::npos &&
                         (close + 1 == line.size() || is_blank(line.substr(close + 1, 1)));
  if (!is_closed) {
    return fail(Code::kInvalidArgument, key + " has a quote that does not end its word; write " +
                                            key + "\"...\", with ' inside");
  }
  at = close + 1;
  return key + line.substr(open + 2, close - open - 2);
}

}  // namespace

std::optional<int> parse_number(std::string_view text) {
  int value = 0;
  if (text.empty()) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Result<ScenarioText> parse_scenario(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (text.empty()) {
    return fail(Code::kInvalidArgument,
                "is empty; write a comment that says what it shows, then "
                "commands");
  }
  if (text.size() > kTextBytesMax) {
    return fail(Code::kResourceExhausted, "is larger than 16 MiB; a scenario is small");
  }
  const std::vector<std::string> lines = split_lines(text);
  GANG_TRY_VOID(check_text(lines));
  ScenarioText scenario;
  std::size_t at = 0;
  while (at < lines.size() && lines[at].starts_with("#")) scenario.comment.push_back(lines[at++]);
  if (scenario.comment.empty()) {
    return fail(
        Code::kInvalidArgument,
        at_line(0, "a scenario starts with a comment that says what it shows and why; write one"));
  }
  while (at < lines.size()) {
    if (is_blank(lines[at])) {
      ++at;
      continue;
    }
    Block block;
    block.line = static_cast<int>(at) + 1;
    block.command = lines[at++];
    if (block.command.starts_with("#")) {
      return fail(Code::kInvalidArgument,
                  at_line(at - 1, "a comment stands at the top of the file only; move it there"));
    }
    if (at >= lines.size() || !is_separator(lines[at])) {
      return fail(Code::kInvalidArgument,
                  at_line(at - 1, "the command is not followed by a line \"----\"; write one"));
    }
    ++at;
    GANG_TRY_VOID(read_expected(lines, at, block));
    scenario.blocks.push_back(std::move(block));
  }
  if (scenario.blocks.empty()) {
    return fail(Code::kInvalidArgument, "the scenario has no command; write one, then \"----\"");
  }
  return scenario;
}

std::string format_scenario(const ScenarioText& scenario,
                            const std::vector<std::vector<std::string>>& outputs) {
  std::string text;
  for (const std::string& line : scenario.comment) text += line + "\n";
  for (std::size_t i = 0; i < scenario.blocks.size(); ++i) {
    text +=
        (i == 0 ? "" : "\n") + scenario.blocks[i].command + "\n" + std::string(kSeparator) + "\n";
    for (const std::string& line : outputs[i]) text += line + "\n";
  }
  return text;
}

Result<Command> Command::parse(const std::string& line) {
  Command command;
  std::size_t at = 0;
  while (at < line.size()) {
    if (line[at] == ' ' || line[at] == '\t') {
      ++at;
      continue;
    }
    GANG_TRY(const std::string word, next_word(line, at));
    const std::size_t equals = word.find('=');
    if (command.verb_.empty()) {
      command.verb_ = word;
    } else if (equals == std::string::npos) {
      command.words_.push_back(word);
    } else if (equals == 0) {
      return fail(Code::kInvalidArgument, command.verb_ + ": \"" + word +
                                              "\" has no key before the \"=\"; write key=value");
    } else {
      command.options_.emplace_back(word.substr(0, equals), word.substr(equals + 1));
    }
  }
  if (command.verb_.empty()) return fail(Code::kInvalidArgument, "the command is empty");
  return command;
}

const std::string* Command::option(std::string_view key) const {
  for (const auto& [name, value] : options_) {
    if (name == key) return &value;
  }
  return nullptr;
}

bool Command::has_word(std::string_view word) const {
  return std::find(words_.begin(), words_.end(), word) != words_.end();
}

Result<int> Command::number(std::string_view key, int otherwise, Range range) const {
  const std::string* text = option(key);
  if (text == nullptr) return otherwise;
  const std::optional<int> value = parse_number(*text);
  if (value && *value >= range.low && *value <= range.high) return *value;
  return fail(Code::kInvalidArgument,
              std::string(key) + "=" + *text + " is not allowed; write a whole number from " +
                  std::to_string(range.low) + " to " + std::to_string(range.high));
}

Result<Duration> parse_span(const std::string& text) {
  Result<Duration> span = parse_duration(text);
  if (!span || *span <= kSpanMax) return span;
  return fail(Code::kInvalidArgument,
              text + " is longer than " + format_duration(kSpanMax) + ", the most; write less");
}

Result<std::vector<std::string>> expand_names(const std::string& pattern) {
  const std::size_t open = pattern.find('[');
  if (open == std::string::npos) return std::vector<std::string>{pattern};
  if (pattern.size() > kPatternMax) {
    return fail(Code::kInvalidArgument,
                "a name of " + std::to_string(pattern.size()) +
                    " characters, more than the 253 that are allowed; write a shorter one");
  }
  const std::size_t dash = pattern.find('-', open);
  const std::size_t close = pattern.find(']', open);
  const auto bad = [&] {
    return fail(Code::kInvalidArgument,
                "\"" + pattern + "\" is not a name range; write one like n[1-3]");
  };
  const bool is_range = dash != std::string::npos && close != std::string::npos && dash < close;
  if (!is_range || pattern.find('[', open + 1) != std::string::npos) return bad();
  const std::string low = pattern.substr(open + 1, dash - open - 1);
  const std::optional<int> first = parse_number(low);
  const std::optional<int> last = parse_number(pattern.substr(dash + 1, close - dash - 1));
  if (!first || !last || *last < *first || *first < 0) return bad();
  if (*last - *first >= kNamesMax) {
    return fail(Code::kResourceExhausted,
                "\"" + pattern +
                    "\" stands for more than 100000 names, the most; write a smaller "
                    "range");
  }
  std::vector<std::string> names;
  for (std::int64_t i = *first; i <= *last; ++i) {
    std::string digits = std::to_string(i);
    if (low.starts_with('0') && digits.size() < low.size()) {
      digits.insert(0, low.size() - digits.size(), '0');
    }
    names.push_back(pattern.substr(0, open) + digits + pattern.substr(close + 1));
  }
  return names;
}

}  // namespace gang::sim
