// Informer: list and watch of one kind into a sink of Deltas, for ever, on a thread of its own.
//
// As client-go's Reflector: WatchList where the server has it, else a paged list; then a watch from
// the last resourceVersion with bookmarks; 410 and ERROR objects lead to a relist or a resume as
// the rules say; every retry backs off with jitter. One undecodable line relists the kind. A kind
// that is not served is told once as Unserved and looked for again every minute.
// Source: the commit and recovery contract, chapters 8 and 9.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "gang/api/delta.h"
#include "gang/kube/client.h"

namespace gang::kube {

/// Which objects of a kind are wanted.
struct InformerScope {
  api::Kind kind = api::Kind::kPod;
  std::string name_space;      ///< empty = all namespaces (ignored for cluster-wide kinds)
  std::string scheduler_name;  ///< for kFinishedPod: whose finished pods
};

/// May block (back pressure); called from the informer's thread only. Returns false to stop.
using DeltaSink = std::function<bool(api::Delta)>;

/// Counters of one informer since start, for metrics. Read from any thread.
struct InformerStats {
  std::int64_t lists = 0;
  std::int64_t watches = 0;
  std::int64_t events = 0;
  std::int64_t undecodable = 0;
  std::int64_t failures = 0;  ///< lists and watches that ended with an error
  std::string state;          ///< "syncing", "synced", "stale", "unserved", "forbidden"
  std::string last_error;
};

/// Started on construction; the destructor stops the thread and waits for it.
class Informer {
 public:
  virtual ~Informer() = default;
  [[nodiscard]] virtual InformerStats stats() const = 0;
};

/// REQUIRES: initialize_transport() has run; `sink` outlives the informer.
[[nodiscard]] std::unique_ptr<Informer> start_informer(std::shared_ptr<const Connection> connection,
                                                       const InformerScope& scope, DeltaSink sink);

}  // namespace gang::kube
