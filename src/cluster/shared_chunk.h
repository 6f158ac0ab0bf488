// SharedChunk: a value that one writes and many read, copied on the first write once shared.
#pragma once

#include <memory>
#include <utility>

namespace gang::cluster {

/// A chunk that its owner writes and snapshots share. Always: what share() returned never changes;
/// write() copies the chunk when it was shared since the last copy.
template <class Chunk>
class SharedChunk {
 public:
  SharedChunk() { adopt(std::make_shared<Chunk>()); }
  SharedChunk(SharedChunk&&) noexcept = default;
  SharedChunk& operator=(SharedChunk&&) noexcept = default;

  [[nodiscard]] const Chunk& read() const { return *chunk_; }
  [[nodiscard]] Chunk& write() {
    if (writable_ == nullptr) adopt(std::make_shared<Chunk>(*chunk_));
    return *writable_;
  }
  [[nodiscard]] const std::shared_ptr<const Chunk>& share() {
    writable_ = nullptr;
    return chunk_;
  }

 private:
  template <class Owned>
  void adopt(Owned owned) {
    writable_ = owned.get();
    chunk_ = std::move(owned);
  }

  std::shared_ptr<const Chunk> chunk_;
  Chunk* writable_ = nullptr;  ///< null: shared since the last copy
};

}  // namespace gang::cluster
