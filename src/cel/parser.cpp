#include "cel/parser.h"

#include <algorithm>
#include <array>
#include <string>

#include "cel/literal.h"
#include "cel/macros.h"
#include "cel/utf8.h"

namespace gang::cel {
namespace {

constexpr int kDepthMax = 250;
constexpr std::uint64_t kCodePointsMax = 100'000;

// Rules of the grammar whose nesting upstream limits one by one.
enum Rule : std::uint8_t { kExprRule, kRelationRule, kCalcRule, kMemberRule, kRuleCount };

constexpr std::array<std::string_view, 17> kReserved = {
    "as",  "break", "const",   "continue",  "else",   "for", "function", "if",   "import",
    "let", "loop",  "package", "namespace", "return", "var", "void",     "while"};

bool is_reserved(std::string_view name) {
  return std::ranges::find(kReserved, name) != kReserved.end();
}

// Recursive descent. After the first issue of syntax everything returns null and unwinds.
class Parser {
 public:
  Parser(std::vector<Token> tokens, Ast& ast, std::vector<Issue>& issues)
      : tokens_(std::move(tokens)), ast_(ast), issues_(issues) {}

  void run() {
    ast_.root = expr();
    if (failed_) return;
    if (peek().kind != TokenKind::kEnd) unexpected();
    if (!failed_ && ast_.root->depth > kDepthMax) complain(0, "max recursion depth exceeded");
  }

 private:
  // Counts the nesting of a rule while a function runs.
  class Nesting {
   public:
    Nesting(Parser& parser, Rule rule) : parser_(parser), rule_(rule) { deeper(); }
    ~Nesting() { parser_.nesting_[rule_] -= levels_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;
    // A left-recursive rule nests once more with every operator.
    void deeper() {
      ++levels_;
      if (++parser_.nesting_[rule_] <= kDepthMax || parser_.failed_) return;
      parser_.complain(parser_.peek().offset, "expression recursion limit exceeded: 250");
    }

   private:
    Parser& parser_;
    Rule rule_;
    int levels_ = 0;
  };

  [[nodiscard]] const Token& peek(std::size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  [[nodiscard]] bool is_symbol(std::string_view text, std::size_t ahead = 0) const {
    return peek(ahead).kind == TokenKind::kSymbol && peek(ahead).text == text;
  }
  Token take() {
    const Token token = peek();
    if (at_ + 1 < tokens_.size()) ++at_;
    return token;
  }
  bool accept(std::string_view text) {
    if (failed_ || !is_symbol(text)) return false;
    take();
    return true;
  }
  void expect(std::string_view text) {
    if (!failed_ && !accept(text)) unexpected("'" + std::string(text) + "'");
  }

  void complain(std::uint32_t offset, std::string message) {
    issues_.push_back({offset, std::move(message)});
    failed_ = true;
  }
  Expr* unexpected(const std::string& wanted = "") {
    if (failed_) return nullptr;
    const Token& token = peek();
    const std::string found =
        token.kind == TokenKind::kEnd ? "<EOF>" : std::string(token.text.substr(0, 64));
    complain(token.offset, "Syntax error: mismatched input '" + found + "'" +
                               (wanted.empty() ? "" : " expecting " + wanted));
    return nullptr;
  }

  Expr* expr();
  Expr* logical(bool is_or);
  Expr* relation();
  Expr* calc(int precedence);
  Expr* unary();
  Expr* member();
  Expr* member_step(Expr* operand);
  Expr* index_step(Expr* operand);
  Expr* primary();
  Expr* named();
  template <class Entry>
  Expr* entries(Expr* made, std::string_view close, const Entry& entry);
  Expr* list();
  Expr* map();
  Expr* message();
  Expr* literal();
  Expr* number(const Token& token, bool negative);
  Expr* quoted(const Token& token);
  std::string_view field_name();
  [[nodiscard]] bool is_message() const;
  std::vector<Expr*> arguments();

  Expr* call(const MacroCall& macro, std::string_view name, int counted);
  Expr* constant(Value value, std::uint32_t offset) {
    Expr* made = ast_.make(ExprKind::kLiteral, offset);
    made->literal = value;
    return made;
  }
  Expr* balanced(std::string_view name, const std::vector<Expr*>& terms,
                 const std::vector<std::uint32_t>& offsets, std::size_t low, std::size_t high);

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  Ast& ast_;
  std::vector<Issue>& issues_;
  bool failed_ = false;
  std::array<int, kRuleCount> nesting_{};
};

int deepest(const Expr* target, const std::vector<Expr*>& args) {
  int depth = target == nullptr ? 0 : target->depth;
  for (const Expr* arg : args) depth = std::max(depth, arg->depth);
  return depth;
}

// A call or what the macro of that name makes of it; `counted` levels of depth are its own.
Expr* Parser::call(const MacroCall& macro, std::string_view name, int counted) {
  if (failed_) return nullptr;
  const int depth = deepest(macro.target, macro.args) + counted;
  Expr* made = expand_macro(ast_, macro, issues_);
  if (made == nullptr) {
    made = ast_.make(ExprKind::kCall, macro.offset);
    made->name = name;
    made->target = macro.target;
    made->args = macro.args;
  }
  made->depth = depth;
  return made;
}

Expr* Parser::expr() {
  Nesting nesting(*this, kExprRule);
  Expr* condition = failed_ ? nullptr : logical(true);
  if (failed_ || !is_symbol("?")) return condition;
  const std::uint32_t offset = take().offset;
  Expr* truthy = logical(true);
  expect(":");
  Expr* falsy = failed_ ? nullptr : expr();
  return call({op::kConditional, nullptr, {condition, truthy, falsy}, offset}, op::kConditional, 1);
}

// Chains of one operator become balanced trees, so that long ones are not deep.
Expr* Parser::balanced(std::string_view name, const std::vector<Expr*>& terms,
                       const std::vector<std::uint32_t>& offsets, std::size_t low,
                       std::size_t high) {
  const std::size_t middle = (low + high + 1) / 2;
  Expr* left = middle == low ? terms[middle] : balanced(name, terms, offsets, low, middle - 1);
  Expr* right =
      middle == high ? terms[middle + 1] : balanced(name, terms, offsets, middle + 1, high);
  Expr* made = ast_.make(ExprKind::kCall, offsets[middle]);
  made->name = name;
  made->args = {left, right};
  made->depth = std::max(left->depth, right->depth);
  return made;
}

Expr* Parser::logical(bool is_or) {
  std::vector<Expr*> terms;
  std::vector<std::uint32_t> offsets;
  while (true) {
    Expr* term = is_or ? logical(false) : relation();
    if (failed_) return nullptr;
    terms.push_back(term);
    if (!is_symbol(is_or ? "||" : "&&")) break;
    offsets.push_back(take().offset);
  }
  if (offsets.empty()) return terms[0];
  return balanced(is_or ? op::kOr : op::kAnd, terms, offsets, 0, offsets.size() - 1);
}

Expr* Parser::relation() {
  Nesting nesting(*this, kRelationRule);
  Expr* left = failed_ ? nullptr : calc(0);
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kRelations = {
      {{"<", "_<_"},
       {"<=", "_<=_"},
       {">=", "_>=_"},
       {">", "_>_"},
       {"==", "_==_"},
       {"!=", "_!=_"},
       {"in", op::kIn}}};
  while (!failed_) {
    const auto* const found =
        std::ranges::find_if(kRelations, [&](const auto& r) { return is_symbol(r.first); });
    if (found == kRelations.end()) break;
    nesting.deeper();
    const std::uint32_t offset = take().offset;
    Nesting right_nesting(*this, kRelationRule);
    Expr* right = failed_ ? nullptr : calc(0);
    left = call({found->second, nullptr, {left, right}, offset}, found->second, 1);
  }
  return left;
}

Expr* Parser::calc(int precedence) {
  Nesting nesting(*this, kCalcRule);
  Expr* left = failed_ ? nullptr : unary();
  struct Operator {
    std::string_view text;
    std::string_view name;
    int precedence;
  };
  constexpr std::array<Operator, 5> kOperators = {
      {{"*", "_*_", 1}, {"/", "_/_", 1}, {"%", "_%_", 1}, {"+", "_+_", 0}, {"-", "_-_", 0}}};
  while (!failed_) {
    const auto* const found = std::ranges::find_if(kOperators, [&](const Operator& o) {
      return o.precedence >= precedence && is_symbol(o.text);
    });
    if (found == kOperators.end()) break;
    nesting.deeper();
    const std::uint32_t offset = take().offset;
    Expr* right = failed_ ? nullptr : calc(found->precedence + 1);
    left = call({found->name, nullptr, {left, right}, offset}, found->name, 1);
  }
  return left;
}

Expr* Parser::unary() {
  const auto is_signed_number = [&] {
    const TokenKind next = peek(1).kind;
    return is_symbol("-") && (next == TokenKind::kInt || next == TokenKind::kDouble);
  };
  const bool is_not = is_symbol("!");
  if (!is_not && (!is_symbol("-") || is_signed_number())) return member();
  const std::uint32_t offset = peek().offset;
  std::size_t count = 0;
  while (accept(is_not ? "!" : "-")) ++count;
  Expr* operand = member();
  if (count % 2 == 0) return operand;
  const std::string_view name = is_not ? op::kNot : op::kNegate;
  return call({name, nullptr, {operand}, offset}, name, 0);
}

Expr* Parser::member() {
  Nesting nesting(*this, kMemberRule);
  Expr* operand = failed_ ? nullptr : primary();
  while (!failed_ && (is_symbol(".") || is_symbol("["))) {
    nesting.deeper();
    operand = is_symbol(".") ? member_step(operand) : index_step(operand);
  }
  return operand;
}

Expr* Parser::member_step(Expr* operand) {
  const std::uint32_t offset = take().offset;
  const bool optional = accept("?");
  const bool is_call = !optional && peek().kind == TokenKind::kIdentifier && is_symbol("(", 1);
  if (is_call) {
    const std::string_view name = ast_.arena().copy(take().text);
    const std::uint32_t open = peek().offset;
    return call({name, operand, arguments(), open}, name, 1);
  }
  const std::uint32_t name_offset = peek().offset;
  const std::string_view name = field_name();
  if (failed_) return nullptr;
  if (optional) {
    Expr* field = constant(Value::string(name), name_offset);
    return call({op::kOptSelect, nullptr, {operand, field}, offset}, op::kOptSelect, 1);
  }
  Expr* made = ast_.make(ExprKind::kSelect, offset);
  made->name = name;
  made->target = operand;
  made->depth = operand->depth + 1;
  return made;
}

Expr* Parser::index_step(Expr* operand) {
  const std::uint32_t offset = take().offset;
  const std::string_view name = accept("?") ? op::kOptIndex : op::kIndex;
  Expr* index = expr();
  expect("]");
  return call({name, nullptr, {operand, index}, offset}, name, 1);
}

std::string_view Parser::field_name() {
  const Token token = peek();
  if (token.kind == TokenKind::kIdentifier) return ast_.arena().copy(take().text);
  if (token.kind != TokenKind::kEscapedIdentifier) return unexpected("IDENTIFIER"), "";
  take();
  return ast_.arena().copy(token.text.substr(1, token.text.size() - 2));
}

// '(' expressions ')'
std::vector<Expr*> Parser::arguments() {
  std::vector<Expr*> args;
  expect("(");
  if (accept(")")) return args;
  do {
    args.push_back(failed_ ? nullptr : expr());
  } while (accept(","));
  expect(")");
  return args;
}

// Whether a name with dots ends at a brace.
bool Parser::is_message() const {
  std::size_t ahead = is_symbol(".") ? 1 : 0;
  while (peek(ahead).kind == TokenKind::kIdentifier) {
    if (is_symbol("{", ahead + 1)) return true;
    if (!is_symbol(".", ahead + 1)) return false;
    ahead += 2;
  }
  return false;
}

Expr* Parser::primary() {
  if (is_message()) return message();
  if (peek().kind == TokenKind::kIdentifier || is_symbol(".")) return named();
  if (accept("(")) {
    Expr* nested = expr();
    expect(")");
    return nested;
  }
  if (is_symbol("[")) return list();
  if (is_symbol("{")) return map();
  return literal();
}

Expr* Parser::named() {
  const bool dotted = accept(".");
  const Token token = peek();
  if (token.kind != TokenKind::kIdentifier) return unexpected("IDENTIFIER");
  take();
  if (is_reserved(token.text)) {
    issues_.push_back({token.offset, "reserved identifier: " + std::string(token.text)});
  }
  const std::string_view name = ast_.arena().copy((dotted ? "." : "") + std::string(token.text));
  if (is_symbol("(")) {
    const std::uint32_t open = peek().offset;
    return call({name, nullptr, arguments(), open}, name, 0);
  }
  Expr* made = ast_.make(ExprKind::kIdent, token.offset);
  made->name = name;
  return made;
}

// Entries with commas between them up to `close`; a comma may stand behind the last one.
template <class Entry>
Expr* Parser::entries(Expr* made, std::string_view close, const Entry& entry) {
  while (!failed_ && !is_symbol(close) && !is_symbol(",")) {
    made->optional.push_back(accept("?"));
    entry();
    if (!is_symbol(",") || is_symbol(close, 1)) break;
    take();
  }
  accept(",");
  expect(close);
  if (!failed_) made->depth = deepest(nullptr, made->args);
  return made;
}

Expr* Parser::list() {
  Expr* made = ast_.make(ExprKind::kList, take().offset);
  return entries(made, "]", [&] { made->args.push_back(expr()); });
}

Expr* Parser::map() {
  Expr* made = ast_.make(ExprKind::kMap, take().offset);
  return entries(made, "}", [&] {
    made->args.push_back(expr());
    expect(":");
    made->args.push_back(failed_ ? nullptr : expr());
  });
}

Expr* Parser::message() {
  std::string name = accept(".") ? "." : "";
  while (!is_symbol("{")) name += take().text;
  Expr* made = ast_.make(ExprKind::kStruct, take().offset);
  made->name = ast_.arena().copy(name);
  return entries(made, "}", [&] {
    made->fields.push_back(field_name());
    expect(":");
    made->args.push_back(failed_ ? nullptr : expr());
  });
}

Expr* Parser::number(const Token& token, bool negative) {
  Value value;
  const char* kind = "int";
  bool fits = false;
  if (token.kind == TokenKind::kInt) {
    const std::optional<std::int64_t> read = int_literal(token.text, negative);
    fits = read.has_value();
    value = Value::integer(read.value_or(0));
  } else if (token.kind == TokenKind::kUint) {
    kind = "uint";
    const std::optional<std::uint64_t> read = uint_literal(token.text);
    fits = read.has_value();
    value = Value::unsigned_integer(read.value_or(0));
  } else {
    kind = "double";
    const std::optional<double> read = double_literal(token.text);
    fits = read.has_value();
    value = Value::real(negative ? -read.value_or(0) : read.value_or(0));
  }
  if (!fits) issues_.push_back({token.offset, std::string("invalid ") + kind + " literal"});
  return constant(value, token.offset);
}

Expr* Parser::quoted(const Token& token) {
  const bool is_bytes = token.kind == TokenKind::kBytes;
  const std::optional<std::string> text = unescape(token.text.substr(is_bytes ? 1 : 0), is_bytes);
  if (!text) issues_.push_back({token.offset, "unable to unescape string"});
  const std::string_view kept = ast_.arena().copy(text.value_or(""));
  return constant(Value::text(is_bytes ? Kind::kBytes : Kind::kString, kept), token.offset);
}

Expr* Parser::literal() {
  const bool negative = is_symbol("-");
  const Token token = peek(negative ? 1 : 0);
  const bool is_number = token.kind == TokenKind::kInt || token.kind == TokenKind::kDouble ||
                         (token.kind == TokenKind::kUint && !negative);
  if (negative && is_number) take();
  if (is_number) return number(take(), negative);
  if (token.kind == TokenKind::kString || token.kind == TokenKind::kBytes) return quoted(take());
  if (accept("true")) return constant(Value::boolean(true), token.offset);
  if (accept("false")) return constant(Value::boolean(false), token.offset);
  if (accept("null")) return constant(Value(), token.offset);
  return unexpected();
}

}  // namespace

void parse(std::string_view source, Ast& ast, std::vector<Issue>& issues) {
  if (const std::uint64_t size = code_point_count(source); size > kCodePointsMax) {
    issues.push_back({0, "expression code point size exceeds limit: size: " + std::to_string(size) +
                             ", limit " + std::to_string(kCodePointsMax)});
    return;
  }
  std::vector<Token> tokens = tokenize(source, issues);
  if (!issues.empty()) return;
  Parser(std::move(tokens), ast, issues).run();
}

}  // namespace gang::cel
