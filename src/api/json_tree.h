// JsonTree: the wanted part of one JSON text as a flat arena; JsonView: a cursor into it.
//
// Nodes are appended in text order and refer to each other by index, so building and dropping a
// tree costs two or three allocations and never recurses. Absent members, null and an empty view
// are the same thing. Of duplicate keys the last wins. No third-party type, no exceptions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gang::api {

enum class JsonType : std::uint8_t { kNull, kFalse, kTrue, kNumber, kString, kObject, kArray };

/// One value: where its key and its text lie in the arena, and its neighbours (-1 = none).
struct JsonNode {
  JsonType type = JsonType::kNull;
  std::uint32_t key_begin = 0;
  std::uint32_t key_size = 0;
  std::uint32_t text_begin = 0;  ///< strings unescaped, numbers as written
  std::uint32_t text_size = 0;
  std::int32_t parent = -1;
  std::int32_t first_child = -1;
  std::int32_t last_child = -1;
  std::int32_t next = -1;
};

class JsonView;

/// Owned by one decode call; a view of it must not outlive it. One thread. Node 0 is the root.
class JsonTree {
 public:
  explicit JsonTree(std::size_t text_size);

  /// Appends a node under `parent` (-1 for the root) and returns its index.
  std::int32_t add(std::int32_t parent, std::string_view key, JsonType type,
                   std::string_view text = {});

  [[nodiscard]] JsonView root() const;
  /// Makes paths start below that node instead of the root.
  void start_paths_at(std::int32_t index) { path_base_ = index; }
  [[nodiscard]] std::int32_t path_base() const { return path_base_; }
  [[nodiscard]] const JsonNode& node(std::int32_t index) const {
    return nodes_[static_cast<std::size_t>(index)];
  }
  [[nodiscard]] std::string_view slice(std::uint32_t begin, std::uint32_t size) const {
    return std::string_view(text_).substr(begin, size);
  }

 private:
  std::vector<JsonNode> nodes_;
  std::string text_;
  std::int32_t path_base_ = 0;
};

/// A value of a tree, or nothing. Cheap to copy; valid as long as the tree.
class JsonView {
 public:
  JsonView() = default;
  JsonView(const JsonTree& tree, std::int32_t index) : tree_(&tree), index_(index) {}

  /// False for an absent member and for null.
  [[nodiscard]] bool exists() const { return tree_ != nullptr && type() != JsonType::kNull; }
  /// REQUIRES: exists().
  [[nodiscard]] JsonType type() const { return node().type; }
  [[nodiscard]] bool is(JsonType wanted) const { return exists() && type() == wanted; }
  /// Text of a string or number; empty otherwise.
  [[nodiscard]] std::string_view text() const;
  /// Key under which the value stands; empty for array elements and the root.
  [[nodiscard]] std::string_view key() const;

  /// The last member of that key, nothing when this is no object or has none.
  [[nodiscard]] JsonView operator[](std::string_view key) const;

  /// "spec.containers[0].name" below where paths start; "the object" for that place itself.
  [[nodiscard]] std::string path() const;

  /// Walks the children in text order: for (JsonView v = first(); v.valid(); v = v.next()).
  [[nodiscard]] JsonView first() const;
  [[nodiscard]] JsonView next() const { return at(node().next); }
  /// True also for null, unlike exists().
  [[nodiscard]] bool valid() const { return tree_ != nullptr; }

 private:
  [[nodiscard]] const JsonNode& node() const { return tree_->node(index_); }
  /// ".key" or "[position]" below the parent.
  [[nodiscard]] std::string step_from(JsonView above) const;
  [[nodiscard]] JsonView at(std::int32_t index) const {
    return index < 0 ? JsonView() : JsonView(*tree_, index);
  }

  const JsonTree* tree_ = nullptr;
  std::int32_t index_ = -1;
};

}  // namespace gang::api
