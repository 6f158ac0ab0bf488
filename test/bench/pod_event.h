// A watch line about a Job's pod as an API server sends it, about 2 KB.
#pragma once

#include <string>

namespace gang::bench {

[[nodiscard]] std::string pod_event();

}  // namespace gang::bench
