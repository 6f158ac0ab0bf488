// Alone in its file, so that no caller sees through the replaced operators.
#include "engine/counted_new.h"

#include <cstdlib>
#include <new>

namespace {
std::size_t count = 0;
}  // namespace

void* operator new(std::size_t size) {
  ++count;
  void* memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++count;
  return std::malloc(size);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace gang::test {

std::size_t allocation_count() {
  return count;
}

}  // namespace gang::test
