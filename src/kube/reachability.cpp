#include "kube/reachability.h"

#include <algorithm>
#include <utility>

#include "gang/base/log.h"

namespace gang::kube {

// --- When to tell ------------------------------------------------------------------------------

bool Reachability::is_known(const std::string& what) {
  return heard_.size() >= kTroublesMax || !heard_.insert(what).second;
}

Reachability::Heard Reachability::failed(Duration begun, Duration now, const Trouble& trouble) {
  const Duration from = answered_at_ ? std::max(begun, *answered_at_) : begun;
  failing_since_ = failing_since_ ? std::min(*failing_since_, from) : from;
  ++failures_;
  Heard heard{is_known(trouble.what), std::nullopt};
  const bool is_lasting = failures_ > 1 && now - *failing_since_ >= kPatience;
  if (!is_lasting || told_.size() >= kTroublesMax || !told_.insert(trouble.what).second) {
    return heard;
  }
  trouble_ = trouble.what;
  again_ = trouble.again;
  heard.note = ServerNote{false, trouble.what + "; goes on trying"};
  return heard;
}

std::optional<ServerNote> Reachability::answered(Duration now) {
  answered_at_ = now;
  heard_.clear();
  if (failures_ == 0) return std::nullopt;
  const auto away = std::chrono::duration_cast<std::chrono::seconds>(now - *failing_since_);
  failing_since_.reset();
  failures_ = 0;
  told_.clear();
  if (std::exchange(trouble_, {}).empty()) return std::nullopt;
  return ServerNote{true, again_ + " after " + format_duration(away)};
}

// --- Listening to requests ---------------------------------------------------------------------

/// Hears a request on behalf of its own receiver. Owned by the transport; its thread only.
class ReachabilityHttp::Receiver final : public HttpReceiver {
 public:
  Receiver(ReachabilityHttp& owner, HttpRequest request, std::unique_ptr<HttpReceiver> receiver)
      : owner_(owner),
        request_(std::move(request)),
        begun_(owner.clock_.monotonic()),
        receiver_(std::move(receiver)) {}

  void on_head(const HttpHead& head) override {
    has_head_ = true;
    const HeadMeaning meaning = owner_.words_.meaning(request_, head);
    is_answer_ = meaning.is_answer;
    if (meaning.is_answer) owner_.answered();
    if (meaning.trouble) is_repeated_ = owner_.failed(begun_, *meaning.trouble);
    receiver_->on_head(head);
  }

  Flow on_data(std::string_view bytes) override {
    if (is_answer_) owner_.answered();
    return receiver_->on_data(bytes);
  }

  void on_end(const HttpEnd& end) override {
    HttpEnd told = end;
    if (has_head_) {
      told.message = owner_.words_.cut(request_, end);
      const bool is_cut = end.kind != HttpEndKind::kComplete;
      told.is_repeated = is_repeated_ || (is_cut && owner_.reachability_.is_known(told.message));
    } else if (!was_cancelled_early(end)) {
      reword(told);
    }
    receiver_->on_end(told);
  }

 private:
  [[nodiscard]] Duration elapsed() const { return owner_.clock_.monotonic() - begun_; }

  [[nodiscard]] bool was_cancelled_early(const HttpEnd& end) const {
    return end.kind == HttpEndKind::kCancelled && elapsed() < kGivenUpMin;
  }

  void reword(HttpEnd& end) {
    const Trouble trouble = owner_.words_.unanswered(request_, end, elapsed());
    end.message = owner_.words_.server() + " " + trouble.what;
    end.is_repeated = owner_.failed(begun_, trouble);
    if (end.kind == HttpEndKind::kCancelled) end.kind = HttpEndKind::kTimeout;
  }

  ReachabilityHttp& owner_;
  const HttpRequest request_;  ///< without its body
  const Duration begun_;
  const std::unique_ptr<HttpReceiver> receiver_;
  bool has_head_ = false;
  bool is_answer_ = false;
  bool is_repeated_ = false;
};

ReachabilityHttp::ReachabilityHttp(std::unique_ptr<Http> transport, ServerWords words,
                                   const Clock& clock)
    : words_(std::move(words)), clock_(clock), transport_(std::move(transport)) {}

ReachabilityHttp::~ReachabilityHttp() = default;

HttpHandle ReachabilityHttp::start(HttpRequest request, std::unique_ptr<HttpReceiver> receiver) {
  HttpRequest known = request;
  known.body.clear();
  return transport_->start(
      std::move(request), std::make_unique<Receiver>(*this, std::move(known), std::move(receiver)));
}

std::string ReachabilityHttp::trouble() const {
  const std::shared_ptr<const std::string> told = trouble_;
  return told ? *told : std::string();
}

/// Returns whether the trouble is no news.
bool ReachabilityHttp::failed(Duration begun, const Trouble& trouble) {
  const Reachability::Heard heard = reachability_.failed(begun, clock_.monotonic(), trouble);
  tell(heard.note);
  return heard.is_repeated;
}

void ReachabilityHttp::answered() {
  tell(reachability_.answered(clock_.monotonic()));
}

void ReachabilityHttp::tell(const std::optional<ServerNote>& note) {
  if (!note) return;
  const std::string& trouble = reachability_.trouble();
  trouble_ = std::make_shared<const std::string>(trouble.empty() ? trouble
                                                                 : words_.server() + " " + trouble);
  log::write(note->is_good ? log::Level::kInfo : log::Level::kWarn,
             words_.server() + " " + note->message);
}

}  // namespace gang::kube
