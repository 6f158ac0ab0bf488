#include <re2/re2.h>

#include <utility>

#include "cel/regex.h"

namespace gang::cel {
namespace {

constexpr std::int64_t kMemoryMax = std::int64_t{1} << 20U;  // of one program and its automata
// Work of compiling a pattern, by bytes and instructions, and of finding that it is too large.
constexpr std::uint64_t kWorkLeast = 150;
constexpr std::uint64_t kWorkOfByte = 8;
constexpr std::uint64_t kWorkOfInstruction = 20;
constexpr std::uint64_t kWorkTooLarge = 300'000;

re2::StringPiece piece(std::string_view text) {
  return {text.data(), text.size()};
}

class Re2Regex final : public Regex {
 public:
  Re2Regex(std::string_view pattern, const RE2::Options& options) : re2_(piece(pattern), options) {}
  [[nodiscard]] const RE2& re2() const { return re2_; }
  [[nodiscard]] std::uint64_t instructions() const {
    return static_cast<std::uint64_t>(re2_.ProgramSize());
  }

  [[nodiscard]] bool is_in(std::string_view text) const override {
    return RE2::PartialMatch(piece(text), re2_);
  }

  [[nodiscard]] bool find(std::string_view text, std::size_t from,
                          std::string_view& found) const override {
    re2::StringPiece whole;
    if (!re2_.Match(piece(text), from, text.size(), RE2::UNANCHORED, &whole, 1)) return false;
    found = {whole.data(), whole.size()};
    return true;
  }

 protected:
  [[nodiscard]] std::uint64_t size() const override { return instructions(); }

 private:
  RE2 re2_;
};

// One byte of a code point: RE2 knows it, Go does not.
bool has_single_byte_escape(std::string_view pattern) {
  for (std::size_t i = 0; i + 1 < pattern.size(); ++i) {
    if (pattern[i] != '\\') continue;
    if (pattern[i + 1] == 'C') return true;
    ++i;
  }
  return false;
}

}  // namespace

CompiledRegex compile_regex(std::string_view pattern) {
  CompiledRegex made{.regex = nullptr, .error = {}, .work = kWorkLeast};
  made.work += pattern.size() * kWorkOfByte;
  if (has_single_byte_escape(pattern)) {
    made.error = "error parsing regexp: invalid escape sequence: `\\C`";
    return made;
  }
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kMemoryMax);
  auto regex = std::make_unique<Re2Regex>(pattern, options);
  if (regex->re2().ok()) {
    made.work += regex->instructions() * kWorkOfInstruction;
    made.regex = std::move(regex);
    return made;
  }
  if (regex->re2().error_code() == RE2::ErrorPatternTooLarge) made.work += kWorkTooLarge;
  made.error = "error parsing regexp: " + regex->re2().error();
  return made;
}

}  // namespace gang::cel
