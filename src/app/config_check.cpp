// What single options cannot say of themselves: limits that contradict each other.
#include <set>
#include <string>

#include "app/config.h"

namespace gang::app {

namespace {

enum class Least { kEqual, kMore };

/// Two options that contradict each other unless the first is at least the second, or more.
struct Order {
  const char* large_key;
  Duration large;
  const char* small_key;
  Duration small;
  Least least = Least::kEqual;
};

bool is_kept(const Order& order) {
  return order.least == Least::kMore ? order.large > order.small : order.large >= order.small;
}

/// "key: 2m is above other, 1m by default; lower the one or raise the other".
std::string contradiction(const Order& order, const std::set<std::string>& named) {
  const bool begins_large = named.contains(order.large_key) || !named.contains(order.small_key);
  const bool is_strict = order.least == Least::kMore;
  const std::string other = begins_large ? order.small_key : order.large_key;
  const std::string origin = named.empty() || named.contains(other) ? "" : " by default";
  if (begins_large) {
    return std::string(order.large_key) + ": " + format_duration(order.large) +
           (is_strict ? " is not above " : " is below ") + other + ", " +
           format_duration(order.small) + origin + "; raise the one or lower the other";
  }
  return std::string(order.small_key) + ": " + format_duration(order.small) +
         (is_strict ? " is not below " : " is above ") + other + ", " +
         format_duration(order.large) + origin + "; lower the one or raise the other";
}

}  // namespace

Result<void> check_config(const Config& config, const std::set<std::string>& named) {
  const binder::Options& binder = config.binder;
  const kube::ClientOptions& client = config.client;
  const Order orders[] = {
      {"gang.backoff_max", config.scheduler.backoff_max, "gang.backoff_initial",
       config.scheduler.backoff_initial},
      {"binder.retry_max", binder.retry_max, "binder.retry_initial", binder.retry_initial},
      // Else no Binding could be answered late, or sent twice, within its round.
      {"binder.commit_deadline", binder.commit_deadline, "client.request_timeout",
       client.request_timeout},
      {"binder.commit_deadline", binder.commit_deadline, "binder.retry_max", binder.retry_max},
      // Else no round would ever be told as slow.
      {"binder.commit_deadline", binder.commit_deadline, "binder.slow_round", binder.slow_round,
       Least::kMore},
      // Else a list would end before any other request.
      {"client.watch_idle_limit", client.watch_idle_limit, "client.request_timeout",
       client.request_timeout},
  };
  for (const Order& order : orders) {
    if (!is_kept(order)) return fail(Code::kInvalidArgument, contradiction(order, named));
  }
  return {};
}

}  // namespace gang::app
