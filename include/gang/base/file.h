// Files that a person names: read whole, or refused with the path and the reason.
//
// Every such file is read here. Only a regular file has an end for sure, so nothing else is read
// but what this process was given open: /dev/stdin, or the <(...) of a shell. Any thread; blocks as
// the file system does.
#pragma once

#include <cstddef>
#include <string>

#include "gang/base/result.h"

namespace gang {

/// The bytes of the file. Fails with "PATH: <what the system says>; <mend>": kNotFound,
/// kPermissionDenied, kInvalidArgument for no file, kResourceExhausted above `bytes_max`, else
/// kUnavailable.
[[nodiscard]] Result<std::string> read_file(const std::string& path, std::size_t bytes_max);

}  // namespace gang
