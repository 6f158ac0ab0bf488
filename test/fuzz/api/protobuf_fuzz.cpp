// The reader of protobuf, and claims rewritten through it. The first byte of the input chooses
// what is written.
//
// Properties: no crash; the fields of a message are all of its bytes; a claim that is rewritten can
// be rewritten again and is the same then, and what the write leaves alone has its bytes.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "api/protobuf.h"
#include "gang/api/claim_edit.h"
#include "gang/api/json.h"
#include "gang/base/check.h"

namespace {

constexpr std::uint32_t kMetadata = 1;
constexpr std::uint32_t kSpec = 2;
constexpr std::uint32_t kUid = 5;
constexpr std::uint32_t kResourceVersion = 6;

/// The content of one field of a message, whatever the message is.
std::string_view part_of(std::string_view message, std::uint32_t number) {
  const auto fields = gang::api::read_fields(message);
  return fields ? gang::api::content_of(*fields, number) : std::string_view();
}

void check_fields(std::string_view message) {
  const auto fields = gang::api::read_fields(message);
  if (!fields) {
    CHECK(!fields.error().message.empty());
    return;
  }
  std::string whole;
  for (const gang::api::WireField& field : *fields) whole += field.whole;
  CHECK(whole == message);
}

template <class Patch, class Edit>
void check_edit(std::string_view bytes, Patch patch, Edit edit) {
  const auto claim = gang::api::read_object(bytes, "ResourceClaim");
  if (!claim) return;
  const std::string_view meta = part_of(*claim, kMetadata);
  patch.uid.text = part_of(meta, kUid);
  patch.resource_version.text = part_of(meta, kResourceVersion);
  const auto once = edit(bytes, patch);
  if (!once) {
    CHECK(once.error().code != gang::Code::kConflict);
    return;
  }
  const auto twice = edit(*once, patch);
  CHECK(twice && *twice == *once);
  const auto after = gang::api::read_object(*once, "ResourceClaim");
  CHECK(after && part_of(*after, kSpec) == part_of(*claim, kSpec));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  check_fields(bytes);
  static_cast<void>(gang::api::decode_status(bytes));
  if (data[0] % 2 == 0) {
    check_edit(bytes, gang::api::ClaimPatch{.finalizers = {"a/b", "c/d"}}, gang::api::edit_claim);
  } else {
    check_edit(bytes, gang::api::ClaimStatusPatch{.reserved_for = {{.resource = "pods"}}},
               gang::api::edit_claim_status);
  }
  return 0;
}
