// ConfigMaps, and intents as the text in one of them.
#include <algorithm>

#include <nlohmann/json.hpp>

#include "api/gzip.h"
#include "api/json_kinds.h"
#include "api/json_reader.h"
#include "api/json_sax.h"
#include "gang/api/intent.h"
#include "gang/base/base64.h"

namespace gang::api {
namespace {

using Json = nlohmann::json;

// Where an intent stands: as it is, or where it is long as base64 of its gzip.
constexpr const char* kIntentKey = "intent";
constexpr const char* kPackedKey = "intent.gz";
constexpr std::size_t kPlainBytesMax = std::size_t{256} << 10U;
constexpr std::size_t kTextBytesMax = std::size_t{16} << 20U;  // of one that is read
constexpr std::string_view kNamePrefix = "intent-";
constexpr Want kMapWants[] = {Want("kind"), Want("metadata", kMetaWants), Want("data")};
constexpr Want kMapWant("", kMapWants);
constexpr Want kIntentWants[] = {Want("format"),  Want("gang"),  Want("minimum"), Want("base"),
                                 Want("need"),    Want("epoch"), Want("stamp"),   Want("phase"),
                                 Want("members"), Want("claims")};
constexpr Want kIntentWant("", kIntentWants);

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

const char* phase_text(IntentPhase phase) {
  switch (phase) {
    case IntentPhase::kClaiming:
      return "Claiming";
    case IntentPhase::kCommitted:
      return "Committed";
    case IntentPhase::kAborting:
      return "Aborting";
  }
  return "";
}

Json object_json(const ObjectKey& key, const Uid& uid) {
  return {{"namespace", key.name_space}, {"name", key.name}, {"uid", uid.text}};
}

Json intent_json(const Intent& intent) {
  Json members = Json::array();
  for (const IntentMember& member : intent.members) {
    Json json = object_json(member.pod, member.uid);
    json["node"] = member.node_name;
    members.push_back(std::move(json));
  }
  Json claims = Json::array();
  for (const IntentClaim& claim : intent.claims) {
    Json json = object_json(claim.claim, claim.uid);
    if (claim.allocates) json["allocates"] = true;
    if (!claim.made_for.empty()) json["madeFor"] = claim.made_for.text;
    claims.push_back(std::move(json));
  }
  return {{"format", kIntentFormat},       {"gang", object_json(intent.gang, intent.gang_uid)},
          {"minimum", intent.minimum},     {"base", intent.base},
          {"need", intent.need},           {"epoch", intent.epoch},
          {"stamp", intent.stamp},         {"phase", phase_text(intent.phase)},
          {"members", std::move(members)}, {"claims", std::move(claims)}};
}

struct Reference {
  ObjectKey key;
  Uid uid;
};

Reference reference_from(JsonView json, JsonReader& reader) {
  Reference reference;
  reference.key = {reader.text(json, "namespace"), reader.text(json, "name")};
  reference.uid.text = reader.text(json, "uid");
  if (reference.key.name.empty() || reference.uid.empty()) {
    reader.refuse(json, "names no object; it was not written by this scheduler");
  }
  return reference;
}

/// One that the round makes has no uid when it is listed.
IntentClaim claim_from(JsonView json, JsonReader& reader) {
  IntentClaim claim{.claim = {reader.text(json, "namespace"), reader.text(json, "name")},
                    .uid = {reader.text(json, "uid")},
                    .allocates = reader.flag(json, "allocates"),
                    .made_for = {reader.text(json, "madeFor")}};
  if (claim.claim.name.empty() || (claim.uid.empty() && claim.made_for.empty())) {
    reader.refuse(json, "names no claim; it was not written by this scheduler");
  }
  return claim;
}

IntentPhase phase_from(JsonView json, JsonReader& reader) {
  const std::string text = reader.text(json, "phase");
  for (const IntentPhase phase :
       {IntentPhase::kClaiming, IntentPhase::kCommitted, IntentPhase::kAborting}) {
    if (text == phase_text(phase)) return phase;
  }
  reader.refuse(reader.at(json, "phase"), "is no phase of an intent");
  return IntentPhase::kClaiming;
}

/// The text of the intent, unpacked where it is packed.
Result<std::string> text_of(const ConfigMap& map) {
  const auto plain = map.data.find(kIntentKey);
  if (plain != map.data.end()) return plain->second;
  const auto packed = map.data.find(kPackedKey);
  if (packed == map.data.end()) {
    return fail(Code::kInvalidArgument,
                "data.intent is missing; delete the ConfigMap if no round is under way");
  }
  Result<std::string> text = decode_base64(packed->second).and_then([](const std::string& bytes) {
    return unpack_gzip(bytes, kTextBytesMax);
  });
  if (!text) return fail(text.error().code, "data.intent.gz: " + text.error().message);
  return text;
}

/// Gangs and claims are namespaced: a round touches nothing elsewhere.
bool is_of_one_namespace(const Intent& intent) {
  const std::string& own = intent.gang.name_space;
  const auto is_inside = [&own](const ObjectKey& key) { return key.name_space == own; };
  return std::ranges::all_of(intent.members, is_inside, &IntentMember::pod) &&
         std::ranges::all_of(intent.claims, is_inside, &IntentClaim::claim);
}

}  // namespace

std::string intent_name(const Uid& gang) {
  return std::string(kNamePrefix) + gang.text;
}

std::string encode_config_map(const ConfigMap& map) {
  Json meta = {{"name", map.meta.key.name}, {"namespace", map.meta.key.name_space}};
  if (!map.meta.uid.empty()) meta["uid"] = map.meta.uid.text;
  if (!map.meta.resource_version.empty()) meta["resourceVersion"] = map.meta.resource_version.text;
  for (const auto& [key, value] : map.meta.labels) meta["labels"][key] = value;
  return dump({{"apiVersion", "v1"},
               {"kind", "ConfigMap"},
               {"metadata", std::move(meta)},
               {"data", map.data}});
}

Result<ConfigMap> decode_config_map(std::string_view json) {
  GANG_TRY(const ParsedJson parsed, parse_wanted(json, kMapWant));
  const JsonView root = parsed.tree.root();
  JsonReader reader(parsed.problem);
  ConfigMap map;
  GANG_TRY(map.meta, decode_meta(root, "ConfigMap", reader));
  for (const auto& [key, value] : reader.string_map(reader.at(root, "data"))) map.data[key] = value;
  map.meta.unreadable = reader.problem();
  return map;
}

ConfigMap to_config_map(const Intent& intent, const std::string& name_space,
                        const ResourceVersion& version) {
  ConfigMap map;
  map.meta.key = {name_space, intent_name(intent.gang_uid)};
  map.meta.resource_version = version;
  map.meta.labels = {{std::string(kIntentLabel), std::string(kIntentLabelValue)}};
  std::string text = dump(intent_json(intent));
  if (text.size() <= kPlainBytesMax) {
    map.data[kIntentKey] = std::move(text);
  } else {
    map.data[kPackedKey] = encode_base64(pack_gzip(text));
  }
  return map;
}

Result<Intent> intent_from(const ConfigMap& map) {
  const auto refuse = [&map](const std::string& why) {
    return fail(Code::kInvalidArgument, "ConfigMap " + map.meta.key.text() + ": " + why);
  };
  const Result<std::string> text = text_of(map);
  if (!text) return refuse(text.error().message);
  const auto parsed = parse_wanted(*text, kIntentWant);
  if (!parsed) return refuse("data.intent: " + parsed.error().message);
  const JsonView root = parsed->tree.root();
  JsonReader reader(parsed->problem);
  const std::int32_t format = reader.int32(reader.at(root, "format"), 0);
  if (format != kIntentFormat) {
    return refuse("data.intent has format " + std::to_string(format) + ", this version reads " +
                  std::to_string(kIntentFormat) + "; run the version that wrote it");
  }
  Intent intent;
  const Reference gang = reference_from(reader.at(root, "gang"), reader);
  intent.gang = gang.key;
  intent.gang_uid = gang.uid;
  intent.minimum = reader.int32(reader.at(root, "minimum"), 1);
  intent.base = reader.int32(reader.at(root, "base"), 0);
  intent.need = reader.int32(reader.at(root, "need"), 0);
  intent.epoch = reader.text(root, "epoch");
  intent.stamp = reader.text(root, "stamp");
  intent.phase = phase_from(root, reader);
  for (JsonView at = reader.first(reader.at(root, "members")); at.valid(); at = at.next()) {
    const Reference pod = reference_from(at, reader);
    intent.members.push_back({pod.key, pod.uid, reader.text(at, "node")});
  }
  for (JsonView at = reader.first(reader.at(root, "claims")); at.valid(); at = at.next()) {
    intent.claims.push_back(claim_from(at, reader));
  }
  if (!reader.problem().empty()) return refuse("data.intent: " + reader.problem());
  if (intent_name(intent.gang_uid) != map.meta.key.name) {
    return refuse(
        "data.intent is of another gang than the name says; it was not written by this "
        "scheduler");
  }
  if (!is_of_one_namespace(intent)) {
    return refuse(
        "data.intent lists an object outside the namespace of its gang; it was not "
        "written by this scheduler");
  }
  return intent;
}

StoredIntent stored_intent_from(const ConfigMap& map) {
  StoredIntent stored{.meta = map.meta};
  const Result<Intent> intent = intent_from(map);
  if (intent) {
    stored.intent = *intent;
    return stored;
  }
  const std::string_view name = map.meta.key.name;
  if (name.starts_with(kNamePrefix)) stored.intent.gang_uid.text = name.substr(kNamePrefix.size());
  stored.problem = intent.error().message;
  return stored;
}

}  // namespace gang::api
