#!/usr/bin/env python3
"""Every rule of check_tree.py against a tiny tree that breaks it and one that keeps it."""

import unittest

import check_tree
from functions import count_parameters, declared_parameters, find_functions
from tree import Tree, blank_literals

HEADER = "// What it is.\n#pragma once\n"
LOCKED = "class A {\n  const int limit_;\n  Mutex mutex_;\n  int count_ GUARDED_BY(mutex_);\n};\n"
DEEP = "void f() {\n" + "".join(f"{'  ' * n}if (a{n}) {{\n" for n in range(1, 5)) + "}" * 5 + "\n"
FLAT = "void f() {\n  for (;;) {\n    if (a) {\n      if (b) return;\n    }\n  }\n}\n"
PAGE = "# A\n<!-- tree -->\n```\n{}\n```\n<!-- /tree -->\n"
TOP = {name: "x\n" for name in ("CMakeLists.txt", "CMakePresets.json", "LICENSE", "README.md")}
TOP.update({f"{name}/x": "x\n" for name in ("config", "deploy", "docs", "include", "src", "test")})
LONG = "".join(f"int variable_{n} = {n};\n" for n in range(600))
COPIED = "".join(f"  call_number_{n}();\n" for n in range(12))


def body(lines):
    return "void f() {\n" + "  g();\n" * (lines - 2) + "}\n"


# rule: (a tree that breaks it, a tree that keeps it)
EXAMPLES = {
    "layering": (
        {"src/cluster/a.cpp": '#include "gang/engine/plan.h"\n',
         "include/gang/engine/plan.h": HEADER},
        {"src/engine/a.cpp": '#include "gang/cluster/gang.h"\n',
         "include/gang/cluster/gang.h": HEADER},
    ),
    "confined_third_party": (
        {"src/engine/a.cpp": "#include <nlohmann/json.hpp>\n"},
        {"src/api/json_pod.cpp": "#include <nlohmann/json.hpp>\n"},
    ),
    "third_party_counts": (
        {f"src/app/{n}.cpp": "#include <spdlog/spdlog.h>\n" for n in "abcd"},
        {f"src/app/{n}.cpp": "#include <spdlog/spdlog.h>\n" for n in "abc"},
    ),
    "exceptions_end_in_wrappers": (
        {"src/kube/lease.cpp": "void f() { throw 1; }\n"},
        {"src/kube/http_cpprest.cpp": "#include <cpprest/json.h>\nvoid f() { throw 1; }\n"},
    ),
    "public_header_contract": (
        {"include/gang/api/a.h": "#pragma once\nint a;\n"},
        {"include/gang/api/a.h": HEADER},
    ),
    "headers_say_pragma_once": ({"src/api/a.h": "int a;\n"}, {"src/api/a.h": HEADER}),
    "public_headers_name_no_third_party": (
        {"include/gang/api/a.h": HEADER + "#include <yaml-cpp/yaml.h>\n"},
        {"include/gang/base/result.h": HEADER + "#include <tl/expected.hpp>\n#include <vector>\n"},
    ),
    "public_types_have_a_contract": (
        {"include/gang/api/a.h": HEADER + "\nstruct Pod {\n};\n"},
        {"include/gang/api/a.h": HEADER + "\n/// A pod.\ntemplate <class T>\nstruct Pod {\n};\n"
                                 "class Forward;\n"},
    ),
    "public_header_counts": (
        {"include/gang/binder/a.h": HEADER, "include/gang/binder/b.h": HEADER},
        {"include/gang/binder/a.h": HEADER, "src/binder/b.h": HEADER},
    ),
    "precise_names": (
        {"src/api/a.h": HEADER + "class PodManager {\n};\n"},
        {"src/api/a.h": HEADER + "class NodeInfo {\n  int name() const;\n};\n"},
    ),
    "no_test_access_by_friendship": (
        {"src/api/a.h": "class A {\n  friend class B;\n};\n"},
        {"src/api/a.h": "class A {\n  friend bool operator==(const A&, const A&) = default;\n};\n"},
    ),
    "file_length": ({"src/api/a.cpp": LONG}, {"src/api/a.cpp": LONG[:9000]}),
    "line_width": (
        {"src/api/a.cpp": "// " + "x" * 98 + "\n"},
        {"src/api/a.cpp": "// " + "x" * 97 + "\n", "docs/a.md": "x" * 200 + "\n"},
    ),
    "function_length": ({"src/api/a.cpp": body(71)}, {"src/api/a.cpp": body(70)}),
    "function_parameters": (
        {"src/api/a.cpp": "int f(int a, int b, int c, int d, int e, int g) {\n}\n"},
        {"src/api/a.cpp": "int f(std::map<int, int> a, int b, int c, int d, int e) {\n}\n"},
    ),
    "function_nesting": ({"src/api/a.cpp": DEEP}, {"src/api/a.cpp": FLAT}),
    "no_copied_blocks": (
        {"src/api/a.cpp": COPIED, "src/api/b.cpp": COPIED},
        {"src/api/a.cpp": COPIED, "src/api/b.cpp": COPIED.replace("number_7", "other_7")},
    ),
    "pure_parts_stay_pure": (
        {"src/engine/a.cpp": "auto t = std::chrono::steady_clock::now();\n"},
        {"src/app/a.cpp": "auto t = std::chrono::steady_clock::now();\n",
         "src/engine/a.cpp": '// no steady_clock\nconst char* a = "rand";\n'},
    ),
    "tests_do_not_sleep": (
        {"test/api/a_test.cpp": "std::this_thread::sleep_for(second);\n"},
        {"test/api/a_test.cpp": "clock.advance(second);\n"},
    ),
    "no_using_namespace": (
        {"src/api/a.cpp": "using namespace std;\n"},
        {"src/api/a.cpp": "using std::string;\n"},
    ),
    "shared_pointers_are_to_const": (
        {"src/api/a.cpp": "std::shared_ptr<Pod> a;\n"},
        {"src/api/a.cpp": "std::shared_ptr<const Pod> a;\n"},
    ),
    "todo_has_a_row": (
        {"src/api/a.cpp": "// TODO(lease): later\n", "docs/roadmap.md": "| other |\n"},
        {"src/api/a.cpp": "// TODO(lease): later\n", "docs/roadmap.md": "| `lease` |\n"},
    ),
    "speaks_of_no_machine": (
        {"docs/a.md": "see /tmp/trial/a\n"},
        {"docs/a.md": "see test/api\n", "test/api/a.cpp": 'open("../shared/data");\n'},
    ),
    "locks_live_in_sync_h": (
        {"src/kube/a.cpp": "std::mutex a;\n"},
        {"include/gang/base/sync.h": "std::mutex a;\n"},
    ),
    "few_mutexes": (
        {"src/kube/a.h": "".join(f"  Mutex m{n}_;\n" for n in range(6))},
        {"src/kube/a.h": "".join(f"  mutable Mutex m{n}_;\n" for n in range(5))},
    ),
    "guarded_fields_are_annotated": (
        {"src/kube/a.h": LOCKED.replace("};", "  int other_ = 0;\n};")},
        {"src/kube/a.h": LOCKED},
    ),
    "top_level_entries": ({**TOP, "tools/a": "x\n"}, {**TOP, ".ci/run": "x\n"}),
    "nothing_lies_unused": (
        {"src/api/a.cpp": "\n", "src/api/CMakeLists.txt": "data.cpp\n"},
        {"src/api/a.cpp": '#include "api/a.h"\n', "src/api/a.h": HEADER,
         "src/api/CMakeLists.txt": "gang_library(api SOURCES a.cpp)\n"},
    ),
    "docs_show_the_real_tree": (
        {"docs/architecture.md": PAGE.format("src/api/"), "src/api/a.cpp": "\n"},
        {"docs/architecture.md": PAGE.format("src/api/                 a.{h,cpp} b.cpp\n"
                                             "test/api/"),
         "src/api/a.cpp": "\n", "src/api/a.h": "\n", "src/api/b.cpp": "\n", "test/api/x.cpp": "\n"},
    ),
    "text_is_clean": ({"docs/a.md": "a"}, {"docs/a.md": "a\n"}),
}

MORE_THAT_FAIL = (
    ("layering", {"src/engine/a.cpp": '#include "gang/base/clock.h"\n',
                  "include/gang/base/clock.h": HEADER}),
    ("layering", {"src/binder/a.cpp": '#include "gang/engine/planner.h"\n',
                  "include/gang/engine/planner.h": HEADER}),
    ("layering", {"src/cel/a.cpp": '#include "gang/api/pod.h"\n',
                  "include/gang/api/pod.h": HEADER}),
    ("layering", {"include/gang/kube/a.h": '#include "kube/http.h"\n', "src/kube/http.h": HEADER}),
    ("layering", {"src/kube/a.cpp": '#include "binder/steps.h"\n', "src/binder/steps.h": HEADER}),
    ("layering", {"src/scheduler/a.cpp": '#include "gang/binder/binder.h"\n',
                  "include/gang/binder/binder.h": HEADER}),
    ("layering", {"src/kube/a.cpp": '#include "gang/api/missing.h"\n'}),
    ("layering", {"src/extra/a.cpp": "\n"}),
    ("public_header_contract", {"include/gang/api/a.h": HEADER + "\n" * 149}),
    ("precise_names", {"include/gang/api/a.h": HEADER + "int get_count();\n"}),
    ("function_parameters", {"src/api/a.h": "int f(int a, int b, int c, int d, int e, int g);\n"}),
    ("speaks_of_no_machine", {"README.md": "measured with ../shared/data\n"}),
    ("pure_parts_stay_pure", {"include/gang/api/a.h": HEADER + "#include <mutex>\n"}),
    ("guarded_fields_are_annotated", {"src/kube/a.h": "class A {\n  Mutex mutex_;\n};\n"}),
    ("todo_has_a_row", {"src/api/a.cpp": "// FIXME\n"}),
    ("top_level_entries", {name: text for name, text in TOP.items() if name != "README.md"}),
    ("nothing_lies_unused", {"src/api/a.h": HEADER}),
    ("docs_show_the_real_tree", {"docs/architecture.md": "# A\n"}),
)


def problems(name, texts):
    rule = next(rule for rule in check_tree.RULES if rule.__name__ == name)
    return list(rule(Tree(texts)))


class Rules(unittest.TestCase):
    def test_every_rule_has_an_example(self):
        self.assertEqual(sorted(EXAMPLES), sorted(rule.__name__ for rule in check_tree.RULES))

    def test_every_rule_finds_what_breaks_it(self):
        for name, (bad, _) in EXAMPLES.items():
            with self.subTest(rule=name):
                self.assertNotEqual(problems(name, bad), [])

    def test_every_rule_is_quiet_about_what_keeps_it(self):
        for name, (_, good) in EXAMPLES.items():
            with self.subTest(rule=name):
                self.assertEqual(problems(name, good), [])

    def test_further_trees_that_fail(self):
        for name, bad in MORE_THAT_FAIL:
            with self.subTest(rule=name, tree=sorted(bad)):
                self.assertNotEqual(problems(name, bad), [])

    def test_problems_name_the_line(self):
        found = problems("no_using_namespace", {"src/api/a.cpp": "\n\nusing namespace std;\n"})
        self.assertEqual([(p.path, p.line) for p in found], [("src/api/a.cpp", 3)])


class Functions(unittest.TestCase):
    def functions(self, code):
        return {f.name: f for f in find_functions(blank_literals(code))}

    def nesting(self, code):
        return self.functions(code)["f"].nesting

    def test_literals_and_comments_hide_braces(self):
        code = "void f() {\n  g(\"{\", '{', R\"({)\");  // {\n  /* { */\n}\nint h() {\n}\n"
        found = self.functions(code)
        self.assertEqual({name: f.length for name, f in found.items()}, {"f": 4, "h": 2})

    def test_digit_separators_are_no_characters(self):
        self.assertEqual(blank_literals("f(1'000, '{', 2'000);"), "f(1'000, \" \", 2'000);")

    def test_constructors_with_initialisers(self):
        code = "struct A {\n  A(int a, int b) : a_{a}, b_(b) {\n    g();\n  }\n};\n"
        found = self.functions(code)
        self.assertEqual((found["A"].parameter_count, found["A"].length), (2, 3))

    def test_templates_and_operators(self):
        code = "template <class T, int N = 3>\nT f(T a) const {\n}\nbool operator<(A a, A b) {\n}\n"
        found = self.functions(code)
        self.assertEqual(found["f"].parameter_count, 1)
        self.assertEqual(found["operator<"].parameter_count, 2)

    def test_types_and_values_are_no_functions(self):
        code = "class CAPABILITY(\"m\") A {\n};\nconst std::map<int, int> kA = {{1, 2}};\n"
        self.assertEqual(self.functions(code), {})

    def test_else_if_is_one_level(self):
        code = "void f() {\n  if (a) {\n  } else if (b) {\n  } else {\n  }\n}\n"
        self.assertEqual(self.nesting(code), 1)

    def test_control_without_braces_counts(self):
        code = "void f() {\n  for (A a : b)\n    if (a)\n      return;\n}\n"
        self.assertEqual(self.nesting(code), 2)

    def test_conditions_may_hold_lambdas(self):
        code = "void f() {\n  if (any(a, [](int b) { return b; })) {\n    while (c) d();\n  }\n}\n"
        self.assertEqual(self.nesting(code), 2)

    def test_lambdas_inherit_the_level(self):
        code = "void f() {\n  for (;;) {\n    g([&] {\n      if (a) b();\n    });\n  }\n}\n"
        self.assertEqual(self.nesting(code), 2)

    def test_case_blocks_are_no_level(self):
        code = "void f() {\n  switch (a) {\n    case 1: {\n      if (b) c();\n    }\n  }\n}\n"
        self.assertEqual(self.nesting(code), 2)

    def test_statements_after_a_block_start_anew(self):
        code = "void f() {\n  { g(); }\n  A a{1};\n  if (b) {\n    if (c) d();\n  }\n}\n"
        self.assertEqual(self.nesting(code), 2)

    def test_parameters_are_counted_outside_of_brackets(self):
        words = "std :: map < int , int > & a , std :: function < void ( int , int ) > b".split()
        self.assertEqual(count_parameters(words), 2)
        self.assertEqual(count_parameters([]), 0)

    def test_declarations_are_found(self):
        code = "virtual int f(int a,\n              int b) const = 0;\n"
        self.assertEqual(list(declared_parameters(code)), [(1, "f", 2)])


if __name__ == "__main__":
    unittest.main()
