#include "sim/verb_forms.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

#include "sim/claim_words.h"

namespace gang::sim {

namespace {

/// Options that a verb reads beside its own: those of a pod, of a gang's
/// pods and group, of a group, of what a claim asks for, or any key (labels of a node).
enum class More { kNone, kPod, kGang, kGroup, kAsk, kAny };

constexpr std::size_t kMany = std::numeric_limits<std::size_t>::max();

/// One verb: its form for the error, the count of its words, the options it reads.
struct Form {
  std::string_view verb;
  std::string_view text;
  std::size_t words_min;
  std::size_t words_max;
  std::string_view options;  ///< its own, each with a space on both sides
  More more = More::kNone;
};

constexpr std::array kForms = {
    Form{"advance", "advance 30s", 1, 1, ""},
    Form{"allocate", "allocate CLAIM POOL/DEVICE... [for=POD]", 2, kMany, " for "},
    Form{"claim", "claim NAME... class=gpu [count=2] [all] [admin] ...", 1, kMany, "", More::kAsk},
    Form{"class", "class NAME... [driver=gpu.example.com] [selector=\"...\"] [extended=x.org/gpu]",
         1, kMany, " driver selector extended "},
    Form{"condition", "condition CLAIM example.com/ready=True|False", 1, 1, "", More::kAny},
    Form{"config", "config key=value", 0, 0, "", More::kAny},
    Form{"crash", "crash [after=2|writes=2]", 0, 0, " after writes "},
    Form{"cycle", "cycle", 0, 0, ""},
    Form{"deallocate", "deallocate CLAIM", 1, 1, ""},
    Form{"delete", "delete pod|group|node|claim|... NAME... [grace=30s]", 2, kMany, " grace "},
    Form{"device", "device POOL/DEVICE... taint=key:NoSchedule|untaint=key", 1, kMany,
         " taint untaint "},
    Form{"devices",
         "devices NODE... gpu=2 driver=gpu.example.com [attribute.x=1] "
         "[capacity.memory=80Gi]",
         1, kMany, "", More::kAny},
    Form{"drop", "drop watch KIND", 2, 2, ""},
    Form{"fail",
         "fail POD... [reason=OutOfcpu], or fail bind POD|status POD|claim CLAIM|intent GANG "
         "conflict|error|timeout|executed|late|throttled|forbidden [times=3] [after=1]",
         1, kMany, " times after reason "},
    Form{"finish", "finish POD...", 1, kMany, ""},
    Form{"gang", "gang NAME [basic] [bare] pods=4 min=4 ...", 1, 3, " pods min parent topology ",
         More::kGang},
    Form{"gangs", "gangs NAME... [basic] [bare] pods=4 min=4 ...", 1, kMany,
         " pods min parent topology ", More::kGang},
    Form{"group", "group NAME [basic] min=4 ...", 1, 2, " min priority namespace topology parent ",
         More::kGroup},
    Form{"load", "load FILE.yaml", 1, 1, ""},
    Form{"namespace", "namespace NAME... [label=value]", 1, kMany, "", More::kAny},
    Form{"node", "node NAME [cordon|uncordon] [key=value]...", 1, 2, "", More::kAny},
    Form{"nodes", "nodes NAME [cordon] [key=value]...", 1, 2, "", More::kAny},
    Form{"plan", "plan GANG", 1, 1, ""},
    Form{"pods", "pods NAME... [bare] [key=value]...", 1, kMany, "", More::kPod},
    Form{"republish", "republish NODE... [gpu=2 driver=gpu.example.com ...]", 1, kMany, "",
         More::kAny},
    Form{"restart", "restart", 0, 0, ""},
    Form{"restore", "restore watch KIND [expired]", 2, 3, ""},
    Form{"rule", "rule NAME... [all] taint=key:NoSchedule [driver=] [pool=] [device=]", 1, kMany,
         " taint driver pool device "},
    Form{"running", "running NAME... on=NODE [key=value]...", 1, kMany, " on ", More::kPod},
    Form{"serve", "serve KIND", 1, 1, ""},
    Form{"show", "show pods|queue|conditions|events|writes|nodes|claims|intents", 1, 1, ""},
    Form{"template", "template NAME... class=gpu [count=2] [all] [admin] ...", 1, kMany, "",
         More::kAsk},
    Form{"ungate", "ungate POD...", 1, kMany, ""},
    Form{"unserve", "unserve KIND", 1, 1, ""},
    Form{"update", "update group NAME min=N", 2, 2, " min "},
};

/// Options of verbs, never of pods.
constexpr std::string_view kVerbOptions = " pods min on parent topology grace times after reason ";

/// Options of what a claim asks for.
constexpr std::string_view kAskOptions = " class count selector tolerate match distinct namespace ";

/// Options that may stand several times, each adding one.
constexpr std::string_view kRepeated =
    " taint untaint tolerate port gate affinity repels uses claim shared selector match "
    "distinct ";

bool has(std::string_view list, const std::string& key) {
  return list.find(" " + key + " ") != std::string_view::npos;
}

bool reads(const Form& form, const std::string& key) {
  if (has(form.options, key) || form.more == More::kAny) return true;
  if (form.more == More::kGroup) return names_claim(key);
  if (form.more == More::kAsk) return has(kAskOptions, key) || key.starts_with("capacity.");
  if (names_shared_claim(key)) return form.more == More::kGang;
  const bool makes_pods = form.more == More::kPod || form.more == More::kGang;
  return makes_pods && !has(kVerbOptions, key);
}

std::string write(const Form& form) {
  return "write: " + std::string(form.text);
}

Result<void> check_words(const Form& form, const Command& command) {
  const std::size_t words = command.words().size();
  if (words < form.words_min) {
    return fail(Code::kInvalidArgument, "a word is missing; " + write(form));
  }
  if (words > form.words_max) {
    return fail(Code::kInvalidArgument,
                "\"" + command.words().back() + "\" is one word too many; " + write(form));
  }
  return {};
}

Result<void> check_options(const Form& form, const Command& command) {
  const auto& options = command.options();
  for (auto option = options.begin(); option != options.end(); ++option) {
    const std::string& key = option->first;
    if (!reads(form, key)) {
      return fail(Code::kInvalidArgument, key + "= is not read here; " + write(form));
    }
    const bool is_double =
        std::any_of(options.begin(), option, [&](const auto& other) { return other.first == key; });
    if (is_double && !has(kRepeated, key)) {
      return fail(Code::kInvalidArgument, key + "= is there twice; keep one");
    }
  }
  return {};
}

}  // namespace

std::string verb_list() {
  std::string verbs;
  for (const Form& form : kForms) verbs += (verbs.empty() ? "" : ", ") + std::string(form.verb);
  return verbs;
}

Result<void> check_form(const Command& command) {
  const auto form = std::find_if(kForms.begin(), kForms.end(),
                                 [&](const Form& f) { return f.verb == command.verb(); });
  if (form == kForms.end()) {
    return fail(Code::kInvalidArgument,
                "\"" + command.verb() + "\" is no verb; write one of " + verb_list());
  }
  Result<void> good = check_words(*form, command);
  if (good) good = check_options(*form, command);
  if (!good) return in_context(command.verb(), std::move(good).error());
  return good;
}

}  // namespace gang::sim
