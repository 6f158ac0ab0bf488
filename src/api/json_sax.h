// parse_wanted(): JSON text to the part of it that a table of wanted keys names.
//
// Problem: objects of a cluster are mostly what no scheduler reads (managedFields, pod templates).
// Idea: a SAX handler walks the table along with the text; a member that the table does not name is
// skipped by counting brackets, so nothing is built for it and nothing recurses, however deep it
// is. Cost: one pass of the lexer. What is kept may nest at most kDepthMax levels.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "api/json_tree.h"
#include "gang/base/result.h"

namespace gang::api {

/// Levels of kept objects and arrays; deeper ones are dropped and reported as a problem.
inline constexpr std::size_t kDepthMax = 64;
/// Bytes of one object that are read at all; the API server stores 3 MiB at most.
inline constexpr std::size_t kJsonBytesMax = std::size_t{64} << 20;

/// A wanted key and the table for what is below it; without a table everything below is wanted.
/// Elements of an array are read with the array's own table. A key that ends in '*' is a prefix.
struct Want {
  std::string_view key;
  const Want* below = nullptr;
  std::size_t below_count = 0;

  constexpr explicit Want(std::string_view wanted) : key(wanted) {}
  template <std::size_t N>
  constexpr Want(std::string_view wanted, const Want (&table)[N])
      : key(wanted), below(table), below_count(N) {}
  constexpr Want(std::string_view wanted, const Want& like)
      : key(wanted), below(like.below), below_count(like.below_count) {}
};

/// What was kept of a text, and what could not be although the text is JSON.
struct ParsedJson {
  JsonTree tree;
  std::string problem;  ///< empty, or "spec.x: nested deeper ..."
};

/// Fails when `json` is no JSON object (or longer than kJsonBytesMax). Paths
/// start at the root's member that has the key of `root`, at the root itself when that is empty.
[[nodiscard]] Result<ParsedJson> parse_wanted(std::string_view json, const Want& root);

}  // namespace gang::api
