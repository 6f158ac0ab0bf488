#include "kube/reflector.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "gang/base/log.h"
#include "kube/answers.h"

namespace gang::kube {
namespace {

constexpr Duration kSecond = std::chrono::seconds(1);
constexpr std::size_t kErrorBodyBytesMax = 64U << 10U;
constexpr int kUndecodableMax = 2;  // failures of one object before it is passed over
constexpr std::size_t kUndecodableKeys = 1000;
constexpr int kForbiddenPatience = 3;  // a starting server refuses for a moment
constexpr int kForbiddenDoublingsMax = 6;
constexpr int kTooLargeMax = 3;

bool is_version_too_large(const api::Status& status) {
  return std::ranges::any_of(status.causes, [](const std::string& cause) {
    return cause.starts_with("ResourceVersionTooLarge");
  });
}

/// The object's text of a watch line, so that one object is known again under another event type.
std::string_view object_part(std::string_view line) {
  constexpr std::string_view kKey = "\"object\":";
  const std::size_t at = line.find(kKey);
  if (at == std::string_view::npos) return line;
  line.remove_prefix(at + kKey.size());
  return line.substr(0, line.find_last_of('}'));
}

}  // namespace

Reflector::Reflector(const InformerScope& scope, const ReflectorOptions& options,
                     std::uint64_t seed, DeltaSink sink)
    : kind_(scope.kind),
      paths_(scope),
      options_(options),
      sink_(std::move(sink)),
      jitter_(seed),
      backoff_(options.backoff),
      backoff_unauthorized_(options.backoff_unauthorized) {
  stats_.state = "syncing";
}

// --- Driving -----------------------------------------------------------------------------------

void Reflector::on_time(Duration now) {
  now_ = now;
  if (stopped_ || now < next_wake()) return;
  if (!running_) {
    begin_request();
  } else {
    const std::string silent = status_ == 0 ? "no answer within " : "no byte for ";
    give_up(after_backoff(silent + format_duration(now - last_byte_at_)));
  }
}

Duration Reflector::next_wake() const {
  if (stopped_) return Duration::max();
  return running_ ? deadline() : wake_at_;
}

Duration Reflector::deadline() const {
  if (verdict_) return Duration::max();
  const bool streams = status_ == 200 && mode_ != Mode::kList;
  return last_byte_at_ + (streams ? options_.watch_idle_limit : options_.list_idle_limit);
}

Reflector::Command Reflector::take_command() {
  return std::exchange(command_, Command{});
}

void Reflector::begin_request() {
  const auto timeout = jitter_.between(options_.watch_timeout_min, options_.watch_timeout_max);
  const auto seconds = static_cast<int>(timeout / kSecond);
  HttpRequest request;
  request.idle_limit = options_.watch_idle_limit;
  if (!version_.empty()) {
    mode_ = Mode::kWatch;
    request.target = paths_.watch(version_.text, seconds);
  } else if (continue_token_.empty() && now_ >= no_watch_list_until_) {
    mode_ = Mode::kWatchList;
    request.target = paths_.watch_list(seconds);
  } else {
    mode_ = Mode::kList;
    request.idle_limit = options_.list_idle_limit;
    request.target = paths_.list(options_.page_limit, continue_token_);
  }
  running_ = true;
  status_ = 0;
  error_body_.clear();
  stream_advanced_ = false;
  started_at_ = last_byte_at_ = now_;
  command_.start = std::move(request);
}

void Reflector::on_head(Duration now, const HttpHead& head) {
  now_ = last_byte_at_ = now;
  status_ = head.status;
  retry_after_ = head.retry_after;
  if (status_ != 200 || verdict_ || stopped_) return;
  if (!is_json_type(head.content_type)) {
    give_up(after_backoff("the answer is no JSON: some proxy between us and the API server?"));
    return;
  }
  forbidden_count_ = 0;
  unauthorized_count_ = 0;
  absent_since_.reset();
  if (mode_ == Mode::kWatch) {
    lines_.reset();
    ++stats_.watches;
    stats_.state = "synced";
    return;
  }
  list_.reset();
  lines_.reset();
  if (continue_token_.empty()) begin_list();
}

void Reflector::on_data(Duration now, std::string_view bytes) {
  now_ = last_byte_at_ = now;
  if (verdict_ || stopped_) return;
  if (status_ != 200) {
    error_body_.append(bytes.substr(0, kErrorBodyBytesMax - error_body_.size()));
  } else if (mode_ == Mode::kList) {
    check_fed(list_.feed(bytes, [this](std::string_view item) { return on_item(item); }));
  } else {
    check_fed(lines_.feed(bytes, [this](std::string_view line) { return on_line(line); }));
  }
}

void Reflector::on_end(Duration now, const HttpEnd& end) {
  now_ = now;
  running_ = false;
  if (stopped_) return;
  Verdict verdict = verdict_ ? *std::exchange(verdict_, std::nullopt) : verdict_of_end(end);
  // Of a silent server the transport has more to say.
  if (status_ == 0 && end.kind == HttpEndKind::kTimeout) verdict.error = end.message;
  verdict.is_repeated = end.is_repeated;
  apply(verdict);
}

void Reflector::check_fed(const Result<void>& fed) {
  if (!fed && !verdict_) {
    Verdict verdict = after_backoff(fed.error().message);
    verdict.relist = true;
    give_up(std::move(verdict));
  }
}

// --- Lists and events --------------------------------------------------------------------------

void Reflector::begin_list() {
  ++stats_.lists;
  list_open_ = true;
  held_deletes_.clear();
  tell({.type = api::DeltaType::kListBegin, .kind = kind_});
}

void Reflector::finish_list(const api::ResourceVersion& version) {
  list_open_ = false;
  stream_advanced_ = true;
  version_ = version;
  continue_token_.clear();
  told_ = Told::kSynced;
  stats_.state = "synced";
  tell({.type = api::DeltaType::kListEnd, .kind = kind_, .resource_version = version});
  for (api::Delta& held : held_deletes_) tell(std::move(held));
  held_deletes_.clear();
}

bool Reflector::on_item(std::string_view item) {
  Result<api::Object> object = api::decode_object(kind_, item);
  if (!object) return on_undecodable(item, object.error());
  ++stats_.events;
  api::ResourceVersion version = api::meta_of(*object).resource_version;
  tell_object(api::DeltaType::kAdded, std::move(version), *std::move(object));
  return !stopped_;
}

bool Reflector::on_line(std::string_view line) {
  Result<api::WatchEvent> event = api::decode_watch_event(kind_, line);
  if (!event) return on_undecodable(object_part(line), event.error());
  switch (event->type) {
    case api::WatchEventType::kError:
      give_up(judge(event->status, retry_after_of({}, event->status)));
      break;
    case api::WatchEventType::kBookmark:
      on_bookmark(*event);
      break;
    default:
      if (!event->resource_version.comparable()) {
        return on_undecodable(object_part(line), {Code::kInvalidArgument, "no resourceVersion"});
      }
      ++stats_.events;
      on_object(*std::move(event));
  }
  return !verdict_ && !stopped_;
}

void Reflector::on_object(api::WatchEvent event) {
  if (list_open_) {
    // The initial stream may already tell changes: they end in the same set.
    const api::Uid uid = api::meta_of(event.object).uid;
    std::erase_if(held_deletes_,
                  [&uid](const api::Delta& held) { return api::meta_of(held.object).uid == uid; });
    if (event.type == api::WatchEventType::kDeleted) {
      held_deletes_.push_back({api::DeltaType::kDeleted, kind_, std::move(event.resource_version),
                               std::move(event.object)});
      return;
    }
    tell_object(api::DeltaType::kAdded, std::move(event.resource_version), std::move(event.object));
    return;
  }
  if (api::is_newer(version_, event.resource_version)) {
    give_up(judge_expired("resourceVersion went back from " + version_.text + " to " +
                          event.resource_version.text + ": was the server restored?"));
    return;
  }
  stream_advanced_ = stream_advanced_ || version_ != event.resource_version;
  version_ = event.resource_version;
  too_large_count_ = 0;
  api::DeltaType type = api::DeltaType::kUpdated;
  if (event.type == api::WatchEventType::kAdded) type = api::DeltaType::kAdded;
  if (event.type == api::WatchEventType::kDeleted) type = api::DeltaType::kDeleted;
  tell_object(type, std::move(event.resource_version), std::move(event.object));
}

void Reflector::on_bookmark(const api::WatchEvent& event) {
  if (!event.resource_version.comparable()) {
    Verdict verdict = after_backoff("a bookmark without a usable resourceVersion");
    verdict.relist = true;
    give_up(std::move(verdict));
  } else if (list_open_) {
    if (event.initial_events_end) finish_list(event.resource_version);
  } else if (!api::is_newer(version_, event.resource_version)) {
    version_ = event.resource_version;
    tell({.type = api::DeltaType::kBookmark, .kind = kind_, .resource_version = version_});
  }
}

/// Returns whether the stream is read on.
bool Reflector::on_undecodable(std::string_view object, const Error& error) {
  ++stats_.undecodable;
  if (undecodable_.size() >= kUndecodableKeys) undecodable_.clear();
  const int failures = ++undecodable_[std::hash<std::string_view>()(object)];
  const bool passed_over = failures >= kUndecodableMax;
  log::warn(passed_over ? "undecodable object passed over" : "undecodable object: listing again",
            {{"kind", std::string(api::kind_name(kind_))}, {"error", error.message}});
  stats_.last_error = error.message;
  if (passed_over) return true;
  Verdict verdict = after_backoff(error.message);
  verdict.relist = true;
  give_up(std::move(verdict));
  return false;
}

// --- Verdicts ----------------------------------------------------------------------------------

Reflector::Verdict Reflector::after_backoff(std::string error) {
  return {.delay = backoff_.next(now_, jitter_), .error = std::move(error)};
}

Reflector::Verdict Reflector::verdict_of_end(const HttpEnd& end) {
  if (status_ == 0) return after_backoff(end.message);
  if (status_ != 200) {
    api::Status status = status_of(error_body_);
    status.code = status_;
    return judge(status, retry_after_of(retry_after_, status));
  }
  return mode_ == Mode::kList ? end_of_page(end) : end_of_watch(end);
}

Reflector::Verdict Reflector::end_of_page(const HttpEnd& end) {
  std::string error = end.message;
  if (end.kind == HttpEndKind::kComplete && list_.complete()) {
    Result<api::ListMeta> meta = api::decode_list_meta(list_.rest());
    if (meta && meta->resource_version.comparable()) {
      continue_token_ = meta->continue_token;
      if (continue_token_.empty()) finish_list(meta->resource_version);
      return {};
    }
    error = meta ? "a list without a usable resourceVersion" : meta.error().message;
  } else if (end.kind == HttpEndKind::kComplete) {
    error = "the list ended early";
  }
  Verdict verdict = after_backoff(std::move(error));
  verdict.relist = true;
  return verdict;
}

Reflector::Verdict Reflector::end_of_watch(const HttpEnd& end) {
  const bool clean = end.kind == HttpEndKind::kComplete;
  std::string error = clean ? std::string() : end.message;
  if (list_open_) return after_backoff(clean ? "the initial stream ended early" : error);
  const bool is_short = now_ - started_at_ < options_.short_stream && !stream_advanced_;
  if (is_short) return after_backoff(clean ? "the watch ended at once" : error);
  return {.error = std::move(error)};
}

Reflector::Verdict Reflector::judge(const api::Status& status,
                                    std::optional<Duration> retry_after) {
  std::string error = "HTTP " + std::to_string(status.code) + " " + status.message;
  const bool expired = status.code == 0 && status.reason == "Expired";
  switch (expired ? 410 : status.code) {
    case 401:
      command_.refuse_token = true;
      if (++unauthorized_count_ == 1) return {.error = std::move(error)};
      return {.delay = backoff_unauthorized_.next(now_, jitter_), .error = std::move(error)};
    case 403:
      return judge_forbidden(std::move(error));
    case 404:
      return judge_absent(std::move(error), is_own_absence(status));
    case 410:
      return judge_expired(std::move(error));
    case 400:
    case 422: {
      if (mode_ == Mode::kWatchList && list_open_ == false) {
        no_watch_list_until_ = now_ + options_.watch_list_pause;
        return {.error = std::move(error)};
      }
      Verdict verdict = after_backoff(std::move(error));
      verdict.relist = true;
      return verdict;
    }
    default:
      break;
  }
  if (is_version_too_large(status)) return judge_too_large(std::move(error));
  Verdict verdict = after_backoff(std::move(error));
  if (status.code == 429) verdict.delay = std::max(verdict.delay, kSecond);
  if (retry_after) verdict.delay = *retry_after;
  return verdict;
}

/// The server does not know the path. A kind that every server has is never taken for absent, nor
/// is any when the answer is not `is_own` of an API server.
Reflector::Verdict Reflector::judge_absent(std::string error, bool is_own) {
  Verdict verdict = after_backoff(resource_text(kind_) + " not served: " + error);
  verdict.relist = true;
  if (!is_optional(kind_) || !is_own) return verdict;
  if (!absent_since_) absent_since_ = now_;
  const Duration confirmed_at = *absent_since_ + options_.absence_confirmed;
  if (told_ == Told::kSynced && now_ < confirmed_at) {
    verdict.delay = std::min(verdict.delay, confirmed_at - now_);
    return verdict;
  }
  tell_state(Told::kUnserved);
  verdict.delay = options_.unserved_interval;
  return verdict;
}

Reflector::Verdict Reflector::judge_forbidden(std::string error) {
  Verdict verdict = after_backoff(std::move(error));
  if (++forbidden_count_ <= kForbiddenPatience && told_ != Told::kForbidden) return verdict;
  tell_state(Told::kForbidden);
  verdict.relist = true;
  verdict.delay = forbidden_pause();
  return verdict;
}

/// Rights that are given back are seen soon; a kind that stays forbidden is asked for once a
/// minute. Never less than half the step, so that the first looks are no burst.
Duration Reflector::forbidden_pause() {
  const int doublings = std::min(forbidden_count_ - kForbiddenPatience - 1, kForbiddenDoublingsMax);
  const Duration step =
      std::min(options_.forbidden_first * (1 << std::max(doublings, 0)), options_.forbidden_max);
  return jitter_.between(step / 2, step);
}

/// The first one lists anew at once; a server that keeps saying it is asked with backoff.
Reflector::Verdict Reflector::judge_expired(std::string error) {
  const bool again = expired_at_ && now_ - *expired_at_ < options_.backoff.reset_after;
  expired_at_ = now_;
  Verdict verdict{.relist = true, .error = std::move(error)};
  if (again) verdict.delay = backoff_.next(now_, jitter_);
  return verdict;
}

Reflector::Verdict Reflector::judge_too_large(std::string error) {
  if (++too_large_count_ <= kTooLargeMax) return {.delay = kSecond, .error = std::move(error)};
  too_large_count_ = 0;
  return {.relist = true, .error = std::move(error)};
}

void Reflector::give_up(Verdict verdict) {
  if (verdict_) return;
  verdict_ = std::move(verdict);
  command_.cancel = true;
}

void Reflector::apply(const Verdict& verdict) {
  // An open list whose request ended without another page to come is begun again.
  const bool more_pages = list_open_ && mode_ == Mode::kList && verdict.error.empty();
  if (verdict.relist || (list_open_ && !more_pages)) {
    version_ = {};
    continue_token_.clear();
    list_open_ = false;
  }
  wake_at_ = now_ + verdict.delay;
  if (verdict.error.empty()) return;
  ++stats_.failures;
  stats_.last_error = verdict.error;
  if (told_ == Told::kSynced) stats_.state = "stale";
  // An absent or forbidden kind was told once, as was a trouble of the whole connection: looking
  // again is no news.
  const bool is_known =
      told_ == Told::kUnserved || told_ == Told::kForbidden || verdict.is_repeated;
  const auto level = is_known ? log::Level::kDebug : log::Level::kInfo;
  log::write(level, "list or watch ended; trying again",
             {{"kind", std::string(api::kind_name(kind_))},
              {"error", verdict.error},
              {"wait", format_duration(
                           std::chrono::duration_cast<std::chrono::milliseconds>(verdict.delay))}});
}

// --- Telling -----------------------------------------------------------------------------------

void Reflector::tell(api::Delta delta) {
  if (stopped_) return;
  if (sink_(std::move(delta))) return;
  stopped_ = true;
  command_.cancel = true;
}

void Reflector::tell_state(Told told) {
  const bool is_new = told_ != told;
  told_ = told;
  stats_.state = told == Told::kUnserved ? "unserved" : "forbidden";
  const auto type =
      told == Told::kUnserved ? api::DeltaType::kUnserved : api::DeltaType::kForbidden;
  if (is_new) tell({.type = type, .kind = kind_});
}

void Reflector::tell_object(api::DeltaType type, api::ResourceVersion version, api::Object object) {
  tell({type, kind_, std::move(version), std::move(object)});
}

}  // namespace gang::kube
