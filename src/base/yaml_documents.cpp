#include "gang/base/yaml_documents.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <sstream>

namespace gang {

namespace {

/// Hears a document and keeps nothing.
class DeafHandler final : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

}  // namespace

bool has_few_documents(const std::string& text, int documents_max) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  DeafHandler handler;
  for (int count = 0; count <= documents_max; ++count) {
    if (!parser.HandleNextDocument(handler)) return true;
  }
  return false;
}

YamlFault yaml_fault(std::string_view text, YamlFault told) {
  for (int line = 1; line < told.line && !text.empty(); ++line) {
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  }
  const std::size_t tab = text.find_first_not_of(' ');
  if (tab == std::string_view::npos || text[tab] != '\t') return told;
  return {told.line, static_cast<int>(tab) + 1, "a tab indents the line; indent with spaces"};
}

}  // namespace gang
