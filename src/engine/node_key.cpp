#include "engine/node_key.h"

#include <algorithm>

namespace gang::engine {
namespace {

// Fields of NodeKey::devices_, from the highest bit.
constexpr std::uint32_t kCapacityBits = 31;
constexpr std::uint32_t kFreeBits = 31;

constexpr std::uint64_t most(std::uint32_t bits) {
  return (std::uint64_t{1} << bits) - 1;
}

std::uint64_t up(std::int64_t value, std::uint32_t bits) {
  return std::clamp<std::uint64_t>(static_cast<std::uint64_t>(std::max<std::int64_t>(value, 0)), 0,
                                   most(bits));
}

/// The most first.
std::uint64_t down(std::int32_t value, std::uint32_t bits) {
  return most(bits) - up(value, bits);
}

}  // namespace

NodeKey::NodeKey(std::uint32_t rank, const NodeRating& rating)
    : devices_(down(rating.capacity, kCapacityBits) << (2 + kFreeBits) |
               (rating.all_wait ? std::uint64_t{1} : 0) << (1 + kFreeBits) |
               (rating.is_unused ? std::uint64_t{1} : 0) << kFreeBits | up(rating.free, kFreeBits)),
      score_(down(rating.score, 31) << 32 | rank) {}

std::uint32_t NodeKey::capacity_place() const {
  return static_cast<std::uint32_t>(devices_ >> (2 + kFreeBits));
}

bool NodeKey::is_unused() const {
  return (devices_ >> kFreeBits & 1) != 0;
}

std::int32_t NodeKey::free() const {
  return static_cast<std::int32_t>(devices_ & most(kFreeBits));
}

NodeKey NodeKey::first_with(std::int64_t free) const {
  NodeKey key;
  key.devices_ = (devices_ & ~most(kFreeBits)) | up(free, kFreeBits);
  return key;
}

}  // namespace gang::engine
