#include "kube/watch_stream.h"

#include <algorithm>

namespace gang::kube {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

bool is_all_blank(std::string_view text) {
  return std::ranges::all_of(text, is_blank);
}

tl::unexpected<Error> too_long(const char* what, std::size_t bytes_max) {
  return fail(Code::kResourceExhausted,
              std::string(what) + " is longer than " + std::to_string(bytes_max) + " bytes");
}

}  // namespace

Result<void> LineSplitter::feed(std::string_view bytes, const PieceSink& on_line) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::string_view piece = bytes.substr(0, end);
    if (partial_.size() + piece.size() > bytes_max_) return too_long("a watch line", bytes_max_);
    if (end == std::string_view::npos) {
      partial_.append(piece);
      return {};
    }
    bytes.remove_prefix(end + 1);
    std::string whole;
    std::string_view line = piece;
    if (!partial_.empty()) {
      partial_.append(piece);
      whole.swap(partial_);
      line = whole;
    }
    if (!is_all_blank(line) && !on_line(line)) return {};
  }
  return {};
}

Result<void> ListSplitter::feed(std::string_view bytes, const PieceSink& on_item) {
  while (!bytes.empty()) {
    const std::size_t run = string_run(bytes);
    const Step result = run > 0 ? take_run(bytes.substr(0, run)) : step(bytes.front());
    bytes.remove_prefix(std::max<std::size_t>(run, 1));
    if (result == Step::kError) {
      return fail(Code::kInvalidArgument, "the list is no JSON object; its brackets do not match");
    }
    if (item_.size() > bytes_max_) return too_long("an item of a list", bytes_max_);
    if (rest_.size() > bytes_max_) return too_long("a list without its items", bytes_max_);
    if (result == Step::kItemEnd && !hand_out(on_item)) return {};
  }
  return {};
}

bool ListSplitter::hand_out(const PieceSink& on_item) {
  const bool goes_on = on_item(item_);
  item_.clear();
  return goes_on;
}

ListSplitter::Step ListSplitter::take_run(std::string_view bytes) {
  (state_ == State::kOuter ? rest_ : item_).append(bytes);
  return Step::kMore;
}

void ListSplitter::reset() {
  state_ = State::kStart;
  in_string_ = escaped_ = is_items_key_ = false;
  depth_ = 0;
  string_.clear();
  item_.clear();
  rest_.clear();
}

/// How many leading bytes are plain text inside a string, so that they can be taken as one.
std::size_t ListSplitter::string_run(std::string_view bytes) const {
  if (!in_string_ || escaped_) return 0;
  if (state_ == State::kOuter && depth_ == 1) return 0;  // the key is collected byte by byte
  return std::min(bytes.find_first_of("\"\\"), bytes.size());
}

ListSplitter::Step ListSplitter::step(char c) {
  switch (state_) {
    case State::kStart:
      return step_start(c);
    case State::kOuter:
      return step_outer(c);
    case State::kBetween:
      return step_between(c);
    case State::kItem:
      return step_item(c);
    case State::kScalar:
      return step_scalar(c);
    case State::kEnd:
      return is_blank(c) ? Step::kMore : Step::kError;
  }
  return Step::kError;
}

ListSplitter::Step ListSplitter::step_start(char c) {
  if (is_blank(c)) return Step::kMore;
  if (c != '{') return Step::kError;
  rest_.push_back(c);
  depth_ = 1;
  state_ = State::kOuter;
  return Step::kMore;
}

/// Moves the string flags over one byte; true while the byte belongs to a string.
bool ListSplitter::in_string_step(char c) {
  if (!in_string_) {
    in_string_ = c == '"';
    return in_string_;
  }
  if (escaped_) {
    escaped_ = false;
  } else if (c == '\\') {
    escaped_ = true;
  } else if (c == '"') {
    in_string_ = false;
  }
  return true;
}

ListSplitter::Step ListSplitter::step_outer(char c) {
  rest_.push_back(c);
  const bool opens = !in_string_ && c == '"';
  if (in_string_step(c)) {
    if (opens) string_.clear();
    // Eight bytes tell "items" from every longer key.
    if (depth_ == 1 && string_.size() < 8) string_.push_back(c);
    return Step::kMore;
  }
  if (c == ':' && depth_ == 1) is_items_key_ = string_ == "\"items\"";
  if (c == ',' && depth_ == 1) is_items_key_ = false;
  if (c == '[' && depth_ == 1 && is_items_key_) {
    state_ = State::kBetween;
    depth_ = 0;
    return Step::kMore;
  }
  if (c == '{' || c == '[') ++depth_;
  if (c == '}' || c == ']') --depth_;
  if (depth_ == 0) {
    if (c != '}') return Step::kError;
    state_ = State::kEnd;
  }
  return Step::kMore;
}

ListSplitter::Step ListSplitter::step_between(char c) {
  if (is_blank(c) || c == ',') return Step::kMore;
  if (c == ']') {
    rest_.push_back(c);
    depth_ = 1;
    is_items_key_ = false;
    state_ = State::kOuter;
    return Step::kMore;
  }
  if (c == '}') return Step::kError;
  const bool nested = c == '{' || c == '[';
  state_ = nested ? State::kItem : State::kScalar;
  depth_ = nested ? 1 : 0;
  item_.push_back(c);
  in_string_ = c == '"';
  return Step::kMore;
}

ListSplitter::Step ListSplitter::step_item(char c) {
  item_.push_back(c);
  if (in_string_step(c)) return Step::kMore;
  if (c == '{' || c == '[') ++depth_;
  if (c == '}' || c == ']') --depth_;
  if (depth_ > 0) return Step::kMore;
  state_ = State::kBetween;
  return Step::kItemEnd;
}

/// An element that is no object ends before a comma or the array's end.
ListSplitter::Step ListSplitter::step_scalar(char c) {
  const bool ends = !in_string_ && (c == ',' || c == ']' || c == '}');
  if (!ends) {
    item_.push_back(c);
    static_cast<void>(in_string_step(c));
    return Step::kMore;
  }
  state_ = State::kBetween;
  const Step after = step_between(c);
  return after == Step::kError ? after : Step::kItemEnd;
}

}  // namespace gang::kube
