#include "binder/fake_client.h"

#include <algorithm>
#include <utility>

namespace gang::test {
namespace {

using kube::Answer;
using kube::Outcome;

void merge(std::vector<api::Condition>& into, const api::Condition& condition) {
  std::erase_if(into, [&](const auto& old) { return old.type == condition.type; });
  into.push_back(condition);
}

}  // namespace

Answer answer(Outcome outcome, int http_status, std::string message) {
  return {.outcome = outcome, .http_status = http_status, .message = std::move(message)};
}

void FakeClient::put(api::Pod pod) {
  pod.meta.resource_version.text = next_version();
  pods_[pod.meta.key.name] = std::move(pod);
}

void FakeClient::put(api::PodGroup group) {
  group.meta.resource_version.text = next_version();
  groups_[group.meta.key.name] = std::move(group);
}

void FakeClient::remove_pod(const std::string& name) {
  pods_.erase(name);
}

void FakeClient::change(const std::string& name, const std::function<void(api::Pod&)>& change) {
  api::Pod& pod = pods_.at(name);
  change(pod);
  pod.meta.resource_version.text = next_version();
}

void FakeClient::fail_next(const std::string& verb, const std::string& name, Fault fault) {
  faults_[verb + " " + name].push_back(std::move(fault));
}

void FakeClient::fail_next(const std::string& verb, const std::string& name, Answer answer) {
  fail_next(verb, name, Fault{.answer = std::move(answer)});
}

void FakeClient::fail_all(const std::string& verb, Answer answer) {
  failing_verbs_[verb] = std::move(answer);
}

void FakeClient::allow(const std::string& verb) {
  failing_verbs_.erase(verb);
}

void FakeClient::hold_next(const std::string& verb, const std::string& name) {
  fail_next(verb, name, Fault{.held = true});
}

void FakeClient::hold_all(const std::string& verb) {
  held_verbs_[verb] = true;
}

void FakeClient::release(const std::string& verb, const std::string& name) {
  const auto found = std::ranges::find_if(
      held_, [&](const Held& held) { return held.verb == verb && held.name == name; });
  const auto run = found->run;
  held_.erase(found);
  run();
}

void FakeClient::release_all() {
  held_verbs_.clear();
  for (const Held& held : std::exchange(held_, {})) held.run();
}

void FakeClient::fail_held(const Answer& answer) {
  held_verbs_.clear();
  for (const Held& held : std::exchange(held_, {})) held.reply(answer);
}

void FakeClient::run_late() {
  for (const Execute& execute : std::exchange(late_, {})) static_cast<void>(execute());
}

const api::Pod* FakeClient::pod(const std::string& name) const {
  const auto found = pods_.find(name);
  return found == pods_.end() ? nullptr : &found->second;
}

const api::PodGroup* FakeClient::group(const std::string& name) const {
  const auto found = groups_.find(name);
  return found == groups_.end() ? nullptr : &found->second;
}

api::Condition FakeClient::pod_condition(const std::string& name, std::string_view type) const {
  const api::Condition* found = api::find_condition(pods_.at(name).conditions, type);
  return found == nullptr ? api::Condition{} : *found;
}

api::Condition FakeClient::group_condition(const std::string& name, std::string_view type) const {
  const api::Condition* found = api::find_condition(groups_.at(name).conditions, type);
  return found == nullptr ? api::Condition{} : *found;
}

std::vector<std::string> FakeClient::texts(const std::string& verb) const {
  std::vector<std::string> texts;
  for (const Request& request : requests_) {
    if (request.verb == verb) texts.push_back(request.text);
  }
  return texts;
}

std::size_t FakeClient::count(const std::string& verb, const std::string& name) const {
  return static_cast<std::size_t>(std::ranges::count_if(requests_, [&](const Request& request) {
    return request.verb == verb && (name.empty() || request.name == name);
  }));
}

void FakeClient::handle(const Request& request, const Execute& execute, const Reply& reply) {
  const std::string verb = request.verb;
  const std::string name = request.name;
  requests_.push_back(request);
  auto& faults = faults_[verb + " " + name];
  if (faults.empty() && judge_) {
    if (auto met = judge_(request)) faults.push_back(*std::move(met));
  }
  Fault fault{.answer = answer(Outcome::kOk, 200), .execution = Fault::Execution::kDone};
  const bool scripted = !faults.empty();
  if (scripted) {
    fault = faults.front();
    faults.pop_front();
  }
  if (fault.held || (!scripted && held_verbs_.contains(verb))) {
    held_.push_back({verb, name, [execute, reply] { reply(execute()); }, reply});
    const auto binds = std::ranges::count(held_, "bind", &Held::verb);
    binds_in_flight_max_ = std::max(binds_in_flight_max_, static_cast<std::size_t>(binds));
    return;
  }
  if (!scripted && failing_verbs_.contains(verb)) return reply(failing_verbs_.at(verb));
  if (fault.execution == Fault::Execution::kLate) late_.push_back(execute);
  if (fault.execution == Fault::Execution::kDone) {
    const Answer executed = execute();
    return reply(scripted ? fault.answer : executed);
  }
  reply(fault.answer);
}

std::string FakeClient::next_version() {
  return std::to_string(++version_);
}

void FakeClient::bind(const api::Binding& binding, kube::Done done) {
  std::string text =
      "bind " + binding.pod.name + " " + binding.node_name + " v" + binding.resource_version.text;
  for (const auto& [key, value] : binding.annotations) text += " " + key + "=" + value;
  handle(
      {"bind", binding.pod.name, text}, [this, binding] { return execute_bind(binding); },
      std::move(done));
}

void FakeClient::try_bind(const api::Binding& binding, kube::Done done) {
  handle(
      {"try", binding.pod.name,
       "try " + binding.pod.name + " " + binding.node_name + " v" + binding.resource_version.text},
      [this, binding] { return check_bind(binding); }, std::move(done));
}

Answer FakeClient::check_bind(const api::Binding& binding) const {
  const auto found = pods_.find(binding.pod.name);
  if (found == pods_.end()) return answer(Outcome::kNotFound, 404, "pod not found");
  const api::Pod& pod = found->second;
  const bool version_differs =
      !binding.resource_version.empty() && binding.resource_version != pod.meta.resource_version;
  if (pod.meta.uid != binding.uid || version_differs) {
    return answer(Outcome::kConflict, 409, "Precondition failed");
  }
  if (pod.is_terminating() || !pod.node_name.empty() || !pod.scheduling_gates.empty()) {
    return answer(Outcome::kConflict, 409, "cannot be assigned");
  }
  return answer(Outcome::kOk, 201);
}

Answer FakeClient::execute_bind(const api::Binding& binding) {
  Answer end = check_bind(binding);
  if (!end.ok()) return end;
  api::Pod& pod = pods_.at(binding.pod.name);
  pod.node_name = binding.node_name;
  for (const auto& annotation : binding.annotations) pod.meta.annotations.push_back(annotation);
  merge(pod.conditions, {.type = "PodScheduled", .status = api::ConditionStatus::kTrue});
  pod.meta.resource_version.text = next_version();
  return end;
}

void FakeClient::patch_pod_status(const api::PodStatusPatch& patch, kube::Done done) {
  const std::string content = patch.condition
                                  ? patch.condition->type + "=" +
                                        std::string(api::status_text(patch.condition->status)) +
                                        " " + patch.condition->reason
                                  : "extended=" + patch.extended_claim->claim_name;
  handle(
      {"patch", patch.pod.name,
       "patch " + patch.pod.name + " " + content + " v" + patch.resource_version.text},
      [this, patch] { return execute_patch(patch); }, std::move(done));
}

Answer FakeClient::execute_patch(const api::PodStatusPatch& patch) {
  const auto found = pods_.find(patch.pod.name);
  if (found == pods_.end()) return answer(Outcome::kNotFound, 404, "pod not found");
  api::Pod& pod = found->second;
  if (pod.meta.uid != patch.uid) return answer(Outcome::kInvalid, 422, "uid: field is immutable");
  if (!patch.resource_version.empty() && patch.resource_version != pod.meta.resource_version) {
    return answer(Outcome::kConflict, 409, "the object has been modified");
  }
  if (patch.condition) merge(pod.conditions, *patch.condition);
  if (patch.extended_claim) pod.extended_claim = *patch.extended_claim;
  pod.meta.resource_version.text = next_version();
  return answer(Outcome::kOk, 200);
}

void FakeClient::patch_pod_group_status(const api::PodGroupStatusPatch& patch, kube::Done done) {
  std::string text = "patch-group " + patch.group.name;
  for (const api::Condition& condition : patch.conditions) {
    const auto slash = condition.type.rfind('/');
    const std::string type =
        slash == std::string::npos ? condition.type : condition.type.substr(slash + 1);
    text +=
        " " + type + "=" + std::string(api::status_text(condition.status)) + "/" + condition.reason;
  }
  group_patches_.push_back(patch);
  handle(
      {"patch-group", patch.group.name, text}, [this, patch] { return execute_group_patch(patch); },
      std::move(done));
}

Answer FakeClient::execute_group_patch(const api::PodGroupStatusPatch& patch) {
  const auto found = groups_.find(patch.group.name);
  if (found == groups_.end()) return answer(Outcome::kNotFound, 404, "podgroup not found");
  api::PodGroup& group = found->second;
  if (group.meta.uid != patch.uid) {
    return answer(Outcome::kInvalid, 422, "uid: field is immutable");
  }
  for (const api::Condition& condition : patch.conditions) merge(group.conditions, condition);
  group.meta.resource_version.text = next_version();
  return answer(Outcome::kOk, 200);
}

void FakeClient::delete_pod(const kube::PodDelete& request, kube::Done done) {
  handle(
      {"delete", request.pod.name,
       "delete " + request.pod.name + " v" + request.resource_version.text},
      [this, request] { return execute_delete(request); }, std::move(done));
}

Answer FakeClient::execute_delete(const kube::PodDelete& request) {
  const auto found = pods_.find(request.pod.name);
  if (found == pods_.end()) return answer(Outcome::kNotFound, 404, "pod not found");
  const api::ObjectMeta& meta = found->second.meta;
  if (meta.uid != request.uid || meta.resource_version != request.resource_version) {
    return answer(Outcome::kConflict, 409, "Precondition failed");
  }
  pods_.erase(found);
  return answer(Outcome::kOk, 200);
}

void FakeClient::create_event(const api::Event& event, kube::Done done) {
  handle(
      {"event", event.regarding.key.name,
       event.type + " " + event.reason + " " + event.regarding.key.name + ": " + event.note},
      [this, event] {
        events_.push_back(event);
        return answer(Outcome::kOk, 201);
      },
      std::move(done));
}

void FakeClient::get_pod(const api::ObjectKey& pod, kube::PodDone done) {
  handle(
      {"get", pod.name, "get " + pod.name},
      [this, pod] {
        return pods_.contains(pod.name) ? answer(Outcome::kOk, 200)
                                        : answer(Outcome::kNotFound, 404, "pod not found");
      },
      [this, pod, done](const Answer& read) {
        const bool found = read.ok() && pods_.contains(pod.name);
        done(read, found ? std::optional(pods_.at(pod.name)) : std::nullopt);
      });
}

void FakeClient::get_pod_group(const api::ObjectKey& group, kube::PodGroupDone done) {
  handle(
      {"get-group", group.name, "get-group " + group.name},
      [this, group] {
        return groups_.contains(group.name) ? answer(Outcome::kOk, 200)
                                            : answer(Outcome::kNotFound, 404, "podgroup not found");
      },
      [this, group, done](const Answer& read) {
        const bool found = read.ok() && groups_.contains(group.name);
        done(read, found ? std::optional(groups_.at(group.name)) : std::nullopt);
      });
}

}  // namespace gang::test
