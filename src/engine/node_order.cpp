#include "engine/node_order.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace gang::engine {
namespace {

constexpr std::size_t kSortedAtOnce = 64;

}  // namespace

void NodeOrder::add(std::uint32_t rank, const NodeRating& rating) {
  nodes_.emplace_back(rank, rating);
}

void NodeOrder::rate(const std::vector<MemberRating>& ratings) {
  std::vector<std::pair<NodeKey, MemberRating>> rated;
  for (std::size_t i = 0; i < ratings.size(); ++i) rated.emplace_back(nodes_[i], ratings[i]);
  std::ranges::sort(rated, {}, [](const auto& one) {
    const auto& [key, rating] = one;
    return std::make_tuple(key.capacity_place(), -rating.preference, rating.waits, key.is_unused(),
                           rating.size, rating.amount, rating.spread, key);
  });
  ratings_.clear();
  for (std::size_t i = 0; i < rated.size(); ++i) {
    nodes_[i] = rated[i].first;
    ratings_.push_back(rated[i].second);
  }
}

bool NodeOrder::has(std::size_t position) {
  while (walk_ && nodes_.size() <= position) {
    if (const std::optional<NodeKey> next = walk_->next()) {
      nodes_.push_back(*next);
      sorted_ = nodes_.size();
    } else {
      walk_.reset();
    }
  }
  return position < nodes_.size();
}

std::uint32_t NodeOrder::at(std::size_t position) {
  if (position >= sorted_) {
    const auto from = nodes_.begin() + static_cast<std::ptrdiff_t>(sorted_);
    sorted_ = std::min(nodes_.size(), std::max({position + 1, 2 * sorted_, kSortedAtOnce}));
    const auto to = nodes_.begin() + static_cast<std::ptrdiff_t>(sorted_);
    if (to != nodes_.end()) std::nth_element(from, to, nodes_.end());
    std::sort(from, to);
  }
  return nodes_[position].rank();
}

NodeOrder NodeOrder::of_one(std::uint32_t rank) {
  NodeOrder order;
  order.add(rank, {});
  return order;
}

}  // namespace gang::engine
