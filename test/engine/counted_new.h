// Counts heap allocations of the process: link counted_new.cpp to replace operator new.
#pragma once

#include <cstddef>

namespace gang::test {

/// Calls of operator new so far.
[[nodiscard]] std::size_t allocation_count();

}  // namespace gang::test
