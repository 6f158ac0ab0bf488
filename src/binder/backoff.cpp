#include "binder/backoff.h"

#include <algorithm>

namespace gang::binder {
namespace {

constexpr std::uint32_t kDoublingsMax = 20;

/// The finalizer of splitmix64: spreads a counter over 64 bits.
std::uint64_t mix(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

}  // namespace

Duration Backoff::next() {
  Duration pause = initial_;
  for (std::uint32_t i = 0; i < std::min(tries_, kDoublingsMax) && pause < max_; ++i) pause *= 2;
  pause = std::min(pause, max_);
  const auto half = static_cast<std::uint64_t>(pause.count() / 2);
  const std::uint64_t cut = half == 0 ? 0 : mix(seed_ + tries_) % (half + 1);
  ++tries_;
  return pause - Duration(static_cast<std::int64_t>(cut));
}

std::uint64_t seed_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  return hash;
}

}  // namespace gang::binder
