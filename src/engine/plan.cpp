#include "gang/engine/plan.h"

#include <fmt/format.h>

#include <string_view>

namespace gang::engine {

namespace {

/// FNV-1a over length-prefixed texts, with a final mix so that close inputs differ in all digits.
class Fnv {
 public:
  void add(std::string_view text) {
    add_number(text.size());
    for (const char c : text) add_byte(static_cast<unsigned char>(c));
  }
  [[nodiscard]] std::uint64_t mixed() const {
    std::uint64_t hash = hash_;
    hash = (hash ^ (hash >> 33)) * 0xff51afd7ed558ccdULL;
    hash = (hash ^ (hash >> 33)) * 0xc4ceb9fe1a85ec53ULL;
    return hash ^ (hash >> 33);
  }

 private:
  void add_number(std::uint64_t number) {
    for (int shift = 0; shift < 64; shift += 8) {
      add_byte(static_cast<unsigned char>(number >> shift));
    }
  }
  void add_byte(unsigned char byte) { hash_ = (hash_ ^ byte) * 0x100000001b3ULL; }

  std::uint64_t hash_ = 0xcbf29ce484222325ULL;
};

constexpr std::size_t kNameMax = 253;
constexpr std::size_t kHashDigits = 10;

}  // namespace

api::ObjectKey new_claim_key(const ClaimCreation& creation, const std::string& stamp) {
  Fnv fnv;
  fnv.add(stamp);
  fnv.add(creation.pod_uid.text);
  const std::string hash = fmt::format("{:016x}", fnv.mixed()).substr(0, kHashDigits);
  return {creation.pod.name_space, creation.generate_name.substr(0, kNameMax - kHashDigits) + hash};
}

api::ClaimConsumer consumer_of(const ClaimCreation& creation) {
  return {.api_group = "", .resource = "pods", .name = creation.pod.name, .uid = creation.pod_uid};
}

std::string plan_hash(const Plan& plan) {
  Fnv hash;
  hash.add(plan.gang.uid.text);
  for (const Assignment& assignment : plan.assignments) {
    hash.add(assignment.uid.text);
    hash.add(assignment.node_name);
  }
  return fmt::format("{:016x}", hash.mixed());
}

}  // namespace gang::engine
