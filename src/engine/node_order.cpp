#include "engine/node_order.h"

#include <algorithm>
#include <limits>

namespace gang::engine {
namespace {

// Fields of Node::devices, from the highest bit.
constexpr std::uint32_t kCapacityBits = 16;
constexpr std::uint32_t kPreferenceBits = 9;
constexpr std::uint32_t kSizeBits = 14;
constexpr std::uint32_t kFreeBits = 24;
constexpr std::uint32_t kPreferenceShift = 1 + kSizeBits + kFreeBits;
constexpr std::uint64_t kRatedMask =
    (((std::uint64_t{1} << kPreferenceBits) - 1) << kPreferenceShift) |
    (((std::uint64_t{1} << kSizeBits) - 1) << kFreeBits);
constexpr std::size_t kSortedAtOnce = 64;

std::uint64_t up(std::int32_t value, std::uint32_t bits) {
  const std::int64_t most = (std::int64_t{1} << bits) - 1;
  return static_cast<std::uint64_t>(std::clamp<std::int64_t>(value, 0, most));
}

/// The most first.
std::uint64_t down(std::int32_t value, std::uint32_t bits) {
  return (std::uint64_t{1} << bits) - 1 - up(value, bits);
}

std::uint64_t rated(const NodeRating& rating) {
  return down(rating.preference, kPreferenceBits) << kPreferenceShift | up(rating.size, kSizeBits)
                                                                            << kFreeBits;
}

}  // namespace

void NodeOrder::add(std::uint32_t rank, const NodeRating& rating) {
  const std::uint64_t capacity = down(rating.capacity, kCapacityBits);
  const std::uint64_t unused = rating.is_unused ? 1 : 0;
  nodes_.push_back({.devices = capacity << (kPreferenceShift + kPreferenceBits) |
                               unused << (kSizeBits + kFreeBits) | rated(rating) |
                               up(rating.free, kFreeBits),
                    .score = down(rating.score, 31) << 32 | rank});
}

void NodeOrder::rate(const std::vector<NodeRating>& ratings) {
  for (std::size_t i = 0; i < ratings.size(); ++i) {
    nodes_[i].devices = (nodes_[i].devices & ~kRatedMask) | rated(ratings[i]);
  }
  sorted_ = 0;
}

std::uint32_t NodeOrder::at(std::size_t position) {
  if (position >= sorted_) {
    const auto from = nodes_.begin() + static_cast<std::ptrdiff_t>(sorted_);
    sorted_ = std::min(nodes_.size(), std::max({position + 1, 2 * sorted_, kSortedAtOnce}));
    const auto to = nodes_.begin() + static_cast<std::ptrdiff_t>(sorted_);
    if (to != nodes_.end()) std::nth_element(from, to, nodes_.end());
    std::sort(from, to);
  }
  return static_cast<std::uint32_t>(nodes_[position].score &
                                    std::numeric_limits<std::uint32_t>::max());
}

std::int32_t NodeOrder::preference(std::size_t position) const {
  constexpr std::uint64_t kMost = (std::uint64_t{1} << kPreferenceBits) - 1;
  return static_cast<std::int32_t>(kMost - (nodes_[position].devices >> kPreferenceShift & kMost));
}

NodeOrder NodeOrder::of_one(std::uint32_t rank) {
  NodeOrder order;
  order.add(rank, {});
  return order;
}

}  // namespace gang::engine
