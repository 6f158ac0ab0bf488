// Splitters: cut the bytes of a watch into lines and the bytes of a list into its items.
//
// Neither parses JSON: they look at quotes, escapes and depth only, never recurse, and hold at most
// one line, or one item and the list without its items. Whatever the cut of the bytes into feed()
// calls, the same texts are handed out in the same order.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "gang/base/result.h"

namespace gang::kube {

/// Hears one piece; the view lives for the call only. Returns false to hear no more.
using PieceSink = std::function<bool(std::string_view)>;

/// Cuts a watch stream at line feeds. Blank lines are passed over; an unfinished last line is never
/// handed out. Single thread.
class LineSplitter {
 public:
  explicit LineSplitter(std::size_t bytes_max) : bytes_max_(bytes_max) {}
  /// Fails with kResourceExhausted when a line is longer than the limit; the splitter is then done.
  Result<void> feed(std::string_view bytes, const PieceSink& on_line);
  /// Forgets an unfinished line, for the next stream.
  void reset() { partial_.clear(); }
  /// Whether a part of a line waits for its end.
  [[nodiscard]] bool has_partial() const { return !partial_.empty(); }

 private:
  const std::size_t bytes_max_;
  std::string partial_;
};

/// Takes the elements of the top-level array "items" out of a list, one by one. Single thread.
///
/// After complete(), rest() is the list with an empty "items", for api::decode_list_meta(). An
/// element that is no JSON is handed out as it stands: the decoder says what is wrong with it.
class ListSplitter {
 public:
  explicit ListSplitter(std::size_t bytes_max) : bytes_max_(bytes_max) {}
  /// Fails with kInvalidArgument when the brackets do not match or something follows the list, with
  /// kResourceExhausted when an item or the rest is longer than the limit. After a failure, or once
  /// the sink returned false, the splitter must not be fed again.
  Result<void> feed(std::string_view bytes, const PieceSink& on_item);
  /// Begins with a new list.
  void reset();
  /// Whether the list has ended.
  [[nodiscard]] bool complete() const { return state_ == State::kEnd; }
  /// REQUIRES: complete().
  [[nodiscard]] const std::string& rest() const { return rest_; }

 private:
  enum class State { kStart, kOuter, kBetween, kItem, kScalar, kEnd };
  /// What one step over the input decided.
  enum class Step { kMore, kItemEnd, kError };

  bool hand_out(const PieceSink& on_item);
  Step take_run(std::string_view bytes);
  Step step(char c);
  Step step_start(char c);
  Step step_outer(char c);
  Step step_between(char c);
  Step step_item(char c);
  Step step_scalar(char c);
  [[nodiscard]] bool in_string_step(char c);
  [[nodiscard]] std::size_t string_run(std::string_view bytes) const;

  const std::size_t bytes_max_;
  State state_ = State::kStart;
  bool in_string_ = false;
  bool escaped_ = false;
  int depth_ = 0;       ///< of the outer text, or inside the current item
  std::string string_;  ///< last string at depth 1 of the outer text
  bool is_items_key_ = false;
  std::string item_;
  std::string rest_;
};

}  // namespace gang::kube
