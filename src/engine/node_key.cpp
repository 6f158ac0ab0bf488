#include "engine/node_key.h"

#include <algorithm>

namespace gang::engine {
namespace {

// Fields of NodeKey::devices_, from the highest bit.
constexpr std::uint32_t kCapacityBits = 16;
constexpr std::uint32_t kPreferenceBits = 9;
constexpr std::uint32_t kSizeBits = 14;
constexpr std::uint32_t kFreeBits = 24;
constexpr std::uint32_t kPreferenceShift = 1 + kSizeBits + kFreeBits;

constexpr std::uint64_t most(std::uint32_t bits) {
  return (std::uint64_t{1} << bits) - 1;
}

constexpr std::uint64_t kRatedMask =
    (most(kPreferenceBits) << kPreferenceShift) | (most(kSizeBits) << kFreeBits);

std::uint64_t up(std::int64_t value, std::uint32_t bits) {
  return std::clamp<std::uint64_t>(static_cast<std::uint64_t>(std::max<std::int64_t>(value, 0)), 0,
                                   most(bits));
}

/// The most first.
std::uint64_t down(std::int32_t value, std::uint32_t bits) {
  return most(bits) - up(value, bits);
}

std::uint64_t rated_bits(const NodeRating& rating) {
  return down(rating.preference, kPreferenceBits) << kPreferenceShift | up(rating.size, kSizeBits)
                                                                            << kFreeBits;
}

}  // namespace

NodeKey::NodeKey(std::uint32_t rank, const NodeRating& rating)
    : devices_(down(rating.capacity, kCapacityBits) << (kPreferenceShift + kPreferenceBits) |
               (rating.is_unused ? std::uint64_t{1} : 0) << (kSizeBits + kFreeBits) |
               rated_bits(rating) | up(rating.free, kFreeBits)),
      score_(down(rating.score, 31) << 32 | rank) {}

std::int32_t NodeKey::preference() const {
  const std::uint64_t inverted = devices_ >> kPreferenceShift & most(kPreferenceBits);
  return static_cast<std::int32_t>(most(kPreferenceBits) - inverted);
}

std::int32_t NodeKey::free() const {
  return static_cast<std::int32_t>(devices_ & most(kFreeBits));
}

NodeKey NodeKey::rated(const NodeRating& rating) const {
  NodeKey key = *this;
  key.devices_ = (devices_ & ~kRatedMask) | rated_bits(rating);
  return key;
}

NodeKey NodeKey::first_with(std::int64_t free) const {
  NodeKey key;
  key.devices_ = (devices_ & ~most(kFreeBits)) | up(free, kFreeBits);
  return key;
}

}  // namespace gang::engine
