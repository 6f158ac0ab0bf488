// KeptObjects: the objects of a kind whole, each immutable and shared with whoever reads it.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "cluster/known_objects.h"

namespace gang::cluster {

/// What was kept under a key before and after; equal (null) when nothing changed.
template <class T>
struct Replaced {
  std::shared_ptr<const T> before;
  std::shared_ptr<const T> after;
};

/// Owned by the state, one per kind. Always: holds exactly the objects told and not deleted since,
/// in the newest version told.
template <class T>
class KeptObjects {
 public:
  Replaced<T> upsert(const T& object, ListNumber list) {
    if (known_.upsert(object.meta, list) == KnownObjects::Told::kNothing) return {};
    std::shared_ptr<const T>& place = objects_[object.meta.key];
    Replaced<T> replaced{std::move(place), std::make_shared<const T>(object)};
    place = replaced.after;
    return replaced;
  }

  /// Null when it was not known, or is known under another UID.
  std::shared_ptr<const T> remove(const api::ObjectMeta& meta) {
    return known_.remove(meta) ? take(meta.key) : nullptr;
  }

  /// Removes those not told in that list, by key.
  std::vector<std::shared_ptr<const T>> sweep(ListNumber list) {
    std::vector<std::shared_ptr<const T>> gone;
    for (const api::ObjectKey& key : known_.sweep(list)) gone.push_back(take(key));
    return gone;
  }

  /// Null when there is none.
  [[nodiscard]] std::shared_ptr<const T> find(const api::ObjectKey& key) const {
    const auto found = objects_.find(key);
    return found == objects_.end() ? nullptr : found->second;
  }
  /// In no order.
  [[nodiscard]] const std::unordered_map<api::ObjectKey, std::shared_ptr<const T>>& all() const {
    return objects_;
  }

 private:
  std::shared_ptr<const T> take(const api::ObjectKey& key) {
    const auto found = objects_.find(key);
    std::shared_ptr<const T> taken = std::move(found->second);
    objects_.erase(found);
    return taken;
  }

  KnownObjects known_;
  std::unordered_map<api::ObjectKey, std::shared_ptr<const T>> objects_;
};

/// Whether two versions differ in metadata only.
template <class T>
[[nodiscard]] bool differ_in_metadata_only(const T& a, T b) {
  if (a.meta.key != b.meta.key || a.meta.unreadable != b.meta.unreadable) return false;
  b.meta = a.meta;
  return a == b;
}

}  // namespace gang::cluster
