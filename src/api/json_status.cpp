// metav1.Status: as a body of its own, or as the object of an ERROR line.
#include "api/json_kinds.h"
#include "api/protobuf.h"
#include "gang/api/json.h"
#include "gang/base/utf8.h"

namespace gang::api {
namespace {

constexpr std::size_t kMessageBytesMax = 1'024;
constexpr std::size_t kCausesMax = 32;

constexpr Want kCauseWants[] = {Want("reason"), Want("message"), Want("field")};
constexpr Want kDetailsWants[] = {Want("retryAfterSeconds"), Want("causes", kCauseWants)};
constexpr Want kStatusWants[] = {Want("kind"), Want("code"), Want("reason"), Want("message"),
                                 Want("details", kDetailsWants)};

/// "reason field: message" with the parts that are there.
std::string cause_text(JsonView cause, JsonReader& reader) {
  std::string text = reader.text(cause, "reason");
  const std::string field = reader.text(cause, "field");
  if (!field.empty()) text += (text.empty() ? "" : " ") + field;
  const std::string message = reader.text(cause, "message");
  if (!message.empty()) text += (text.empty() ? "" : ": ") + message;
  return std::string(cut_text(text, kMessageBytesMax));
}

/// What is told in protobuf to who asked for an object in protobuf; without its details.
Status status_of_protobuf(std::string_view body) {
  constexpr std::uint32_t kMessage = 3;
  constexpr std::uint32_t kReason = 4;
  const Result<std::vector<WireField>> fields = read_object(body, "Status").and_then(read_fields);
  if (!fields) return {};
  Status status;
  status.message = cut_text(content_of(*fields, kMessage), kMessageBytesMax);
  status.reason = content_of(*fields, kReason);
  return status;
}

}  // namespace

constinit const Want kStatusWant("", kStatusWants);

Status status_from(JsonView json) {
  // What is broken in a Status is left out: the HTTP code alone decides what is done about it.
  JsonReader reader;
  Status status;
  status.code = reader.int32(json["code"], 0);
  status.reason = reader.text(json["reason"]);
  status.message = cut_text(reader.text(json["message"]), kMessageBytesMax);
  const JsonView details = reader.at(json, "details");
  const JsonView seconds = details["retryAfterSeconds"];
  if (const std::int32_t wait = reader.int32(seconds, -1); wait >= 0 && seconds.exists()) {
    status.retry_after_seconds = wait;
  }
  const JsonView causes = reader.at(details, "causes");
  for (JsonView cause = reader.first(causes); cause.valid() && status.causes.size() < kCausesMax;
       cause = cause.next()) {
    status.causes.push_back(cause_text(cause, reader));
  }
  return status;
}

Status decode_status(std::string_view body) {
  if (is_protobuf_object(body)) return status_of_protobuf(body);
  const Result<ParsedJson> parsed = parse_wanted(body, kStatusWant);
  if (parsed && parsed->tree.root()["kind"].text() == "Status") {
    return status_from(parsed->tree.root());
  }
  Status plain;
  plain.message = cut_text(body, kMessageBytesMax);
  return plain;
}

}  // namespace gang::api
