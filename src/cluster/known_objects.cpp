#include "cluster/known_objects.h"

#include <algorithm>

namespace gang::cluster {

bool is_news(std::string_view known_version, const api::ResourceVersion& told) {
  if (known_version == told.text) return told.text.empty();
  const api::ResourceVersion known{std::string(known_version)};
  if (!known.comparable() || !told.comparable()) return true;
  return api::is_newer(told, known);
}

KnownObjects::Told KnownObjects::upsert(const api::ObjectMeta& meta, ListNumber list) {
  const auto [place, is_new] = objects_.try_emplace(meta.key);
  Object& object = place->second;
  const bool is_other = !is_new && object.uid != meta.uid;
  object.list = list;
  if (!is_new && !is_other && !is_news(object.version, meta.resource_version)) {
    return Told::kNothing;
  }
  object.uid = meta.uid;
  object.version = meta.resource_version.text;
  return is_new || is_other ? Told::kNew : Told::kChanged;
}

bool KnownObjects::remove(const api::ObjectMeta& meta) {
  const auto place = objects_.find(meta.key);
  if (place == objects_.end() || place->second.uid != meta.uid) return false;
  objects_.erase(place);
  return true;
}

std::vector<api::ObjectKey> KnownObjects::sweep(ListNumber list) {
  std::vector<api::ObjectKey> gone;
  for (auto place = objects_.begin(); place != objects_.end();) {
    if (place->second.list == list) {
      ++place;
      continue;
    }
    gone.push_back(place->first);
    place = objects_.erase(place);
  }
  std::sort(gone.begin(), gone.end());
  return gone;
}

}  // namespace gang::cluster
