// ObjectStore: the objects of an API server in memory, of every kind that is watched, and what its
// watches tell.
//
// One mechanism for all kinds: one revision counter, objects are values under (kind, key), each
// write is told to the watches that are up. What differs by kind is what the server does: the watch
// on pods hides finished ones and shows those of ours to a second watch, assigned pods terminate
// for a while, a claim in deletion stays until its finalizers are gone. One thread. Checks nothing:
// see SimCluster for what requests may do.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "gang/api/delta.h"
#include "gang/base/clock.h"

namespace gang::sim {

/// See the head of the file.
class ObjectStore {
 public:
  template <class Object>
  using Objects = std::map<api::ObjectKey, Object>;

  explicit ObjectStore(const Clock& clock) : clock_(clock) {}

  // --- objects; each call is one write at the current time --------------------------------------
  /// Creates, or replaces under the same name and UID. Fills what the server fills.
  void put(api::Object object);
  bool remove(api::Kind kind, const api::ObjectKey& key);  ///< at once; false when it is not there
  /// Deletes a pod as a user does: an unassigned one goes at once, others terminate for `grace`.
  bool delete_gracefully(const api::ObjectKey& pod, Duration grace);
  /// Deletes a claim as a user does: one with finalizers stays until they are gone.
  bool delete_claim(const api::ObjectKey& claim);

  [[nodiscard]] bool contains(api::Kind kind, const api::ObjectKey& key) const;
  [[nodiscard]] std::vector<api::ObjectKey> keys(api::Kind kind) const;
  template <class Object>
  [[nodiscard]] const Objects<Object>& all() const {
    return std::get<Objects<Object>>(objects_);
  }
  template <class Object>
  [[nodiscard]] const Object* find(const api::ObjectKey& key) const {
    const auto at = all<Object>().find(key);
    return at == all<Object>().end() ? nullptr : &at->second;
  }
  [[nodiscard]] const api::Pod* pod(const api::ObjectKey& key) const { return find<api::Pod>(key); }
  [[nodiscard]] const api::Node* node(const std::string& name) const {
    return find<api::Node>({"", name});
  }
  [[nodiscard]] const api::PodGroup* pod_group(const api::ObjectKey& key) const {
    return find<api::PodGroup>(key);
  }
  [[nodiscard]] const Objects<api::Pod>& pods() const { return all<api::Pod>(); }
  /// Moves with every write.
  [[nodiscard]] std::int64_t revision() const { return revision_; }

  [[nodiscard]] std::optional<TimePoint> next_termination() const;  ///< of the next pod, if any
  void end_terminations();  ///< removes those whose grace period is over

  // --- watches ----------------------------------------------------------------------------------
  /// The lists of every kind, as a daemon that starts now would be told them.
  [[nodiscard]] std::vector<api::Delta> list_all(const std::string& scheduler_name);
  /// What the watches that are up have told since the last call, in order.
  [[nodiscard]] std::vector<api::Delta> take_deltas();
  [[nodiscard]] bool has_deltas() const { return !deltas_.empty(); }
  void drop_watch(api::Kind kind);
  [[nodiscard]] bool is_dropped(api::Kind kind) const { return dropped_.contains(kind); }
  /// `expired`: the watch cannot resume (410) and lists anew; else it tells what was held back.
  void restore_watch(api::Kind kind, bool expired);
  void set_served(api::Kind kind, bool served);  ///< not any more, or again
  [[nodiscard]] bool is_served(api::Kind kind) const { return !unserved_.contains(kind); }

 protected:
  void stamp(api::ObjectMeta& meta);
  [[nodiscard]] TimePoint now() const { return clock_.now(); }

 private:
  template <class Object>
  void store(Object object);
  void tell(api::DeltaType type, api::Kind kind, api::Object object);
  void tell_change(const api::Pod* before, const api::Pod& after);
  template <class Object>
  void tell_change(const Object* before, const Object& after);
  void append_list(api::Kind kind, std::vector<api::Delta>& out) const;

  const Clock& clock_;
  std::string scheduler_name_;
  std::int64_t revision_ = 100;
  std::int64_t uid_count_ = 0;
  std::tuple<Objects<api::Pod>, Objects<api::Node>, Objects<api::PodGroup>,
             Objects<api::CompositePodGroup>, Objects<api::Workload>, Objects<api::PriorityClass>,
             Objects<api::Namespace>, Objects<api::ResourceSlice>, Objects<api::ResourceClaim>,
             Objects<api::ResourceClaimTemplate>, Objects<api::DeviceClass>,
             Objects<api::DeviceTaintRule>>
      objects_;
  Objects<TimePoint> terminations_;
  std::deque<api::Delta> deltas_;
  std::set<api::Kind> dropped_;
  std::set<api::Kind> unserved_;
  std::map<api::Kind, std::vector<api::Delta>> held_;
};

}  // namespace gang::sim
