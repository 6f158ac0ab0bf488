#include "cluster/kind_sync.h"

#include <cstddef>

namespace gang::cluster {

void KindSync::note(const api::Delta& delta) {
  KindState& state = kinds_[static_cast<std::size_t>(delta.kind)];
  switch (delta.type) {
    case api::DeltaType::kListBegin:
      state.stage = Stage::kListing;
      ++state.number;
      break;
    case api::DeltaType::kListEnd:
      state.stage = Stage::kListed;
      break;
    case api::DeltaType::kUnserved:
      state.stage = Stage::kUnserved;
      ++state.number;
      break;
    case api::DeltaType::kForbidden:
      state.stage = Stage::kForbidden;
      break;
    default:
      break;
  }
}

bool KindSync::synced(api::Kind kind) const {
  const bool is_required = kind == api::Kind::kPod || kind == api::Kind::kNode;
  const Stage stage = at(kind).stage;
  return stage == Stage::kListed || (stage == Stage::kUnserved && !is_required);
}

bool KindSync::synced() const {
  for (int kind = 0; kind < api::kKindCount; ++kind) {
    if (!synced(static_cast<api::Kind>(kind))) return false;
  }
  return true;
}

bool KindSync::served(api::Kind kind) const {
  return at(kind).stage != Stage::kUnserved;
}

}  // namespace gang::cluster
