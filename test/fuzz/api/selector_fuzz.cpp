// Node selectors, label selectors and tolerations over labels and values of any bytes.
//
// The input is cut at newlines: key, operator, value, label value, taint value. Properties: a term
// with a problem never matches; In and NotIn, Exists and DoesNotExist, Gt and Lt exclude each
// other.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "gang/api/selector.h"
#include "gang/base/check.h"
#include "gang/base/time.h"

namespace {

std::array<std::string, 5> cut(std::string_view text) {
  std::array<std::string, 5> parts;
  for (std::string& part : parts) {
    const std::size_t end = text.find('\n');
    part = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return parts;
}

/// Whether the term of this one expression matches; checks that a malformed one does not.
bool term_matches(const gang::api::NodeSelectorRequirement& requirement,
                  const gang::api::StringMap& labels) {
  const gang::api::NodeSelectorTerm term{{requirement}, {}};
  const bool matched = matches(term, gang::api::NodeFacts{"n1", labels});
  if (!term_problem(term).empty()) CHECK(!matched);
  const bool numeric = requirement.op == "Gt" || requirement.op == "Lt";
  CHECK(numeric || matched == matches(gang::api::LabelSelector{{requirement}}, labels));
  return matched;
}

void check_opposites(const std::array<std::string, 5>& parts) {
  const gang::api::StringMap labels = {{parts[0], parts[3]}};
  const auto matched = [&](const char* op, bool with_value) {
    gang::api::NodeSelectorRequirement requirement{parts[0], op, {}};
    if (with_value) requirement.values.push_back(parts[2]);
    return term_matches(requirement, labels);
  };
  CHECK(!(matched("In", true) && matched("NotIn", true)));
  CHECK(!(matched("Exists", false) && matched("DoesNotExist", false)));
  CHECK(!(matched("Gt", true) && matched("Lt", true)));
  term_matches({parts[0], parts[1], {parts[2]}}, labels);
}

void check_tolerations(const std::array<std::string, 5>& parts) {
  const gang::api::Taint taint{parts[0], parts[4], gang::api::TaintEffect::kNoSchedule};
  const auto on = gang::api::TolerationComparison::kOn;
  const auto off = gang::api::TolerationComparison::kOff;
  CHECK(tolerates(gang::api::Toleration{parts[0], "Exists", parts[2], ""}, taint, off));
  const bool above = tolerates(gang::api::Toleration{"", "Gt", parts[2], ""}, taint, on);
  const bool below = tolerates(gang::api::Toleration{"", "Lt", parts[2], ""}, taint, on);
  CHECK(!(above && below));
  const gang::api::Toleration any{"", parts[1], parts[2], parts[3]};
  if (tolerates(any, taint, off)) CHECK(tolerates(any, taint, on));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::array<std::string, 5> parts = cut(text);
  check_opposites(parts);
  check_tolerations(parts);
  // Times and durations are read from the same inputs: what is read is written back equal.
  if (const auto time = gang::parse_rfc3339(parts[0])) {
    CHECK(gang::parse_rfc3339(gang::format_rfc3339(*time)));
  }
  if (const auto duration = gang::parse_duration(parts[0])) {
    CHECK(gang::parse_duration(gang::format_duration(*duration)) == *duration);
  }
  return 0;
}
