// Memory that is given back all at once: the objects of a program, a device or an evaluation.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>
#include <type_traits>
#include <vector>

namespace gang::cel {

/// A bump allocator. Keeps its first block for the next use; never runs destructors.
class Arena {
 public:
  /// Takes everything back; what was made before is gone.
  void reset() {
    if (blocks_.size() > 1) blocks_.resize(1);
    used_ = 0;
    total_ = 0;
  }

  /// Bytes handed out since the last reset.
  [[nodiscard]] std::size_t total() const { return total_; }

  template <class T, class... Args>
  T* make(Args&&... args) {
    static_assert(std::is_trivially_destructible_v<T>);
    return new (allocate(sizeof(T))) T{std::forward<Args>(args)...};
  }

  /// `count` default values; never null.
  template <class T>
  T* array(std::size_t count) {
    static_assert(std::is_trivially_destructible_v<T>);
    T* first = static_cast<T*>(allocate(count * sizeof(T)));
    for (std::size_t i = 0; i < count; ++i) new (first + i) T{};
    return first;
  }

  std::string_view copy(std::string_view text) {
    char* bytes = static_cast<char*>(allocate(text.size()));
    if (!text.empty()) std::memcpy(bytes, text.data(), text.size());
    return {bytes, text.size()};
  }

 private:
  static constexpr std::size_t kAlign = alignof(std::max_align_t);
  static constexpr std::size_t kBlock = 4096;

  struct Block {
    std::unique_ptr<std::byte[]> bytes;
    std::size_t size = 0;
  };

  void* allocate(std::size_t size) {
    size = (size + kAlign - 1) / kAlign * kAlign;
    if (blocks_.empty() || blocks_.back().size - used_ < size) grow(size);
    std::byte* place = blocks_.back().bytes.get() + used_;
    used_ += size;
    total_ += size;
    return place;
  }

  void grow(std::size_t size) {
    const std::size_t doubled = blocks_.empty() ? kBlock : blocks_.back().size * 2;
    const std::size_t capped = doubled > (std::size_t{1} << 20) ? std::size_t{1} << 20 : doubled;
    const std::size_t wanted = size > capped ? size : capped;
    blocks_.push_back(Block{std::unique_ptr<std::byte[]>(new std::byte[wanted]), wanted});
    used_ = 0;
  }

  std::vector<Block> blocks_;
  std::size_t used_ = 0;
  std::size_t total_ = 0;
};

}  // namespace gang::cel
