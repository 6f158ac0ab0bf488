#include "sim/manifest.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <utility>

#include "gang/api/json.h"
#include "gang/base/yaml_documents.h"

namespace gang::sim {

namespace {

constexpr int kNodesMax = 200'000;
constexpr int kDepthMax = 100;
constexpr std::size_t kObjectsMax = 100'000;
constexpr std::size_t kTextBytesMax = 64 << 20;

constexpr int kDocumentsMax = 10'000;

std::string position(int line, int column) {
  return "line " + std::to_string(line) + " column " + std::to_string(column) + ": ";
}

std::string position(const YAML::Mark& mark) {
  return position(mark.line + 1, mark.column + 1);
}

bool is_quoted(const YAML::Node& scalar) {
  return scalar.Tag() == "!" || scalar.Tag() == "tag:yaml.org,2002:str";
}

/// A merge key puts the fields of another map here; YAML 1.2 has none.
Result<void> check_no_merge(const YAML::Node& key) {
  if (key.Scalar() != "<<" || is_quoted(key)) return {};
  return fail(Code::kInvalidArgument,
              position(key.Mark()) + "the merge key << is not read; write its fields out");
}

void append_string(std::string& out, const std::string& text) {
  static constexpr char kHex[] = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20) {
      out += "\\u00";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  out += '"';
}

bool all_digits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); });
}

/// [-+]?(0|[1-9][0-9]*)
bool is_integer(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return all_digits(text) && (text.size() == 1 || text[0] != '0');
}

/// Digits with a point or an exponent, as JSON writes numbers.
bool is_decimal(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  const std::size_t e = text.find_first_of("eE");
  std::string_view mantissa = text.substr(0, e);
  const std::size_t dot = mantissa.find('.');
  if (dot != std::string_view::npos && !all_digits(mantissa.substr(dot + 1))) return false;
  if (!is_integer(mantissa.substr(0, dot)) || mantissa.starts_with('+')) return false;
  if (e == std::string_view::npos) return dot != std::string_view::npos;
  std::string_view exponent = text.substr(e + 1);
  if (exponent.starts_with('-') || exponent.starts_with('+')) exponent.remove_prefix(1);
  return all_digits(exponent);
}

bool is_one_of(std::string_view text, const std::vector<std::string_view>& words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

/// A plain scalar that YAML 1.1 reads differently from how it would be read here.
bool is_ambiguous(const std::string& text) {
  static const std::vector<std::string_view> kWords = {"y",  "Y",   "yes", "Yes", "YES", "n",
                                                       "N",  "no",  "No",  "NO",  "on",  "On",
                                                       "ON", "off", "Off", "OFF"};
  if (is_one_of(text, kWords)) return true;
  std::string_view digits = text;
  if (digits.starts_with('-') || digits.starts_with('+')) digits.remove_prefix(1);
  if (digits.size() > 1 && digits[0] == '0' && all_digits(digits)) return true;
  if (digits.starts_with("0x") || digits.starts_with("0b") || digits.starts_with("0o")) return true;
  const bool has_underscore = digits.find('_') != std::string_view::npos;
  return has_underscore && !digits.empty() && std::isdigit(static_cast<unsigned char>(digits[0])) &&
         std::all_of(digits.begin(), digits.end(),
                     [](unsigned char c) { return std::isdigit(c) || c == '_'; });
}

/// Turns one YAML document into JSON text, within limits.
class JsonWriter {
 public:
  Result<std::string> write(const YAML::Node& document) {
    GANG_TRY_VOID(append(document, 0));
    return std::move(out_);
  }

 private:
  Result<void> append(const YAML::Node& node, int depth) {
    if (++count_ > kNodesMax || depth > kDepthMax) {
      return fail(Code::kResourceExhausted,
                  position(node.Mark()) + "the document is too large or too deep; split it");
    }
    switch (node.Type()) {
      case YAML::NodeType::Map:
        return append_map(node, depth);
      case YAML::NodeType::Sequence:
        return append_sequence(node, depth);
      case YAML::NodeType::Scalar:
        return append_scalar(node);
      default:
        out_ += "null";
        return {};
    }
  }

  Result<void> append_map(const YAML::Node& node, int depth) {
    out_ += '{';
    std::vector<std::string> keys;
    for (const auto& entry : node) {
      if (!entry.first.IsScalar()) {
        return fail(Code::kInvalidArgument,
                    position(entry.first.Mark()) + "a key is one word; write key: value");
      }
      GANG_TRY_VOID(check_no_merge(entry.first));
      const std::string key = entry.first.Scalar();
      if (std::find(keys.begin(), keys.end(), key) != keys.end()) {
        return fail(Code::kInvalidArgument, position(entry.first.Mark()) + "the key \"" + key +
                                                "\" is there twice; remove one");
      }
      if (!keys.empty()) out_ += ',';
      append_string(out_, key);
      keys.push_back(key);
      out_ += ':';
      GANG_TRY_VOID(append(entry.second, depth + 1));
    }
    out_ += '}';
    return {};
  }

  Result<void> append_sequence(const YAML::Node& node, int depth) {
    out_ += '[';
    bool first = true;
    for (const auto& item : node) {
      if (!std::exchange(first, false)) out_ += ',';
      GANG_TRY_VOID(append(item, depth + 1));
    }
    out_ += ']';
    return {};
  }

  Result<void> append_scalar(const YAML::Node& node) {
    const std::string& text = node.Scalar();
    if (is_quoted(node)) {
      append_string(out_, text);
    } else if (is_ambiguous(text)) {
      return fail(Code::kInvalidArgument,
                  position(node.Mark()) + "\"" + text + "\" means different things; quote it");
    } else if (text.empty() || is_one_of(text, {"null", "Null", "NULL", "~"})) {
      out_ += "null";
    } else if (is_one_of(text, {"true", "True", "TRUE"})) {
      out_ += "true";
    } else if (is_one_of(text, {"false", "False", "FALSE"})) {
      out_ += "false";
    } else if ((is_integer(text) && text[0] != '+') || is_decimal(text)) {
      out_ += text;
    } else {
      append_string(out_, text);
    }
    return {};
  }

  std::string out_;
  int count_ = 0;
};

/// The one version of a kind that the daemon reads.
struct ReadVersion {
  api::Kind kind;
  std::string_view api_version;
};

constexpr std::array kReadVersions = {
    ReadVersion{api::Kind::kPod, "v1"},
    ReadVersion{api::Kind::kNode, "v1"},
    ReadVersion{api::Kind::kNamespace, "v1"},
    ReadVersion{api::Kind::kPodGroup, "scheduling.k8s.io/v1beta1"},
    ReadVersion{api::Kind::kCompositePodGroup, "scheduling.k8s.io/v1alpha3"},
    ReadVersion{api::Kind::kWorkload, "scheduling.k8s.io/v1beta1"},
    ReadVersion{api::Kind::kPriorityClass, "scheduling.k8s.io/v1"},
    ReadVersion{api::Kind::kResourceSlice, "resource.k8s.io/v1"},
    ReadVersion{api::Kind::kResourceClaim, "resource.k8s.io/v1"},
    ReadVersion{api::Kind::kResourceClaimTemplate, "resource.k8s.io/v1"},
    ReadVersion{api::Kind::kDeviceClass, "resource.k8s.io/v1"},
    ReadVersion{api::Kind::kDeviceTaintRule, "resource.k8s.io/v1"},
};

/// "scheduling.k8s.io" of "scheduling.k8s.io/v1"; empty for "v1".
std::string_view group_of(std::string_view api_version) {
  const std::size_t slash = api_version.find('/');
  return slash == std::string_view::npos ? "" : api_version.substr(0, slash);
}

/// What an object says of itself.
struct Heading {
  std::string api_version;
  std::string kind;
  std::string name;
};

std::string text_of(const Heading& heading) {
  return (heading.kind.empty() ? "object without kind" : heading.kind) + " " + heading.name;
}

/// Whether the object is of this kind. A kind of the same name in another API group is another one;
/// another version of this group, or none, would be read wrongly.
Result<bool> is_of(const ReadVersion& known, const Heading& heading) {
  if (api::kind_name(known.kind) != heading.kind) return false;
  if (heading.api_version == known.api_version) return true;
  const std::string mend = "; write apiVersion: " + std::string(known.api_version);
  if (heading.api_version.empty()) {
    return fail(Code::kInvalidArgument, text_of(heading) + ": apiVersion is missing" + mend);
  }
  const std::string_view group = group_of(heading.api_version);
  if (!group.empty() && group != group_of(known.api_version)) return false;
  return fail(Code::kInvalidArgument,
              text_of(heading) + ": apiVersion \"" + heading.api_version + "\" is not read" + mend);
}

Result<std::optional<api::Kind>> kind_of(const Heading& heading) {
  for (const ReadVersion& known : kReadVersions) {
    GANG_TRY(const bool matches, is_of(known, heading));
    if (matches) return known.kind;
  }
  return std::nullopt;
}

/// Why the object is skipped, as an operator reads it.
std::string skip_text(const Heading& heading) {
  const auto known = std::find_if(
      kReadVersions.begin(), kReadVersions.end(),
      [&](const ReadVersion& read) { return api::kind_name(read.kind) == heading.kind; });
  const std::string text = text_of(heading);
  if (known == kReadVersions.end()) return text + ": " + std::string(kHeldKinds);
  return text + " of " + heading.api_version + ": the simulator holds the " + heading.kind +
         " of " + std::string(known->api_version) + " only";
}

std::string scalar_at(const YAML::Node& map, const char* key) {
  const YAML::Node value = map[key];
  return value.IsDefined() && value.IsScalar() ? value.Scalar() : std::string();
}

/// What a limit names and the requests do not is requested too, as the API server's defaults say.
void default_requests(YAML::Node holder) {
  YAML::Node resources = holder["resources"];
  if (!resources.IsDefined() || !resources.IsMap()) return;
  const YAML::Node limits = std::as_const(resources)["limits"];
  if (!limits.IsDefined() || !limits.IsMap()) return;
  const YAML::Node known = std::as_const(resources)["requests"];
  if (known.IsDefined() && !known.IsMap() && !known.IsNull()) return;
  for (const auto& limit : limits) {
    if (!limit.first.IsScalar()) continue;
    const std::string& name = limit.first.Scalar();
    const YAML::Node requests = std::as_const(resources)["requests"];
    if (requests.IsDefined() && requests.IsMap() && requests[name].IsDefined()) continue;
    resources["requests"][name] = limit.second;
  }
}

void default_pod(const YAML::Node& pod) {
  YAML::Node spec = pod["spec"];
  if (!spec.IsDefined() || !spec.IsMap()) return;
  default_requests(spec);
  for (const char* list : {"initContainers", "containers"}) {
    const YAML::Node containers = std::as_const(spec)[list];
    if (!containers.IsDefined() || !containers.IsSequence()) continue;
    for (const auto& container : containers) {
      if (container.IsMap()) default_requests(container);
    }
  }
}

/// A claim's spec written one level too high would be read as a template for nothing.
Result<void> check_template(const YAML::Node& document) {
  const YAML::Node spec = document["spec"];
  const bool has_map = spec.IsDefined() && spec.IsMap();
  if (has_map && spec["spec"].IsDefined() && spec["spec"].IsMap()) return {};
  return fail(Code::kInvalidArgument,
              "spec.spec is missing; write the spec of the claims below spec.spec");
}

Heading heading_of(const YAML::Node& document) {
  const YAML::Node metadata = document["metadata"];
  const bool has_name = metadata.IsDefined() && metadata.IsMap();
  return {scalar_at(document, "apiVersion"), scalar_at(document, "kind"),
          has_name ? scalar_at(metadata, "name") : std::string()};
}

Result<void> read_object(const YAML::Node& document, Manifest& manifest) {
  const Heading heading = heading_of(document);
  GANG_TRY(const std::optional<api::Kind> kind, kind_of(heading));
  if (!kind) {
    manifest.skipped.push_back(skip_text(heading));
    return {};
  }
  const int line = document.Mark().line + 1;
  if (kind == api::Kind::kPod) default_pod(document);
  if (kind == api::Kind::kResourceClaimTemplate) {
    Result<void> good = check_template(document);
    if (!good) return in_context(text_of(heading), std::move(good).error());
  }
  GANG_TRY(const std::string json, JsonWriter().write(document));
  Result<api::Object> object = api::decode_object(*kind, json);
  if (!object) return in_context(text_of(heading), std::move(object).error());
  manifest.objects.push_back({line, *kind, *std::move(object)});
  return {};
}

Result<void> add_object(const YAML::Node& document, Manifest& manifest) {
  // A merge key at the top may hold the kind.
  for (const auto& entry : document) {
    if (entry.first.IsScalar()) GANG_TRY_VOID(check_no_merge(entry.first));
  }
  Result<void> done = read_object(document, manifest);
  const bool has_place = done || done.error().message.starts_with("line ");
  if (has_place) return done;
  return in_context("line " + std::to_string(document.Mark().line + 1), std::move(done).error());
}

Result<void> add_map(const YAML::Node& document, Manifest& manifest) {
  if (document.IsMap()) return add_object(document, manifest);
  return fail(Code::kInvalidArgument,
              position(document.Mark()) +
                  "a manifest document is a map; write apiVersion, kind and metadata");
}

/// A document: an object, or a List of objects. Aliases let a short text hold many or endless
/// lists; so a list in a list is refused, and objects are counted.
Result<void> add_document(const YAML::Node& document, Manifest& manifest) {
  if (document.IsNull()) return {};
  const bool is_list = document.IsMap() && scalar_at(document, "kind") == "List";
  if (!is_list) return add_map(document, manifest);
  const YAML::Node items = document["items"];
  if (!items.IsDefined() || !items.IsSequence()) {
    return fail(Code::kInvalidArgument,
                position(document.Mark()) + "a List has a sequence items; write items: [...]");
  }
  if (items.size() > kObjectsMax) {
    return fail(Code::kResourceExhausted,
                position(items.Mark()) + "the list holds too many objects; split it");
  }
  for (const auto& item : items) {
    if (item.IsMap() && scalar_at(item, "kind") == "List") {
      return fail(Code::kInvalidArgument,
                  position(item.Mark()) + "a List in a List; write its items instead");
    }
    GANG_TRY_VOID(add_map(item, manifest));
  }
  return {};
}

}  // namespace

Result<Manifest> parse_manifest(std::string_view yaml) {
  Manifest manifest;
  if (yaml.size() > kTextBytesMax) {
    return fail(Code::kResourceExhausted, "larger than 64 MiB; split the manifest");
  }
  try {
    const std::string text(yaml);
    if (!has_few_documents(text, kDocumentsMax)) {
      return fail(Code::kResourceExhausted,
                  "more than 10,000 documents, or a stray comma between two; split or mend it");
    }
    for (const YAML::Node& document : YAML::LoadAll(text)) {
      GANG_TRY_VOID(add_document(document, manifest));
    }
  } catch (const YAML::Exception& error) {
    const YamlFault fault = yaml_fault(
        yaml, {error.mark.line + 1, error.mark.column + 1, error.msg + "; mend the YAML"});
    return fail(Code::kInvalidArgument, position(fault.line, fault.column) + fault.problem);
  }
  return manifest;
}

}  // namespace gang::sim
