// Claims as the server tells them in protobuf, with what a write changes.
#include <algorithm>

#include "api/protobuf.h"
#include "gang/api/claim_edit.h"

namespace gang::api {
namespace {

// Of ResourceClaim.
constexpr std::uint32_t kMetadata = 1;
constexpr std::uint32_t kStatus = 3;

// Of ObjectMeta, and of an entry of a map.
constexpr std::uint32_t kUid = 5;
constexpr std::uint32_t kResourceVersion = 6;
constexpr std::uint32_t kAnnotations = 12;
constexpr std::uint32_t kFinalizers = 14;
constexpr std::uint32_t kMapKey = 1;
constexpr std::uint32_t kMapValue = 2;

// Of ResourceClaimStatus, and of ResourceClaimConsumerReference.
constexpr std::uint32_t kReservedFor = 2;
constexpr std::uint32_t kConsumerApiGroup = 1;
constexpr std::uint32_t kConsumerResource = 3;
constexpr std::uint32_t kConsumerName = 4;
constexpr std::uint32_t kConsumerUid = 5;

Result<void> check_is_meant(std::string_view claim, const Uid& uid,
                            const ResourceVersion& version) {
  GANG_TRY(const std::vector<WireField> fields, read_fields(claim));
  GANG_TRY(const std::vector<WireField> meta, read_fields(content_of(fields, kMetadata)));
  const bool is_meant =
      content_of(meta, kUid) == uid.text && content_of(meta, kResourceVersion) == version.text;
  if (!is_meant) return fail(Code::kConflict, "the claim has changed or is another one");
  return {};
}

/// One part of the claim changed, if it is the claim and the version that the write means.
template <class Patch>
Result<std::string> edit_part(std::string_view bytes, const Patch& patch, std::uint32_t part,
                              const WireEdit& edit) {
  return edit_object(bytes, "ResourceClaim", [&](std::string_view claim) -> Result<std::string> {
    GANG_TRY_VOID(check_is_meant(claim, patch.uid, patch.resource_version));
    return edit_field(claim, part, edit);
  });
}

/// The message without its fields of that number.
Result<std::string> without_fields(std::string_view message, std::uint32_t number) {
  GANG_TRY(const std::vector<WireField> fields, read_fields(message));
  std::string rest;
  for (const WireField& field : fields) {
    if (field.number != number) rest += field.whole;
  }
  return rest;
}

std::string consumer_message(const ClaimConsumer& consumer) {
  std::string message;
  append_field(message, kConsumerApiGroup, consumer.api_group);
  append_field(message, kConsumerResource, consumer.resource);
  append_field(message, kConsumerName, consumer.name);
  append_field(message, kConsumerUid, consumer.uid.text);
  return message;
}

}  // namespace

Result<std::string> edit_claim(std::string_view claim, const ClaimPatch& patch) {
  return edit_part(claim, patch, kMetadata, [&](std::string_view meta) -> Result<std::string> {
    GANG_TRY(std::string edited, without_fields(meta, kFinalizers));
    for (const std::string& finalizer : patch.finalizers) {
      append_field(edited, kFinalizers, finalizer);
    }
    if (patch.fence.empty()) return edited;
    // Of two entries of one key the last one counts.
    std::string entry;
    append_field(entry, kMapKey, kClaimFence);
    append_field(entry, kMapValue, patch.fence);
    append_field(edited, kAnnotations, entry);
    return edited;
  });
}

Result<std::string> edit_claim_status(std::string_view claim, const ClaimStatusPatch& patch) {
  return edit_part(claim, patch, kStatus, [&](std::string_view status) -> Result<std::string> {
    GANG_TRY(std::string edited, without_fields(status, kReservedFor));
    for (const ClaimConsumer& consumer : patch.reserved_for) {
      append_field(edited, kReservedFor, consumer_message(consumer));
    }
    return edited;
  });
}

}  // namespace gang::api
