// MixTable: counts the requests of gangs, and publishes their mix from time to time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "gang/cluster/request_mix.h"

namespace gang::cluster {

/// Owned by the state. Every kForgetEvery requests all weights lose an eighth, so that a request
/// weighs half after about 1,300 others. A mix is published when half as many requests as before
/// have come since the last one, and at least every kPublishMax: whoever judges nodes by it does
/// that anew each time.
class MixTable {
 public:
  void note(const Gang& gang);
  /// Null before the first request.
  [[nodiscard]] const std::shared_ptr<const RequestMix>& latest() const { return latest_; }

 private:
  static constexpr std::int64_t kForgetEvery = 256;
  static constexpr std::int64_t kForgottenPart = 8;
  static constexpr std::int64_t kPublishMax = 1'024;
  /// Requests that are kept apart.
  static constexpr std::size_t kKeptMax = 256;
  /// How many of each of the first two requests are taken to have come.
  static constexpr std::int64_t kFirstCount = 8;

  /// A kind of request, and when it came first.
  struct Entry {
    MixRequest request;
    std::int64_t first_seen = 0;
  };
  using Key = std::pair<ClassId, DeviceWish>;

  void note(const std::shared_ptr<const PodClass>& pod_class, DeviceWish devices);
  void forget_some();
  void drop_lightest();
  void publish();

  std::map<Key, Entry> entries_;
  std::int64_t first_weight_ = kFirstCount * RequestMix::kUnit;
  std::int64_t seen_ = 0;
  std::int64_t next_publication_ = 1;
  std::shared_ptr<const RequestMix> latest_;
};

}  // namespace gang::cluster
