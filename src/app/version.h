// The version that both programs print.
#pragma once

namespace gang::app {

inline constexpr const char* kVersion = "0.1.0";

}  // namespace gang::app
