#include "cluster/flat_index.h"

#include <functional>
#include <utility>

#include "gang/base/check.h"

namespace gang::cluster {

HashFold& HashFold::add(std::uint64_t value) {
  state_ = (state_ ^ value) * 0xff51afd7ed558ccdULL;
  state_ ^= state_ >> 33;
  return *this;
}

HashFold& HashFold::add(std::string_view text) {
  return add(static_cast<std::uint64_t>(std::hash<std::string_view>()(text)));
}

void FlatIndex::insert(std::uint32_t hash, std::uint32_t id) {
  if ((count_ + 1) * 4 > slots_.size() * 3) grow();
  std::size_t i = home(hash);
  while (slots_[i].id != kNone) i = next(i);
  slots_[i] = {hash, id};
  ++count_;
}

void FlatIndex::grow() {
  const std::vector<Slot> old = std::move(slots_);
  slots_.assign(old.empty() ? 16 : old.size() * 2, Slot{});
  count_ = 0;
  for (const Slot& slot : old) {
    if (slot.id != kNone) insert(slot.hash, slot.id);
  }
}

void FlatIndex::erase(std::uint32_t hash, std::uint32_t id) {
  CHECK(!slots_.empty());
  std::size_t hole = home(hash);
  while (slots_[hole].id != id) {
    CHECK(slots_[hole].id != kNone);
    hole = next(hole);
  }
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t i = next(hole); slots_[i].id != kNone; i = next(i)) {
    // An entry may move back into the hole unless its home lies after the hole.
    const std::size_t wanted = home(slots_[i].hash);
    if (((i - wanted) & mask) < ((i - hole) & mask)) continue;
    slots_[hole] = slots_[i];
    hole = i;
  }
  slots_[hole] = Slot{};
  --count_;
}

void FlatIndex::append_ids(std::vector<std::uint32_t>& out) const {
  for (const Slot& slot : slots_) {
    if (slot.id != kNone) out.push_back(slot.id);
  }
}

}  // namespace gang::cluster
