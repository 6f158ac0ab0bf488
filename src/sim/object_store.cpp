#include "gang/sim/object_store.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "sim/conditions.h"
#include "sim/object_kinds.h"

namespace gang::sim {

namespace {

/// Equal width, so that the order of UIDs is the order of creation.
std::string uid_text(std::int64_t count) {
  constexpr std::size_t kDigits = 9;
  const std::string digits = std::to_string(count);
  return "uid-" + std::string(kDigits - std::min(kDigits, digits.size()), '0') + digits;
}

/// An update keeps what the server gave at creation.
void keep_identity(api::ObjectMeta& meta, const api::ObjectMeta& stored) {
  meta.uid = stored.uid;
  meta.creation_time = stored.creation_time;
}

/// What the server adds to an object that is created.
template <class Object>
void complete(Object& object, TimePoint now) {
  if constexpr (std::is_same_v<Object, api::Pod>) {
    if (object.scheduling_gates.empty()) return;
    merge(object.conditions, {"PodScheduled", api::ConditionStatus::kFalse, "SchedulingGated",
                              "Scheduling is blocked due to non-empty scheduling gates", now, 0});
  }
}

/// Whether nothing keeps an object that is in deletion.
template <class Object>
bool is_gone(const Object& object) {
  if constexpr (std::is_same_v<Object, api::ResourceClaim>) {
    return object.meta.deletion_time && object.finalizers.empty();
  }
  return false;
}

}  // namespace

void ObjectStore::stamp(api::ObjectMeta& meta) {
  meta.resource_version.text = std::to_string(++revision_);
  if (meta.uid.empty()) meta.uid.text = uid_text(++uid_count_);
  if (meta.creation_time == TimePoint{}) meta.creation_time = clock_.now();
}

template <class Object>
void ObjectStore::store(Object object) {
  auto& map = std::get<Objects<Object>>(objects_);
  const api::ObjectKey key = object.meta.key;
  const auto at = map.find(key);
  if (at == map.end()) {
    complete(object, clock_.now());
    stamp(object.meta);
    const Object* nothing = nullptr;
    tell_change(nothing, map.emplace(key, std::move(object)).first->second);
    return;
  }
  keep_identity(object.meta, at->second.meta);
  if (is_gone(object)) {
    at->second = std::move(object);
    remove(kind_of(api::Object(at->second)), key);
    return;
  }
  stamp(object.meta);
  const Object before = std::exchange(at->second, std::move(object));
  tell_change(&before, at->second);
}

void ObjectStore::put(api::Object object) {
  std::visit(
      [this](auto& value) {
        using Value = std::decay_t<decltype(value)>;
        if constexpr (!std::is_same_v<Value, std::monostate>) store(std::move(value));
      },
      object);
}

bool ObjectStore::remove(api::Kind kind, const api::ObjectKey& key) {
  bool was_there = false;
  visit_kind(objects_, kind, [&](auto& map) {
    const auto at = map.find(key);
    if (at == map.end()) return;
    was_there = true;
    auto gone = std::move(at->second);
    map.erase(at);
    gone.meta.resource_version.text = std::to_string(++revision_);
    api::Kind told = kind;
    if constexpr (std::is_same_v<decltype(gone), api::Pod>) {
      terminations_.erase(key);
      if (gone.is_terminal()) told = api::Kind::kFinishedPod;
    }
    tell(api::DeltaType::kDeleted, told, std::move(gone));
  });
  return was_there;
}

bool ObjectStore::delete_gracefully(const api::ObjectKey& key, Duration grace) {
  const api::Pod* known = pod(key);
  if (known == nullptr) return false;
  if (known->node_name.empty() || grace <= Duration::zero()) {
    return remove(api::Kind::kPod, key);
  }
  if (known->is_terminating()) return true;
  api::Pod ending = *known;
  ending.meta.deletion_time = clock_.now() + grace;
  terminations_[key] = *ending.meta.deletion_time;
  put(std::move(ending));
  return true;
}

bool ObjectStore::delete_claim(const api::ObjectKey& key) {
  const auto* known = find<api::ResourceClaim>(key);
  if (known == nullptr) return false;
  if (known->finalizers.empty()) return remove(api::Kind::kResourceClaim, key);
  if (known->meta.deletion_time) return true;
  api::ResourceClaim ending = *known;
  ending.meta.deletion_time = clock_.now();
  put(std::move(ending));
  return true;
}

bool ObjectStore::contains(api::Kind kind, const api::ObjectKey& key) const {
  bool is_there = false;
  visit_kind(objects_, kind, [&](const auto& map) { is_there = map.contains(key); });
  return is_there;
}

std::vector<api::ObjectKey> ObjectStore::keys(api::Kind kind) const {
  std::vector<api::ObjectKey> keys;
  visit_kind(objects_, kind, [&](const auto& map) {
    for (const auto& [key, object] : map) keys.push_back(key);
  });
  return keys;
}

std::optional<TimePoint> ObjectStore::next_termination() const {
  std::optional<TimePoint> next;
  for (const auto& [key, time] : terminations_) {
    if (!next || time < *next) next = time;
  }
  return next;
}

void ObjectStore::end_terminations() {
  std::vector<api::ObjectKey> due;
  for (const auto& [key, time] : terminations_) {
    if (time <= clock_.now()) due.push_back(key);
  }
  for (const api::ObjectKey& key : due) remove(api::Kind::kPod, key);
}

// --- watches ------------------------------------------------------------------------------------

void ObjectStore::tell(api::DeltaType type, api::Kind kind, api::Object object) {
  if (unserved_.contains(kind)) return;
  api::Delta delta{type, kind, {std::to_string(revision_)}, std::move(object)};
  if (dropped_.contains(kind)) {
    held_[kind].push_back(std::move(delta));
  } else {
    deltas_.push_back(std::move(delta));
  }
}

template <class Object>
void ObjectStore::tell_change(const Object* before, const Object& after) {
  api::Object object = after;
  const api::Kind kind = kind_of(object);
  tell(before == nullptr ? api::DeltaType::kAdded : api::DeltaType::kUpdated, kind,
       std::move(object));
}

// The pod watch hides terminal pods: finishing looks like a deletion there, and as an addition to
// the watch on finished pods.
void ObjectStore::tell_change(const api::Pod* before, const api::Pod& after) {
  const bool was_shown = before != nullptr && !before->is_terminal();
  if (!after.is_terminal()) {
    tell(was_shown ? api::DeltaType::kUpdated : api::DeltaType::kAdded, api::Kind::kPod, after);
    return;
  }
  if (was_shown) {
    api::Pod gone = *before;
    gone.meta.resource_version = after.meta.resource_version;
    tell(api::DeltaType::kDeleted, api::Kind::kPod, std::move(gone));
  }
  const bool is_ours = after.scheduler_name == scheduler_name_;
  if (is_ours) tell(api::DeltaType::kAdded, api::Kind::kFinishedPod, after);
}

void ObjectStore::append_list(api::Kind kind, std::vector<api::Delta>& out) const {
  const api::ResourceVersion version{std::to_string(revision_)};
  if (unserved_.contains(kind)) {
    out.push_back({api::DeltaType::kUnserved, kind, version, {}});
    return;
  }
  out.push_back({api::DeltaType::kListBegin, kind, version, {}});
  const auto add = [&](const auto& object) {
    out.push_back({api::DeltaType::kAdded, kind, object.meta.resource_version, object});
  };
  const bool is_pod = kind == api::Kind::kPod;
  if (is_pod || kind == api::Kind::kFinishedPod) {
    for (const auto& [key, pod] : pods()) {
      const bool is_shown =
          is_pod ? !pod.is_terminal() : pod.is_terminal() && pod.scheduler_name == scheduler_name_;
      if (is_shown) add(pod);
    }
  } else {
    visit_kind(objects_, kind, [&](const auto& map) {
      for (const auto& [key, object] : map) add(object);
    });
  }
  out.push_back({api::DeltaType::kListEnd, kind, version, {}});
}

std::vector<api::Delta> ObjectStore::list_all(const std::string& scheduler_name) {
  scheduler_name_ = scheduler_name;
  deltas_.clear();
  held_.clear();
  dropped_.clear();
  std::vector<api::Delta> out;
  for (int kind = 0; kind < api::kKindCount; ++kind) {
    append_list(static_cast<api::Kind>(kind), out);
  }
  return out;
}

std::vector<api::Delta> ObjectStore::take_deltas() {
  std::vector<api::Delta> out(std::make_move_iterator(deltas_.begin()),
                              std::make_move_iterator(deltas_.end()));
  deltas_.clear();
  return out;
}

void ObjectStore::drop_watch(api::Kind kind) {
  dropped_.insert(kind);
}

void ObjectStore::restore_watch(api::Kind kind, bool expired) {
  dropped_.erase(kind);
  std::vector<api::Delta> held = std::move(held_[kind]);
  held_.erase(kind);
  if (expired) {
    held.clear();
    append_list(kind, held);
  }
  for (api::Delta& delta : held) deltas_.push_back(std::move(delta));
}

void ObjectStore::set_served(api::Kind kind, bool served) {
  if (served) {
    unserved_.erase(kind);
  } else {
    unserved_.insert(kind);
  }
  std::vector<api::Delta> told;
  append_list(kind, told);
  for (api::Delta& delta : told) deltas_.push_back(std::move(delta));
}

}  // namespace gang::sim
