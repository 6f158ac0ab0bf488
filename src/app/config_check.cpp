// What single options cannot say of themselves: forms of names and addresses, and limits that
// contradict each other.
#include <arpa/inet.h>

#include <charconv>
#include <string>
#include <string_view>

#include "app/config.h"
#include "gang/api/names.h"

namespace gang::app {

namespace {

constexpr int kPortMax = 65535;

/// ADDRESS:PORT with a numeric IPv4 address; port 0 takes a free one.
bool is_listen_address(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  const std::string_view digits = text.substr(colon + 1);
  int port = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  const bool is_port = error == std::errc() && end == digits.data() + digits.size();
  const std::string_view address = text.substr(0, colon);
  in_addr parsed{};
  const bool is_address = inet_pton(AF_INET, std::string(address).c_str(), &parsed) == 1;
  return is_port && port >= 0 && port <= kPortMax && is_address;
}

/// The first problem of names and addresses, or "".
std::string form_problem(const Config& config) {
  const std::string& name = config.scheduler.scheduler_name;
  if (!api::is_dns_name(name)) {
    return "scheduler_name: \"" + name +
           "\" is no name; write the one that pods use, like gang-scheduler";
  }
  if (name == "default-scheduler") {
    return "scheduler_name: default-scheduler belongs to kube-scheduler; choose another name";
  }
  if (!config.name_space.empty() && !api::is_dns_label(config.name_space)) {
    return "namespace: \"" + config.name_space + "\" is no name of a namespace; write one, or \"\"";
  }
  if (!is_listen_address(config.listen)) {
    return "listen: \"" + config.listen +
           "\" is no ADDRESS:PORT; write one like 127.0.0.1:10261 or 0.0.0.0:10261";
  }
  return "";
}

/// Two options that contradict each other unless the first is at least the second.
struct Order {
  const char* large_key;
  Duration large;
  const char* small_key;
  Duration small;
};

/// The first contradiction, or "".
std::string order_problem(const Config& config) {
  const binder::Options& binder = config.binder;
  const Order orders[] = {
      {"gang.backoff_max", config.scheduler.backoff_max, "gang.backoff_initial",
       config.scheduler.backoff_initial},
      {"binder.retry_max", binder.retry_max, "binder.retry_initial", binder.retry_initial},
      // Else no Binding could be answered late, or sent twice, within its round.
      {"binder.commit_deadline", binder.commit_deadline, "client.request_timeout",
       config.client.request_timeout},
      {"binder.commit_deadline", binder.commit_deadline, "binder.retry_max", binder.retry_max},
  };
  for (const Order& order : orders) {
    if (order.large >= order.small) continue;
    return std::string(order.large_key) + ": " + format_duration(order.large) + " is below " +
           order.small_key + ", " + format_duration(order.small) + "; raise the one or lower the " +
           "other";
  }
  return "";
}

}  // namespace

Result<void> check_config(const Config& config) {
  std::string problem = form_problem(config);
  if (problem.empty()) problem = order_problem(config);
  if (!problem.empty()) return fail(Code::kInvalidArgument, problem);
  return {};
}

}  // namespace gang::app
