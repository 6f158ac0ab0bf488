#include "kube/answers.h"

#include <algorithm>
#include <charconv>

namespace gang::kube {
namespace {

constexpr std::size_t kPageWordsMax = 60;

Outcome outcome_of_end(HttpEndKind kind) {
  return kind == HttpEndKind::kNotSent ? Outcome::kNotSent : Outcome::kUnknown;
}

/// Whether the sentence holds a cause already, "reason field: message", but for its reason.
bool tells(const std::string& sentence, const std::string& cause) {
  return sentence.find(cause.substr(cause.find(' ') + 1)) != std::string::npos;
}

std::string message_of(const HttpHead& head, const api::Status& status) {
  std::string message = "HTTP " + std::to_string(head.status);
  if (!status.reason.empty()) message += " " + status.reason;
  if (!status.message.empty()) message += ": " + status.message;
  for (const std::string& cause : status.causes) {
    if (!tells(status.message, cause)) message += "; " + cause;
  }
  if (head.status >= 300 && head.status < 400) message += ": redirects are never followed";
  return message;
}

/// The first words of an HTML page, without its tags.
std::string page_words(std::string_view page) {
  std::string words;
  bool is_tag = false;
  for (const char c : page) {
    if (words.size() > kPageWordsMax) break;
    is_tag = c == '<' || (is_tag && c != '>');
    const bool is_text = !is_tag && c > ' ' && c != '>' && c <= '~';
    if (is_text) words += c;
    if (!is_text && !words.empty() && words.back() != ' ') words += ' ';
  }
  if (words.size() > kPageWordsMax) words.resize(std::min(words.rfind(' '), kPageWordsMax));
  return "(a page in HTML: " + words.substr(0, words.find_last_not_of(' ') + 1) + ")";
}

}  // namespace

api::Status status_of(std::string_view body) {
  api::Status status = api::decode_status(body);
  const std::size_t begin = status.message.find_first_not_of(" \t\r\n");
  const bool is_page = begin != std::string::npos && status.message[begin] == '<';
  if (is_page) status.message = page_words(status.message);
  return status;
}

bool is_own_absence(const api::Status& status) {
  return !status.reason.empty() || status.message.starts_with("404 page not found");
}

const char* outcome_name(Outcome outcome) {
  switch (outcome) {
    case Outcome::kOk:
      return "ok";
    case Outcome::kNotSent:
      return "not_sent";
    case Outcome::kUnknown:
      return "unknown";
    case Outcome::kConflict:
      return "conflict";
    case Outcome::kNotFound:
      return "not_found";
    case Outcome::kInvalid:
      return "invalid";
    case Outcome::kUnauthorized:
      return "unauthorized";
    case Outcome::kForbidden:
      return "forbidden";
    case Outcome::kThrottled:
      return "throttled";
  }
  return "unknown";
}

std::optional<Duration> parse_retry_after(std::string_view text) {
  int seconds = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, seconds);
  if (text.empty() || error != std::errc() || rest != end || seconds < 0) return std::nullopt;
  return std::min(Duration(std::chrono::seconds(seconds)), kRetryAfterMax);
}

std::optional<Duration> retry_after_of(std::string_view header, const api::Status& status) {
  std::optional<Duration> wait = parse_retry_after(header);
  if (wait) return wait;
  if (!status.retry_after_seconds || *status.retry_after_seconds < 0) return std::nullopt;
  return std::min(Duration(std::chrono::seconds(*status.retry_after_seconds)), kRetryAfterMax);
}

bool has_media_type(std::string_view content_type, std::string_view media_type) {
  if (!content_type.starts_with(media_type)) return false;
  content_type.remove_prefix(media_type.size());
  return content_type.empty() || content_type.front() == ';' || content_type.front() == ' ';
}

Outcome outcome_of_status(int status) {
  if (status >= 200 && status < 300) return Outcome::kOk;
  if (status >= 300 && status < 400) return Outcome::kInvalid;
  switch (status) {
    case 401:
      return Outcome::kUnauthorized;
    case 403:
      return Outcome::kForbidden;
    case 404:
      return Outcome::kNotFound;
    case 409:
      return Outcome::kConflict;
    case 429:
      return Outcome::kThrottled;
    case 400:
    case 405:
    case 406:
    case 413:
    case 415:
    case 422:
      return Outcome::kInvalid;
    default:
      return Outcome::kUnknown;
  }
}

Answer make_answer(const HttpHead& head, std::string_view body, const HttpEnd& end,
                   std::string_view accept) {
  Answer answer;
  answer.http_status = head.status;
  if (head.status == 0) {
    answer.outcome = outcome_of_end(end.kind);
    answer.message = end.message;
    return answer;
  }
  const bool whole = end.kind == HttpEndKind::kComplete;
  answer.outcome = outcome_of_status(head.status);
  if (answer.ok()) {
    if (!whole) answer.message = "the answer was cut: " + end.message;
    if (whole && !has_media_type(head.content_type, accept)) {
      answer.message = std::string("the answer is no ") +
                       (accept == kJsonType ? "JSON" : "protobuf") +
                       ": some proxy between us and the API server?";
    }
    if (!answer.message.empty()) answer.outcome = Outcome::kUnknown;
    return answer;
  }
  const api::Status status = status_of(body);
  answer.retry_after = retry_after_of(head.retry_after, status);
  answer.message = message_of(head, status);
  answer.reason = status.reason;
  return answer;
}

}  // namespace gang::kube
