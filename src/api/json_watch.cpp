// One line of a watch stream: {"type": "ADDED", "object": {...}}, the members in any order.
#include <optional>

#include "api/json_kinds.h"
#include "gang/api/json.h"

namespace gang::api {
namespace {

std::optional<WatchEventType> event_type(std::string_view text) {
  if (text == "ADDED") return WatchEventType::kAdded;
  if (text == "MODIFIED") return WatchEventType::kModified;
  if (text == "DELETED") return WatchEventType::kDeleted;
  if (text == "BOOKMARK") return WatchEventType::kBookmark;
  if (text == "ERROR") return WatchEventType::kError;
  return std::nullopt;
}

/// A bookmark moves the resourceVersion; its object has nothing else.
Result<WatchEvent> bookmark_from(JsonView object) {
  JsonReader reader;
  const JsonView meta = reader.at(object, "metadata");
  WatchEvent event;
  event.resource_version.text = reader.text(meta, "resourceVersion");
  event.initial_events_end =
      reader.text(reader.at(meta, "annotations"), kInitialEventsEnd) == "true";
  if (!reader.problem().empty()) return fail(Code::kInvalidArgument, reader.problem());
  if (event.resource_version.empty()) {
    return fail(Code::kInvalidArgument,
                "BOOKMARK: metadata.resourceVersion is missing; list the kind again");
  }
  return event;
}

/// The Status of an ERROR line. They are rare, so the line is simply read once more.
Result<WatchEvent> error_from(std::string_view line) {
  const Want line_wants[] = {Want("object", kStatusWant)};
  GANG_TRY(ParsedJson parsed, parse_wanted(line, Want("object", line_wants)));
  WatchEvent event;
  event.type = WatchEventType::kError;
  event.status = status_from(parsed.tree.root()["object"]);
  return event;
}

}  // namespace

Result<WatchEvent> decode_watch_event(Kind kind, std::string_view line) {
  const Want line_wants[] = {Want("type"), Want("object", want_of(kind))};
  GANG_TRY(ParsedJson parsed, parse_wanted(line, Want("object", line_wants)));
  const JsonView type_json = parsed.tree.root()["type"];
  const JsonView object = parsed.tree.root()["object"];
  const std::optional<WatchEventType> type =
      type_json.is(JsonType::kString) ? event_type(type_json.text()) : std::nullopt;
  if (!type) {
    return fail(Code::kInvalidArgument,
                "type: missing or none of ADDED, MODIFIED, DELETED, BOOKMARK, ERROR; list the kind "
                "again");
  }
  if (*type == WatchEventType::kError) return error_from(line);
  if (*type == WatchEventType::kBookmark) return bookmark_from(object);

  WatchEvent event;
  event.type = *type;
  GANG_TRY(event.object, object_from(kind, object, std::move(parsed.problem)));
  event.resource_version = meta_of(event.object).resource_version;
  return event;
}

}  // namespace gang::api
