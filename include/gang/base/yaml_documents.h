// What the three readers of YAML need for texts from outside: a look at the number of documents
// before one is loaded, and the place of a fault.
//
// After a stray comma yaml-cpp finds empty documents without end and would fill the memory. It
// takes a tab that indents for text, and complains of what follows. Any thread.
#pragma once

#include <string>
#include <string_view>

namespace gang {

/// False when there are more than `documents_max`. Throws what yaml-cpp throws on a text that is no
/// YAML, for the reader's own catch.
[[nodiscard]] bool has_few_documents(const std::string& text, int documents_max);

/// What is wrong with a text; line and column from 1.
struct YamlFault {
  int line = 0;
  int column = 0;
  std::string problem;
};

/// What yaml-cpp told of `text`, or the tab that indents the line it told of.
[[nodiscard]] YamlFault yaml_fault(std::string_view text, YamlFault told);

}  // namespace gang
