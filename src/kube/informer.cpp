#include "gang/kube/informer.h"

#include <algorithm>
#include <atomic>
#include <random>
#include <thread>
#include <utility>

#include "gang/base/sync.h"
#include "kube/chunk_queue.h"
#include "kube/connection.h"
#include "kube/reflector.h"

namespace gang::kube {
namespace {

constexpr std::size_t kQueueBytesMax = 1U << 20U;
constexpr Duration kWaitMax = std::chrono::hours(1);

/// Puts what one request tells into the informer's queue. Owned by the transport; the queue
/// outlives it.
class QueueReceiver final : public HttpReceiver {
 public:
  explicit QueueReceiver(ChunkQueue& queue) : queue_(queue) {}
  void on_head(const HttpHead& head) override { queue_.push(head); }
  Flow on_data(std::string_view bytes) override { return queue_.push(std::string(bytes)); }
  void on_end(const HttpEnd& end) override { queue_.push(end); }

 private:
  ChunkQueue& queue_;
};

ReflectorOptions reflector_options(const ClientOptions& options) {
  ReflectorOptions reflector;
  reflector.watch_idle_limit = options.watch_idle_limit;
  reflector.list_idle_limit = std::min(reflector.list_idle_limit, options.watch_idle_limit);
  reflector.unserved_interval = options.unserved_interval;
  return reflector;
}

std::uint64_t random_seed() {
  std::random_device device;
  return (static_cast<std::uint64_t>(device()) << 32U) | device();
}

/// Runs one Reflector on a thread of its own.
///
/// Owned by the shell. Everything but stop_, stats_ and the queue belongs to the thread. The
/// destructor returns when the sink was called for the last time and no request is open; a sink
/// that blocks for ever would hold it up.
class InformerThread final : public Informer {
 public:
  InformerThread(std::shared_ptr<const Connection> connection, const InformerScope& scope,
                 DeltaSink sink)
      : connection_(std::move(connection)),
        queue_(kQueueBytesMax),
        sink_(std::move(sink)),
        reflector_(scope, reflector_options(connection_->options), random_seed(),
                   [this](api::Delta delta) { return tell(std::move(delta)); }) {
    stats_ = reflector_.stats();
    thread_ = std::thread([this] { run(); });
  }

  ~InformerThread() override {
    stop_ = true;
    queue_.wake();
    thread_.join();
  }

  [[nodiscard]] InformerStats stats() const override EXCLUDES_LOCK(mutex_) {
    MutexLock lock(mutex_);
    return stats_;
  }

 private:
  void run() {
    reflector_.on_time(now());
    while (!stop_ && !reflector_.stopped()) {
      carry_out(reflector_.take_command());
      publish();
      hear(std::clamp(reflector_.next_wake() - now(), Duration(0), kWaitMax));
    }
    if (is_open_) connection_->http->cancel(handle_);
    while (is_open_) {
      const ChunkQueue::Popped popped = queue_.pop(kWaitMax);
      if (popped.heard) is_open_ = !std::holds_alternative<HttpEnd>(*popped.heard);
    }
    publish();
  }

  void carry_out(Reflector::Command command) {
    if (command.refuse_token) connection_->tokens->refuse();
    if (command.cancel && is_open_) connection_->http->cancel(handle_);
    if (!command.start) return;
    is_open_ = true;
    handle_ = connection_->http->start(*std::move(command.start),
                                       std::make_unique<QueueReceiver>(queue_));
  }

  /// Waits for one thing. Time passes for the reflector only when nothing is left to be read, so
  /// that a slow sink is not taken for a silent server.
  void hear(Duration wait) {
    ChunkQueue::Popped popped = queue_.pop(wait);
    if (popped.resume) connection_->http->resume(handle_);
    if (!popped.heard) {
      reflector_.on_time(now());
    } else if (const auto* bytes = std::get_if<std::string>(&*popped.heard)) {
      reflector_.on_data(now(), *bytes);
    } else if (const auto* head = std::get_if<HttpHead>(&*popped.heard)) {
      reflector_.on_head(now(), *head);
    } else {
      is_open_ = false;
      reflector_.on_end(now(), std::get<HttpEnd>(*popped.heard));
    }
  }

  /// The state is published first: who has heard that a list ended may ask for it.
  bool tell(api::Delta delta) {
    const bool is_about_one = delta.type == api::DeltaType::kAdded ||
                              delta.type == api::DeltaType::kUpdated ||
                              delta.type == api::DeltaType::kDeleted;
    if (!is_about_one) publish();
    return sink_(std::move(delta));
  }

  void publish() EXCLUDES_LOCK(mutex_) {
    MutexLock lock(mutex_);
    stats_ = reflector_.stats();
  }

  [[nodiscard]] Duration now() const { return connection_->clock.monotonic(); }

  const std::shared_ptr<const Connection> connection_;
  ChunkQueue queue_;
  const DeltaSink sink_;
  Reflector reflector_;
  bool is_open_ = false;
  HttpHandle handle_{};
  std::atomic<bool> stop_{false};
  mutable Mutex mutex_;
  InformerStats stats_ GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace

std::unique_ptr<Informer> start_informer(std::shared_ptr<const Connection> connection,
                                         const InformerScope& scope, DeltaSink sink) {
  return std::make_unique<InformerThread>(std::move(connection), scope, std::move(sink));
}

}  // namespace gang::kube
