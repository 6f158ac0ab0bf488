// KnownObjects: names of objects of a kind of which nothing else is kept.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "cluster/kind_sync.h"
#include "gang/api/meta.h"

namespace gang::cluster {

/// Whether what a watch told is news. Equal versions are duplicates, older ones late arrivals;
/// versions that cannot be compared are news unless they are equal.
[[nodiscard]] bool is_news(std::string_view known_version, const api::ResourceVersion& told);

/// Owned by the state, one per kind. Always: holds exactly the objects told and not deleted since.
class KnownObjects {
 public:
  enum class Told { kNothing, kChanged, kNew };  ///< kNew also for another UID of a known name

  Told upsert(const api::ObjectMeta& meta, ListNumber list);
  /// False when it was not known, or is known under another UID.
  bool remove(const api::ObjectMeta& meta);
  /// Removes those not told in that list; their keys in ascending order.
  std::vector<api::ObjectKey> sweep(ListNumber list);

  [[nodiscard]] bool contains(const api::ObjectKey& key) const { return objects_.contains(key); }

 private:
  /// What tells two objects, and two versions, of one name apart.
  struct Object {
    api::Uid uid;
    std::string version;
    ListNumber list = 0;
  };
  std::unordered_map<api::ObjectKey, Object> objects_;
};

}  // namespace gang::cluster
