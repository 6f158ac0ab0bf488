#include "api/json_sax.h"

#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

namespace gang::api {
namespace {

constexpr int kNumberOutOfRange = 406;  // nlohmann's id of a number that no double can hold

/// nlohmann's SAX interface over a table of wanted keys. Lives for one parse.
/// Always: frames_ holds the kept containers that are open; skipped_ counts open brackets of a
/// subtree that is not kept. Never throws, except for want of memory.
class WantedHandler {
 public:
  WantedHandler(JsonTree& tree, const Want& root) : tree_(tree), root_(root) {}

  bool null() { return scalar(JsonType::kNull, {}); }
  bool boolean(bool value) { return scalar(value ? JsonType::kTrue : JsonType::kFalse, {}); }
  bool number_integer(std::int64_t value) { return number(value); }
  bool number_unsigned(std::uint64_t value) { return number(value); }
  bool number_float(double, const std::string& text) { return scalar(JsonType::kNumber, text); }
  bool string(const std::string& text) { return scalar(JsonType::kString, text); }
  bool binary(const nlohmann::json::binary_t&) { return false; }

  bool start_object(std::size_t) { return open(JsonType::kObject); }
  bool start_array(std::size_t) { return open(JsonType::kArray); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  bool key(const std::string& text) {
    if (skipped_ > 0) return true;
    wanted_ = find(frames_.back().want, text);
    key_ = text;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception& e) {
    out_of_range_ = e.id == kNumberOutOfRange;
    error_position_ = position;
    return false;
  }

  [[nodiscard]] std::size_t error_position() const { return error_position_; }
  /// The text was JSON up to a number that cannot be read: what came before it is in the tree.
  [[nodiscard]] bool is_out_of_range() const { return out_of_range_; }
  [[nodiscard]] std::string take_problem() { return std::move(problem_); }

 private:
  struct Frame {
    std::int32_t node;
    const Want* want;
  };

  static const Want* find(const Want* table, std::string_view key) {
    if (table->below == nullptr) return table;
    for (std::size_t i = 0; i < table->below_count; ++i) {
      const Want& want = table->below[i];
      if (want.key == key) return &want;
      if (want.key.ends_with('*') && key.starts_with(want.key.substr(0, want.key.size() - 1))) {
        return &want;
      }
    }
    return nullptr;
  }

  /// The table for the value that comes now, or null when it is not kept.
  [[nodiscard]] const Want* current() const {
    if (frames_.empty()) return &root_;
    const bool in_array = tree_.node(frames_.back().node).type == JsonType::kArray;
    return in_array ? frames_.back().want : wanted_;
  }

  std::int32_t add(JsonType type, std::string_view text) {
    if (frames_.empty()) return tree_.add(-1, {}, type, text);
    const std::int32_t parent = frames_.back().node;
    if (tree_.node(parent).type == JsonType::kArray) return tree_.add(parent, {}, type, text);
    const std::int32_t index = tree_.add(parent, key_, type, text);
    const bool paths_start = frames_.size() == 1 && !root_.key.empty() && key_ == root_.key;
    if (paths_start) tree_.start_paths_at(index);
    return index;
  }

  bool scalar(JsonType type, std::string_view text) {
    if (skipped_ == 0 && current() != nullptr) add(type, text);
    return true;
  }

  template <class Integer>
  bool number(Integer value) {
    if (skipped_ > 0) return true;
    char digits[24];
    const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value);
    return scalar(JsonType::kNumber,
                  std::string_view(digits, static_cast<std::size_t>(end - digits)));
  }

  bool open(JsonType type) {
    const Want* want = skipped_ > 0 ? nullptr : current();
    if (want != nullptr && frames_.size() >= kDepthMax) {
      const JsonView here(tree_, frames_.back().node);
      if (problem_.empty()) {
        problem_ = here.path() + ": nested deeper than " + std::to_string(kDepthMax) +
                   " levels; make it flatter";
      }
      want = nullptr;
    }
    if (want == nullptr) {
      ++skipped_;
    } else {
      frames_.push_back({add(type, {}), want});
    }
    return true;
  }

  bool close() {
    if (skipped_ > 0) {
      --skipped_;
    } else {
      frames_.pop_back();
    }
    return true;
  }

  JsonTree& tree_;
  const Want& root_;
  std::vector<Frame> frames_;
  std::size_t skipped_ = 0;
  const Want* wanted_ = nullptr;
  std::string key_;
  std::string problem_;
  std::size_t error_position_ = 0;
  bool out_of_range_ = false;
};

}  // namespace

Result<ParsedJson> parse_wanted(std::string_view json, const Want& root) {
  if (json.size() > kJsonBytesMax) {
    return fail(Code::kResourceExhausted, "the object is larger than 64 MiB; make it smaller");
  }
  // The lexer takes a zero byte for the end and would not see what follows.
  if (const std::size_t zero = json.find('\0'); zero != std::string_view::npos) {
    return fail(Code::kInvalidArgument, "not JSON: a zero byte at byte " + std::to_string(zero) +
                                            "; send one complete JSON object");
  }
  ParsedJson parsed{JsonTree(json.size()), {}};
  WantedHandler handler(parsed.tree, root);
  const bool complete = nlohmann::json::sax_parse(json.data(), json.data() + json.size(), &handler);
  if (!complete && !handler.is_out_of_range()) {
    return fail(Code::kInvalidArgument, "not JSON: wrong at byte " +
                                            std::to_string(handler.error_position()) +
                                            "; send one complete JSON object");
  }
  if (!parsed.tree.root().is(JsonType::kObject)) {
    return fail(Code::kInvalidArgument, "not a JSON object; send one object in braces");
  }
  parsed.problem = handler.take_problem();
  if (!complete) {
    parsed.problem = "the object: a number before byte " +
                     std::to_string(handler.error_position()) +
                     " is out of range; write it as a string or smaller";
  }
  return parsed;
}

}  // namespace gang::api
