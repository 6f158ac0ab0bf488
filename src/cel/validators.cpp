#include "cel/validators.h"

#include <array>
#include <optional>
#include <string>

#include "cel/civil_time.h"
#include "cel/regex.h"
#include "cel/text_format.h"

namespace gang::cel {
namespace {

class Validator {
 public:
  Validator(const Checked& checked, std::vector<Issue>& issues)
      : checked_(checked), issues_(issues) {}

  // `in_format`: below a call of format(), whose lists may be mixed.
  void visit(const Expr& expr, bool in_format) {
    if (expr.kind == ExprKind::kCall) check_call(expr);
    if (expr.kind == ExprKind::kList && !in_format) check_list(expr);
    if (expr.kind == ExprKind::kMap && !in_format) check_map(expr);
    const bool below_format = in_format || (expr.kind == ExprKind::kCall && expr.name == "format");
    for (const Expr* child :
         {expr.target, expr.range, expr.init, expr.condition, expr.step, expr.result}) {
      if (child != nullptr) visit(*child, below_format);
    }
    for (const Expr* arg : expr.args) visit(*arg, below_format);
  }

  [[nodiscard]] std::uint64_t regex_work() const { return regex_work_; }

 private:
  void complain(const Expr& expr, std::string message) {
    issues_.push_back({expr.offset, std::move(message)});
  }

  void check_call(const Expr& expr) {
    if (expr.name == "format") check_format(expr);
    if (expr.args.empty() || expr.args[0]->kind != ExprKind::kLiteral) return;
    const Value& literal = expr.args[0]->literal;
    bool valid = true;
    if (literal.is(Kind::kString)) {
      const std::string_view text = literal.as_text();
      if (expr.name == "duration") valid = parse_duration(text).has_value();
      if (expr.name == "matches") valid = is_pattern(text);
      if (expr.name == "timestamp")
        valid = parse_timestamp(text).value_or(Value::error("")).is(Kind::kTimestamp);
    } else if (literal.is(Kind::kInt) && expr.name == "timestamp") {
      valid = literal.as_int() >= kUnixSecondsMin && literal.as_int() <= kUnixSecondsMax;
    }
    if (!valid) complain(*expr.args[0], "invalid " + std::string(expr.name) + " argument");
  }

  /// Patterns beyond what an expression may have are none.
  bool is_pattern(std::string_view text) {
    if (regex_work_ > kPatternsWorkMax) return false;
    const CompiledRegex made = compile_regex(text);
    regex_work_ += made.work;
    return made.regex != nullptr;
  }

  const Type& entry_type(const Expr& expr, bool optional) {
    const Type& type = checked_.type(expr);
    const Type* inner = optional ? unwrapped(type) : nullptr;
    return inner == nullptr ? type : *inner;
  }

  // Whether both are one type; complains where not.
  bool same(const Expr& expr, const Type*& wanted, const Type& found) {
    if (wanted == nullptr) wanted = &found;
    if (is_equivalent(*wanted, found)) return true;
    complain(expr,
             "expected type '" + type_text(*wanted) + "' but found '" + type_text(found) + "'");
    return false;
  }

  void check_list(const Expr& expr) {
    const Type* wanted = nullptr;
    for (std::size_t i = 0; i < expr.args.size(); ++i) {
      if (!same(*expr.args[i], wanted, entry_type(*expr.args[i], expr.optional[i]))) return;
    }
  }

  void check_map(const Expr& expr) {
    const Type* key = nullptr;
    const Type* value = nullptr;
    for (std::size_t i = 0; i < expr.args.size(); i += 2) {
      same(*expr.args[i], key, checked_.type(*expr.args[i]));
      same(*expr.args[i + 1], value, entry_type(*expr.args[i + 1], expr.optional[i / 2]));
    }
  }

  bool is_one_of(const Type& type, std::string_view letters) {
    if (is_dyn(type)) return true;
    constexpr std::string_view kKinds = "?dnbiufsytTlm";  // by TypeKind, up to kMap
    const auto kind = static_cast<std::size_t>(type.kind);
    const char letter = type.kind == TypeKind::kType ? 'y'
                        : kind < kKinds.size()       ? kKinds[kind]
                                                     : '?';
    return letters.find(letter) != std::string_view::npos;
  }

  static std::string_view letters_for(char clause) {
    switch (clause) {
      case 's':
        return "nbiufsytTlm";
      case 'f':
      case 'e':
        return "fs";
      case 'b':
        return "iub";
      case 'x':
      case 'X':
        return "iusy";
      default:
        return "iu";
    }
  }

  // The first part of the argument that the clause cannot show, or null.
  const Expr* unshowable(const Expr& arg, char clause) {
    const Type& type = checked_.type(arg);
    const bool bytes_or_type = type.kind == TypeKind::kType && clause != 's';
    if (!is_one_of(type, letters_for(clause)) || bytes_or_type) return &arg;
    const bool nested = arg.kind == ExprKind::kList || arg.kind == ExprKind::kMap;
    if (clause != 's' || !nested) return nullptr;
    for (const Expr* part : arg.args) {
      if (const Expr* found = unshowable(*part, clause)) return found;
    }
    return nullptr;
  }

  void check_format(const Expr& expr) {
    const bool constant = expr.target != nullptr && expr.target->kind == ExprKind::kLiteral &&
                          expr.target->literal.is(Kind::kString) && expr.args.size() == 1 &&
                          expr.args[0]->kind == ExprKind::kList;
    if (!constant) return;
    const std::vector<Expr*>& args = expr.args[0]->args;
    std::size_t next = 0;
    std::string text;
    const std::string error =
        read_format(expr.target->literal.as_text(), text, [&](const FormatClause& clause) {
          // Upstream's check, unlike its evaluation, sees a missing clause before a missing
          // argument.
          if (clause.letter == '\0') return std::string();
          if (next >= args.size()) return "index " + std::to_string(next) + " out of range";
          const Expr* bad = unshowable(*args[next++], clause.letter);
          if (bad == nullptr) return std::string();
          return "error during formatting: " +
                 format_type_error(clause.letter, checked_.type(*bad).name);
        });
    if (!error.empty()) return complain(expr, error);
    if (args.size() > next) {
      complain(expr, "too many arguments supplied to string.format (expected " +
                         std::to_string(next) + ", got " + std::to_string(args.size()) + ")");
    }
  }

  const Checked& checked_;
  std::vector<Issue>& issues_;
  std::uint64_t regex_work_ = 0;  ///< that patterns have taken
};

}  // namespace

std::uint64_t validate(const Ast& ast, const Checked& checked, std::vector<Issue>& issues) {
  Validator validator(checked, issues);
  validator.visit(*ast.root, false);
  return validator.regex_work();
}

}  // namespace gang::cel
