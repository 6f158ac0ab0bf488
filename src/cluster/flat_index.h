// FlatIndex: a hash index from a 32-bit hash to small ids that are kept elsewhere, 8 bytes a slot.
//
// Open addressing with linear probing; erase() shifts back, so there are no tombstones and order of
// operations does not wear it out. Whoever owns the ids compares keys. Value, one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace gang::cluster {

/// Folds fields into a 32-bit hash, in the order told. Deterministic within a process.
class HashFold {
 public:
  HashFold& add(std::uint64_t value);
  HashFold& add(std::string_view text);
  [[nodiscard]] std::uint32_t value() const { return static_cast<std::uint32_t>(state_ >> 32); }

 private:
  std::uint64_t state_ = 0x9e3779b97f4a7c15ULL;
};

/// See the head of the file. Ids are unique; equal hashes are normal.
class FlatIndex {
 public:
  static constexpr std::uint32_t kNone = 0xffffffff;

  /// The id with that hash for which `same(id)` is true, or kNone.
  template <class Same>
  [[nodiscard]] std::uint32_t find(std::uint32_t hash, const Same& same) const {
    if (slots_.empty()) return kNone;
    for (std::size_t i = home(hash); slots_[i].id != kNone; i = next(i)) {
      if (slots_[i].hash == hash && same(slots_[i].id)) return slots_[i].id;
    }
    return kNone;
  }

  /// All ids, in no order.
  void append_ids(std::vector<std::uint32_t>& out) const;

  /// REQUIRES: id is not in the index.
  void insert(std::uint32_t hash, std::uint32_t id);
  /// REQUIRES: id is in the index under that hash.
  void erase(std::uint32_t hash, std::uint32_t id);

 private:
  /// One entry; id kNone marks an empty slot.
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t id = kNone;
  };

  [[nodiscard]] std::size_t home(std::uint32_t hash) const { return hash & (slots_.size() - 1); }
  [[nodiscard]] std::size_t next(std::size_t i) const { return (i + 1) & (slots_.size() - 1); }
  void grow();

  std::vector<Slot> slots_;  ///< size is a power of two, or 0
  std::size_t count_ = 0;
};

}  // namespace gang::cluster
