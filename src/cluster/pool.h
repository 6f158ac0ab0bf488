// Pool: equal values kept once, named by small ids and counted; a value without holders is dropped.
//
// What makes a bound pod cheap: most pods of a cluster share their namespace, requests and priority
// with many others. References stay valid while the value has holders. One thread.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "cluster/flat_index.h"

namespace gang::cluster {

/// T needs ==; Hash maps a const T& to 32 bits.
template <class T, class Hash>
class Pool {
 public:
  using Id = std::uint32_t;

  /// The id of that value, with one holder more. Copies the value only when it is new.
  Id acquire(const T& value) {
    const std::uint32_t hash = Hash()(value);
    Id id = find(hash, value);
    if (id == FlatIndex::kNone) {
      id = new_entry();
      entries_[id].value = value;
      index_.insert(hash, id);
    }
    ++entries_[id].holders;
    return id;
  }

  /// One holder more. REQUIRES: the id has holders.
  Id hold(Id id) {
    ++entries_[id].holders;
    return id;
  }

  /// The id of that value, or FlatIndex::kNone when nobody holds it.
  [[nodiscard]] Id find(const T& value) const { return find(Hash()(value), value); }

  void release(Id id) {
    Entry& entry = entries_[id];
    if (--entry.holders > 0) return;
    index_.erase(Hash()(entry.value), id);
    entry.value = T{};
    unused_.push_back(id);
  }

  [[nodiscard]] const T& at(Id id) const { return entries_[id].value; }

 private:
  /// A value with the number of its holders; 0 = free for reuse.
  struct Entry {
    T value{};
    std::uint32_t holders = 0;
  };

  [[nodiscard]] Id find(std::uint32_t hash, const T& value) const {
    return index_.find(hash, [&](Id id) { return entries_[id].value == value; });
  }

  Id new_entry() {
    if (unused_.empty()) {
      entries_.emplace_back();
      return static_cast<Id>(entries_.size() - 1);
    }
    const Id id = unused_.back();
    unused_.pop_back();
    return id;
  }

  std::deque<Entry> entries_;
  std::vector<Id> unused_;
  FlatIndex index_;
};

}  // namespace gang::cluster
