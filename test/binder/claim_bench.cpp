#include "binder/claim_bench.h"

#include <string_view>

namespace gang::test {
namespace {

using std::chrono::seconds;

bool is_read(std::string_view request) {
  return request.starts_with("read") || request.starts_with("get") || request.starts_with("list") ||
         request.starts_with("try") || request.starts_with("Normal") ||
         request.starts_with("Warning");
}

api::ClaimConsumer consumer_of(const std::string& pod) {
  return {.resource = "pods", .name = pod, .uid = {"uid-" + pod}};
}

std::string numbered(const char* letter, int number) {
  return letter + std::to_string(number);
}

}  // namespace

ClaimBench::ClaimBench(const std::string& epoch) : BinderBench(options(epoch)) {
  watch_writes();
}

binder::Options ClaimBench::options(const std::string& epoch) {
  binder::Options options;
  options.intent_namespace = "sys";
  options.epoch = epoch;
  return options;
}

void ClaimBench::restart(const std::string& epoch) {
  binder.reset();
  reconnect();
  start(options(epoch));
}

void ClaimBench::create_gang_with_claims(int count) {
  create_gang(count);
  for (int i = 0; i < count; ++i) {
    api::ResourceClaim claim;
    claim.meta.key = {"ns", numbered("c", i)};
    claim.meta.uid = {"uid-" + claim.meta.key.name};
    claims.put(claim);
  }
}

engine::ClaimWrite ClaimBench::write_of(const std::string& claim,
                                        const std::vector<std::string>& pods) const {
  engine::ClaimWrite write{.claim =
                               std::make_shared<const api::ResourceClaim>(claims.claim(claim))};
  api::Allocation allocation;
  allocation.results.push_back(
      {.request = "gpu", .driver = "d", .pool = "p", .device = "d" + claim.substr(1)});
  if (!write.claim->allocation) write.allocation = allocation;
  for (const std::string& pod : pods) write.consumers.push_back(consumer_of(pod));
  return write;
}

engine::Plan ClaimBench::claim_plan(int minimum, int count) const {
  engine::Plan made = plan(minimum, count);
  for (int i = 0; i < count; ++i) {
    made.claims.push_back(write_of(numbered("c", i), {numbered("m", i)}));
  }
  return made;
}

void ClaimBench::take_over(const std::string& other_epoch) {
  api::ConfigMap& map = claims.maps().begin()->second;
  api::Intent intent = *api::intent_from(map);
  intent.epoch = other_epoch;
  map.data = api::to_config_map(intent, map.meta.key.name_space).data;
  map.meta.resource_version.text += "0";
}

void ClaimBench::confirm(const std::string& problem, engine::RoundEnd end) {
  if (written.empty()) return;
  engine::RoundCheck check{
      .gang = written.back().gang, .stamp = written.back().stamp, .problem = problem, .end = end};
  for (int i = 0; client.pod(numbered("m", i)) != nullptr; ++i) {
    const api::ObjectMeta& meta = client.pod(numbered("m", i))->meta;
    check.versions[meta.uid] = meta.resource_version;
  }
  binder->confirm(check);
}

void ClaimBench::carry_out(const engine::Plan& plan) {
  const std::size_t told = written.size();
  commit(plan);
  for (int i = 0; i < 60 && written.size() == told && outcomes.empty(); ++i) advance(seconds(1));
  if (written.size() > told) confirm();
  advance(seconds(120));
}

void ClaimBench::recover() {
  binder->find_intents();
  run();
  for (const api::StoredIntent& intent : found()) binder->fence(intent);
  advance(seconds(15));
}

std::optional<ClaimBench::Loss> ClaimBench::judge(const std::string& write) {
  const bool is_cut_off = cut_off_at_ >= 0 && static_cast<int>(writes_.size()) >= cut_off_at_;
  if (is_cut_off) return Loss::kNotExecuted;
  if (is_read(write)) return std::nullopt;
  writes_.push_back(write);
  if (static_cast<int>(writes_.size()) - 1 == lost_number_) return loss_;
  return std::nullopt;
}

void ClaimBench::watch_writes() {
  claims.intercept([this](const std::string& text) -> std::optional<FakeClaims::Fault> {
    const auto loss = judge(text);
    if (!loss) return std::nullopt;
    switch (*loss) {
      case Loss::kExecuted:
        return FakeClaims::Fault::kLost;
      case Loss::kNotExecuted:
        return FakeClaims::Fault::kLostNotDone;
      case Loss::kLate:
        return FakeClaims::Fault::kLate;
    }
    return std::nullopt;
  });
  client.intercept([this](const Request& request) -> std::optional<Fault> {
    const auto loss = judge(request.text);
    if (!loss) return std::nullopt;
    const auto execution = *loss == Loss::kExecuted ? Fault::Execution::kDone
                           : *loss == Loss::kLate   ? Fault::Execution::kLate
                                                    : Fault::Execution::kNone;
    return Fault{.answer = answer(kube::Outcome::kUnknown, 0, "timed out"), .execution = execution};
  });
}

void ClaimBench::lose(int number, Loss loss) {
  reconnect();
  lost_number_ = number;
  loss_ = loss;
}

void ClaimBench::cut_off_at(int number, Loss loss) {
  lose(number, loss);
  cut_off_at_ = number + 1;
}

void ClaimBench::reconnect() {
  writes_.clear();
  lost_number_ = -1;
  cut_off_at_ = -1;
}

void ClaimBench::run_late() {
  client.run_late();
  claims.run_late();
}

std::string ClaimBench::state() const {
  std::string text;
  for (int i = 0; claims.has(numbered("c", i)); ++i) {
    const api::Pod* pod = client.pod(numbered("m", i));
    const api::ResourceClaim& claim = claims.claim(numbered("c", i));
    const bool is_bound = pod != nullptr && !pod->node_name.empty();
    text += numbered("m", i) + ":" + (pod == nullptr ? "gone" : is_bound ? pod->node_name : "-");
    text += " " + claim.meta.key.name + "=";
    text += claim.allocation ? claim.allocation->results[0].device : "-";
    text += "[";
    for (const api::ClaimConsumer& consumer : claim.reserved_for) text += consumer.name;
    text += "] ";
  }
  return text + "maps=" + std::to_string(claims.map_count());
}

bool ClaimBench::is_consistent(int count) const {
  if (claims.map_count() != 0) return false;
  for (int i = 0; i < count; ++i) {
    const api::Pod* pod = client.pod(numbered("m", i));
    const api::ResourceClaim& claim = claims.claim(numbered("c", i));
    const bool is_bound = pod != nullptr && !pod->node_name.empty();
    const std::vector<api::ClaimConsumer> wanted =
        is_bound ? std::vector{consumer_of(numbered("m", i))} : std::vector<api::ClaimConsumer>{};
    if (claim.allocation.has_value() != is_bound || claim.reserved_for != wanted) return false;
  }
  return true;
}

}  // namespace gang::test
