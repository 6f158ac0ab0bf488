// gang-oracle: the floor of every end-to-end comparison. It knows the answer beforehand and only
// writes it down: the same Bindings, conditions and events through the same client and binder.
//
// usage: gang-oracle --kubeconfig FILE --plans FILE
// A plan file has one line a pod, "gang-namespace gang-name gang-uid pod-name pod-uid
// pod-resourceVersion node"; lines of one gang follow each other.
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "app/binder_loop.h"
#include "gang/base/clock.h"
#include "gang/base/log.h"
#include "gang/binder/binder.h"
#include "gang/kube/client.h"

namespace {

using gang::engine::Assignment;
using gang::engine::Plan;

/// The two options.
struct Flags {
  std::string kubeconfig;
  std::string plans;
};

Flags parse_flags(int argc, char** argv) {
  Flags flags;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    if (name == "--kubeconfig") flags.kubeconfig = argv[i + 1];
    if (name == "--plans") flags.plans = argv[i + 1];
  }
  return flags;
}

Plan new_plan(const std::string& name_space, const std::string& name, const std::string& uid,
              std::uint64_t id) {
  Plan plan;
  plan.gang = {{id}, gang::cluster::GangKind::kPodGroup, {name_space, name}, {uid}};
  plan.stamp = "round=oracle-" + std::to_string(id) + ";need=0;minimum=0;plan=0";
  plan.writes_record = true;
  plan.minimum = 0;
  return plan;
}

std::vector<Plan> read_plans(const std::string& path) {
  std::vector<Plan> plans;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name_space;
    std::string name;
    std::string uid;
    Assignment pod;
    words >> name_space >> name >> uid >> pod.pod.name >> pod.uid.text >>
        pod.resource_version.text >> pod.node_name;
    pod.pod.name_space = name_space;
    if (plans.empty() || plans.back().gang.uid.text != uid) {
      plans.push_back(new_plan(name_space, name, uid, plans.size() + 1));
    }
    plans.back().assignments.push_back(std::move(pod));
    plans.back().need = ++plans.back().minimum;
  }
  return plans;
}

/// Carries all plans out and returns how many rounds did not commit.
int carry_out(const std::shared_ptr<const gang::kube::Connection>& connection,
              const std::vector<Plan>& plans) {
  const gang::SystemClock clock;
  gang::app::BinderLoop loop(clock);
  const auto client = gang::kube::make_http_client(connection);
  const auto claims = gang::kube::make_http_claim_client(connection);
  std::size_t open = plans.size();
  int failed = 0;
  gang::binder::Callbacks callbacks;
  callbacks.round_done = [&](const gang::engine::RoundOutcome& outcome) {
    if (outcome.end != gang::engine::RoundEnd::kCommitted) ++failed;
    if (--open == 0) loop.close();
  };
  gang::binder::Executor executor{
      [&](std::function<void()> f) { loop.post(std::move(f)); },
      [&](gang::Duration delay, std::function<void()> f) { loop.post_after(delay, std::move(f)); }};
  gang::binder::Options options;
  options.scheduler_name = "oracle";
  gang::binder::Binder binder({*client, *claims}, clock, options, std::move(callbacks),
                              std::move(executor));
  loop.post([&] {
    for (const Plan& plan : plans) binder.commit(plan);
  });
  std::thread thread([&] { loop.run(); });
  thread.join();
  gang::kube::shutdown_transport();
  return failed;
}

}  // namespace

int main(int argc, char** argv) {
  const Flags flags = parse_flags(argc, argv);
  const std::vector<Plan> plans = read_plans(flags.plans);
  if (plans.empty()) {
    std::cerr << "usage: gang-oracle --kubeconfig FILE --plans FILE (with at least one plan)\n";
    return 2;
  }
  gang::log::configure(gang::log::Level::kWarn, gang::log::Format::kText);
  gang::kube::initialize_transport();
  gang::kube::ClientOptions options;
  options.kubeconfig_path = flags.kubeconfig;
  const auto connection = gang::kube::connect(options);
  if (!connection) {
    std::cerr << "gang-oracle: " << connection.error().message << "\n";
    return EXIT_FAILURE;
  }
  const int failed = carry_out(*connection, plans);
  std::cout << plans.size() - static_cast<std::size_t>(failed) << " gangs bound, " << failed
            << " failed\n";
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
