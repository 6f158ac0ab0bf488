#include "api/json_tree.h"

namespace gang::api {
namespace {

constexpr std::size_t kKeyBytesMax = 64;  // of a key within a path

}  // namespace

JsonTree::JsonTree(std::size_t text_size) {
  // A 2 KB pod keeps some sixty values and half of its text.
  nodes_.reserve(16 + text_size / 32);
  text_.reserve(64 + text_size / 2);
}

std::int32_t JsonTree::add(std::int32_t parent, std::string_view key, JsonType type,
                           std::string_view text) {
  JsonNode node;
  node.type = type;
  node.parent = parent;
  node.key_begin = static_cast<std::uint32_t>(text_.size());
  node.key_size = static_cast<std::uint32_t>(key.size());
  text_ += key;
  node.text_begin = static_cast<std::uint32_t>(text_.size());
  node.text_size = static_cast<std::uint32_t>(text.size());
  text_ += text;

  const auto index = static_cast<std::int32_t>(nodes_.size());
  if (parent >= 0) {
    JsonNode& above = nodes_[static_cast<std::size_t>(parent)];
    if (above.last_child < 0) {
      above.first_child = index;
    } else {
      nodes_[static_cast<std::size_t>(above.last_child)].next = index;
    }
    above.last_child = index;
  }
  nodes_.push_back(node);
  return index;
}

JsonView JsonTree::root() const {
  return nodes_.empty() ? JsonView() : JsonView(*this, 0);
}

std::string_view JsonView::text() const {
  return valid() ? tree_->slice(node().text_begin, node().text_size) : std::string_view();
}

std::string_view JsonView::key() const {
  return valid() ? tree_->slice(node().key_begin, node().key_size) : std::string_view();
}

JsonView JsonView::operator[](std::string_view key) const {
  JsonView found;
  if (!is(JsonType::kObject)) return found;
  for (JsonView child = first(); child.valid(); child = child.next()) {
    if (child.key() == key) found = child;
  }
  return found.exists() ? found : JsonView();
}

JsonView JsonView::first() const {
  return valid() ? at(node().first_child) : JsonView();
}

std::string JsonView::path() const {
  std::string path;
  if (valid()) {
    const auto is_top = [](JsonView view) {
      return view.node().parent < 0 || view.index_ == view.tree_->path_base();
    };
    for (JsonView view = *this; !is_top(view); view = view.at(view.node().parent)) {
      const JsonView above = view.at(view.node().parent);
      path.insert(0, view.step_from(above));
      if (!above.is(JsonType::kArray) && is_top(above)) path.erase(0, 1);
    }
  }
  return path.empty() ? "the object" : path;
}

std::string JsonView::step_from(JsonView above) const {
  if (!above.is(JsonType::kArray)) return "." + std::string(key().substr(0, kKeyBytesMax));
  std::size_t position = 0;
  for (JsonView v = above.first(); v.index_ != index_; v = v.next()) ++position;
  return "[" + std::to_string(position) + "]";
}

}  // namespace gang::api
