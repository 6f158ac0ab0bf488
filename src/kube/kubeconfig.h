// Kubeconfig: the current context of a file as kubectl writes it, read into Credentials.
//
// Refused with one clear error that names file, line, entry and mend: exec and auth-provider
// plugins, user names with passwords, insecure-skip-tls-verify, files that others may write.
#pragma once

#include <string>

#include "kube/credentials.h"

namespace gang::kube {

/// Reads the file; relative paths in it are relative to the file.
[[nodiscard]] Result<Credentials> load_kubeconfig(const std::string& path);

/// The same from text; `path` is for messages and relative paths.
[[nodiscard]] Result<Credentials> parse_kubeconfig(const std::string& text,
                                                   const std::string& path);

}  // namespace gang::kube
