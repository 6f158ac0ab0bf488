#include "cel/macros.h"

#include <algorithm>
#include <array>

namespace gang::cel {
namespace {

// Makes the nodes of a replacement, all reported at the place of the call.
class Builder {
 public:
  Builder(Ast& ast, std::uint32_t offset) : ast_(ast), offset_(offset) {}

  Expr* literal(Value value) {
    Expr* made = ast_.make(ExprKind::kLiteral, offset_);
    made->literal = value;
    return made;
  }
  Expr* ident(std::string_view name) {
    Expr* made = ast_.make(ExprKind::kIdent, offset_);
    made->name = name;
    return made;
  }
  Expr* accumulator() { return ident(kAccumulator); }
  Expr* list(std::vector<Expr*> elements) {
    Expr* made = ast_.make(ExprKind::kList, offset_);
    made->optional.assign(elements.size(), false);
    made->args = std::move(elements);
    return made;
  }
  Expr* map() { return ast_.make(ExprKind::kMap, offset_); }
  Expr* call(std::string_view function, std::vector<Expr*> args, Expr* target = nullptr) {
    Expr* made = ast_.make(ExprKind::kCall, offset_);
    made->name = function;
    made->target = target;
    made->args = std::move(args);
    return made;
  }
  Expr* presence(Expr* operand, std::string_view field) {
    Expr* made = ast_.make(ExprKind::kSelect, offset_);
    made->target = operand;
    made->name = field;
    made->test_only = true;
    return made;
  }
  Expr* comprehension(Expr* range, std::string_view iter_var, std::string_view accumulator) {
    Expr* made = ast_.make(ExprKind::kComprehension, offset_);
    made->range = range;
    made->iter_var = iter_var;
    made->name = accumulator;
    return made;
  }
  // `name` is `init` inside `body`, as a fold over nothing.
  Expr* bind(std::string_view name, Expr* init, Expr* body) {
    Expr* made = comprehension(list({}), kUnused, name);
    made->init = init;
    made->condition = literal(Value::boolean(false));
    made->step = ident(name);
    made->result = body;
    return made;
  }
  // Shares the node where the tree is too large already: expand_macro() complains of that.
  Expr* copy(Expr* from) {
    if (from == nullptr || ast_.is_full()) return from;
    Expr* made = ast_.make(from->kind, from->offset);
    const std::int64_t id = made->id;
    *made = *from;
    made->id = id;
    for (Expr** child :
         {&made->target, &made->range, &made->init, &made->condition, &made->step, &made->result}) {
      *child = copy(*child);
    }
    for (Expr*& arg : made->args) arg = copy(arg);
    return made;
  }

 private:
  Ast& ast_;
  std::uint32_t offset_;
};

struct Expansion {
  Builder build;
  const MacroCall& call;
  std::vector<Issue>& issues;

  Expr* wrong(const Expr* where, std::string message) {
    issues.push_back({where->offset, std::move(message)});
    return build.literal(Value());
  }
};

using Expander = Expr* (*)(Expansion&);

// One or two iteration variables, then what is left of the arguments; false after an issue.
bool names_variables(Expansion& x, std::size_t count, const char* complaint) {
  for (std::size_t i = 0; i < count; ++i) {
    const Expr* arg = x.call.args[i];
    if (arg->kind != ExprKind::kIdent) return x.wrong(arg, complaint), false;
  }
  if (count == 2 && x.call.args[0]->name == x.call.args[1]->name) {
    const std::string name(x.call.args[0]->name);
    return x.wrong(x.call.args[1], "duplicate variable name: " + name), false;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view name = x.call.args[i]->name;
    if (name != kAccumulator && name != "__result__") continue;
    return x.wrong(x.call.args[i], "iteration variable overwrites accumulator variable"), false;
  }
  return true;
}

Expr* fold(Expansion& x, std::size_t variables) {
  Expr* made = x.build.comprehension(x.call.target, x.call.args[0]->name, kAccumulator);
  if (variables == 2) made->iter_var2 = x.call.args[1]->name;
  return made;
}

template <std::size_t kVariables>
Expr* has_all(Expansion& x) {
  if (!names_variables(x, kVariables, "argument must be a simple name")) return x.call.target;
  Builder& b = x.build;
  Expr* made = fold(x, kVariables);
  made->init = b.literal(Value::boolean(true));
  made->condition = b.call(op::kNotStrictlyFalse, {b.accumulator()});
  made->step = b.call(op::kAnd, {b.accumulator(), x.call.args[kVariables]});
  made->result = b.accumulator();
  return made;
}

template <std::size_t kVariables>
Expr* has_any(Expansion& x) {
  if (!names_variables(x, kVariables, "argument must be a simple name")) return x.call.target;
  Builder& b = x.build;
  Expr* made = fold(x, kVariables);
  made->init = b.literal(Value::boolean(false));
  made->condition = b.call(op::kNotStrictlyFalse, {b.call(op::kNot, {b.accumulator()})});
  made->step = b.call(op::kOr, {b.accumulator(), x.call.args[kVariables]});
  made->result = b.accumulator();
  return made;
}

template <std::size_t kVariables>
Expr* has_one(Expansion& x) {
  if (!names_variables(x, kVariables, "argument must be a simple name")) return x.call.target;
  Builder& b = x.build;
  Expr* made = fold(x, kVariables);
  made->init = b.literal(Value::integer(0));
  made->condition = b.literal(Value::boolean(true));
  Expr* more = b.call(op::kAdd, {b.accumulator(), b.literal(Value::integer(1))});
  made->step = b.call(op::kConditional, {x.call.args[kVariables], more, b.accumulator()});
  made->result = b.call(op::kEquals, {b.accumulator(), b.literal(Value::integer(1))});
  return made;
}

// A fold that collects: `step` adds one element where the filter, if any, holds.
Expr* collected(Expansion& x, Expr* made, Expr* filter, Expr* step) {
  Builder& b = x.build;
  made->condition = b.literal(Value::boolean(true));
  made->step = filter == nullptr ? step : b.call(op::kConditional, {filter, step, b.accumulator()});
  made->result = b.accumulator();
  return made;
}

template <std::size_t kVariables>
Expr* to_list(Expansion& x) {
  const char* complaint =
      kVariables == 1 ? "argument is not an identifier" : "argument must be a simple name";
  if (!names_variables(x, kVariables, complaint)) return x.call.target;
  Builder& b = x.build;
  Expr* made = fold(x, kVariables);
  made->init = b.list({});
  Expr* filter = x.call.args.size() > kVariables + 1 ? x.call.args[kVariables] : nullptr;
  Expr* step = b.call(op::kAdd, {b.accumulator(), b.list({x.call.args.back()})});
  return collected(x, made, filter, step);
}

Expr* to_filtered(Expansion& x) {
  if (!names_variables(x, 1, "argument is not an identifier")) return x.call.target;
  Builder& b = x.build;
  Expr* made = fold(x, 1);
  made->init = b.list({});
  Expr* step = b.call(op::kAdd, {b.accumulator(), b.list({x.call.args[0]})});
  return collected(x, made, x.call.args[1], step);
}

template <bool kEntry>
Expr* to_map(Expansion& x) {
  if (!names_variables(x, 2, "argument must be a simple name")) return x.call.target;
  Builder& b = x.build;
  Expr* made = fold(x, 2);
  made->init = b.map();
  Expr* filter = x.call.args.size() > 3 ? x.call.args[2] : nullptr;
  std::vector<Expr*> inserted = {b.accumulator()};
  if (!kEntry) inserted.push_back(b.ident(made->iter_var));
  inserted.push_back(x.call.args.back());
  return collected(x, made, filter, b.call(op::kMapInsert, std::move(inserted)));
}

Expr* presence(Expansion& x) {
  Expr* arg = x.call.args[0];
  if (arg->kind != ExprKind::kSelect) return x.wrong(arg, "invalid argument to has() macro");
  return x.build.presence(arg->target, arg->name);
}

Expr* bound(Expansion& x) {
  const Expr* target = x.call.target;
  if (target->kind != ExprKind::kIdent || target->name != "cel") return nullptr;
  if (x.call.args[0]->kind != ExprKind::kIdent) {
    return x.wrong(x.call.args[0], "cel.bind() variable names must be simple identifiers");
  }
  return x.build.bind(x.call.args[0]->name, x.call.args[1], x.call.args[2]);
}

template <bool kFlat>
Expr* optional_map(Expansion& x) {
  const Expr* name = x.call.args[0];
  if (name->kind != ExprKind::kIdent) {
    return x.wrong(name,
                   std::string(x.call.function) + "() variable name must be a simple identifier");
  }
  Builder& b = x.build;
  Expr* present = b.call("hasValue", {}, x.call.target);
  Expr* value = b.call("value", {}, b.copy(x.call.target));
  Expr* mapped = b.bind(name->name, value, x.call.args[1]);
  if (!kFlat) mapped = b.call("optional.of", {mapped});
  return b.call(op::kConditional, {present, mapped, b.call("optional.none", {})});
}

Expr* sorted_by(Expansion& x) {
  const ExprKind kind = x.call.target->kind;
  if (kind == ExprKind::kLiteral || kind == ExprKind::kMap || kind == ExprKind::kStruct) {
    return x.wrong(x.call.target,
                   "sortBy can only be applied to a list, identifier, comprehension, call or "
                   "select expression");
  }
  constexpr std::string_view kInput = "@__sortBy_input__";
  Expr* input = x.call.target;
  MacroCall over = x.call;
  over.target = x.build.ident(kInput);
  Expansion inner{x.build, over, x.issues};
  Expr* keys = to_list<1>(inner);
  Expr* sorted = x.build.call("@sortByAssociatedKeys", {keys}, x.build.ident(kInput));
  return x.build.bind(kInput, input, sorted);
}

struct Macro {
  std::string_view function;
  std::size_t arg_count;
  bool has_target;
  Expander expand;
};

constexpr std::array<Macro, 21> kMacros = {{
    {"has", 1, false, presence},
    {"all", 2, true, has_all<1>},
    {"exists", 2, true, has_any<1>},
    {"exists_one", 2, true, has_one<1>},
    {"map", 2, true, to_list<1>},
    {"map", 3, true, to_list<1>},
    {"filter", 2, true, to_filtered},
    {"optMap", 2, true, optional_map<false>},
    {"optFlatMap", 2, true, optional_map<true>},
    {"all", 3, true, has_all<2>},
    {"exists", 3, true, has_any<2>},
    {"existsOne", 3, true, has_one<2>},
    {"exists_one", 3, true, has_one<2>},
    {"transformList", 3, true, to_list<2>},
    {"transformList", 4, true, to_list<2>},
    {"transformMap", 3, true, to_map<false>},
    {"transformMap", 4, true, to_map<false>},
    {"transformMapEntry", 3, true, to_map<true>},
    {"transformMapEntry", 4, true, to_map<true>},
    {"sortBy", 2, true, sorted_by},
    {"bind", 3, true, bound},
}};

}  // namespace

Expr* expand_macro(Ast& ast, const MacroCall& call, std::vector<Issue>& issues) {
  const auto* const macro = std::ranges::find_if(kMacros, [&](const Macro& m) {
    return m.function == call.function && m.arg_count == call.args.size() &&
           m.has_target == (call.target != nullptr);
  });
  if (macro == kMacros.end()) return nullptr;
  if (ast.is_full()) issues.push_back({call.offset, "expression too large after macro expansion"});
  Expansion expansion{Builder(ast, call.offset), call, issues};
  return macro->expand(expansion);
}

}  // namespace gang::cel
