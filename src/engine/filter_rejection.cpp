#include "engine/filter.h"

namespace gang::engine {

const GangFilter kKubeletRejection = {
    .name = "KubeletRejection",
    .text = "node(s) had a kubelet that rejected a member of this gang in the last 5 minutes",
};

}  // namespace gang::engine
