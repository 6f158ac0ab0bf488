// Gzip: texts packed to a fraction of their size, as `gzip` and `gunzip` do.
//
// zlib ends in this file's other half. The same text gives the same bytes with one version of zlib.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "gang/base/result.h"

namespace gang::api {

[[nodiscard]] std::string pack_gzip(std::string_view text);

/// Fails on bytes that are not one whole packed text, and on a text of more than `bytes_max`.
[[nodiscard]] Result<std::string> unpack_gzip(std::string_view bytes, std::size_t bytes_max);

}  // namespace gang::api
