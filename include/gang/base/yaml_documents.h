// Whether a YAML text has few documents: asked before a text from outside is loaded.
//
// After a stray comma yaml-cpp finds empty documents without end and would fill the memory. Used by
// the three readers of YAML. Any thread; throws what yaml-cpp throws on a text that is no YAML, for
// the reader's own catch.
#pragma once

#include <string>

namespace gang {

/// False when there are more than `documents_max`.
[[nodiscard]] bool has_few_documents(const std::string& text, int documents_max);

}  // namespace gang
