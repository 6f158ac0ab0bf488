#include "gang/api/device.h"

namespace gang::api {

/// Equal policies need not be one object.
bool operator==(const DeviceCapacity& a, const DeviceCapacity& b) {
  if (a.value != b.value || (a.policy == nullptr) != (b.policy == nullptr)) return false;
  return a.policy == b.policy || *a.policy == *b.policy;
}

}  // namespace gang::api
