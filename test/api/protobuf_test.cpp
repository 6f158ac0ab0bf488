#include "api/protobuf.h"

#include <gtest/gtest.h>

#include "gang/api/claim_edit.h"
#include "gang/api/json.h"
#include "support/wire.h"

namespace gang::api {
namespace {

using test::wire;
using test::wire_claim;
using test::wire_object;

ClaimPatch patch(std::vector<std::string> finalizers, std::string fence = "") {
  return {.claim = {"ns", "c"},
          .uid = {"u"},
          .resource_version = {"7"},
          .finalizers = std::move(finalizers),
          .fence = std::move(fence)};
}

std::string edited(const std::string& claim, const ClaimPatch& patch) {
  const Result<std::string> result = edit_claim(claim, patch);
  return result ? *result : result.error().message;
}

TEST(Protobuf, ReadsFieldsOfEveryType) {
  const std::string bytes = std::string("\x08\x96\x01", 3) + "\x11" + "12345678" + wire(3, "abc") +
                            "\x25" + "1234" + wire(3, "de");
  const Result<std::vector<WireField>> fields = read_fields(bytes);
  ASSERT_TRUE(fields) << fields.error().message;
  ASSERT_EQ(fields->size(), 5U);
  std::string whole;
  for (const WireField& field : *fields) whole += field.whole;
  EXPECT_EQ(whole, bytes);
  EXPECT_EQ((*fields)[3].number, 4U);
  EXPECT_FALSE((*fields)[3].has_content);
  EXPECT_EQ(content_of(*fields, 3), "de");
  EXPECT_EQ(content_of(*fields, 1), "");
}

TEST(Protobuf, RefusesBrokenBytes) {
  struct Row {
    const char* name;
    std::string bytes;
  };
  const std::string nines(9, '\xff');
  for (const Row& row : {Row{"a cut tag", "\xff"}, Row{"a tag of eleven bytes", nines + "\xff\x01"},
                         Row{"a tag of more than 64 bits", nines + "\x02"},
                         Row{"number 0", std::string("\x02\x00", 2)},
                         Row{"a tag of more than 32 bits", "\xfa\xff\xff\xff\x7f\x01"},
                         Row{"a group", "\x0b\x0c"}, Row{"type 7", "\x0f"},
                         Row{"a cut number", "\x08\x80"}, Row{"four bytes cut", "\x0d\x01\x02"},
                         Row{"eight bytes cut", "\x09\x01\x02"}, Row{"content cut", "\x0a\x03xy"},
                         Row{"content of a size that wraps", "\x0a" + nines + "\x01"}}) {
    const auto fields = read_fields(row.bytes);
    ASSERT_FALSE(fields) << row.name;
    EXPECT_EQ(fields.error().code, Code::kInvalidArgument);
    EXPECT_TRUE(fields.error().message.starts_with("protobuf: ")) << fields.error().message;
  }
  EXPECT_EQ(read_fields(std::string(200'000, '\x08')).error().message, "protobuf: too many fields");
}

TEST(Protobuf, WritesLengthsOfEverySize) {
  for (const std::size_t size : {0U, 127U, 128U, 16'383U, 16'384U}) {
    std::string message;
    append_field(message, 300, std::string(size, 'x'));
    const auto fields = read_fields(message);
    ASSERT_TRUE(fields) << size;
    EXPECT_EQ(content_of(*fields, 300).size(), size);
  }
}

TEST(ProtobufClaim, AddsAFinalizerAndTouchesNothingElse) {
  const std::string unknown = wire(15, "newer");
  EXPECT_EQ(edited(wire_claim(unknown), patch({"a/b"})), wire_claim(unknown + wire(14, "a/b")));
}

TEST(ProtobufClaim, TheFinalizersOfThePatchAreAllThatAreLeft) {
  const std::string before = wire(14, "a/b") + wire(13, "owner") + wire(14, "c/d");
  EXPECT_EQ(edited(wire_claim(before), patch({"c/d"})),
            wire_claim(wire(13, "owner") + wire(14, "c/d")));
  EXPECT_EQ(edited(wire_claim(before), patch({})), wire_claim(wire(13, "owner")));
}

TEST(ProtobufClaim, AFenceIsAnEntryBehindTheOthers) {
  const std::string other = wire(12, wire(1, "k") + wire(2, "v"));
  EXPECT_EQ(edited(wire_claim(other), patch({}, "e7-5")),
            wire_claim(other + wire(12, wire(1, kClaimFence) + wire(2, "e7-5"))));
}

TEST(ProtobufClaim, ReservationsAreReplacedWhole) {
  const std::string allocation = wire(1, "allocation");
  const std::string devices = wire(4, "devices");
  const auto consumer = [](const char* group, const char* resource, const char* name) {
    return wire(2, wire(1, group) + wire(3, resource) + wire(4, name) + wire(5, "u"));
  };
  const ClaimStatusPatch patch{
      .claim = {"ns", "c"},
      .uid = {"u"},
      .resource_version = {"7"},
      .reserved_for = {
          {.resource = "pods", .name = "p", .uid = {"u"}},
          {.api_group = "scheduling.k8s.io", .resource = "podgroups", .name = "g", .uid = {"u"}}}};
  const auto result =
      edit_claim_status(wire_claim("", allocation + consumer("", "pods", "q") + devices), patch);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(*result, wire_claim("", allocation + devices + consumer("", "pods", "p") +
                                        consumer("scheduling.k8s.io", "podgroups", "g")));
}

TEST(ProtobufClaim, AnotherClaimOrVersionIsAConflict) {
  ClaimPatch other = patch({"a/b"});
  other.uid.text = "v";
  EXPECT_EQ(edit_claim(wire_claim(), other).error().code, Code::kConflict);
  other = patch({"a/b"});
  other.resource_version.text = "8";
  EXPECT_EQ(edit_claim(wire_claim(), other).error().code, Code::kConflict);
}

TEST(ProtobufClaim, RefusesWhatIsNoClaim) {
  struct Row {
    const char* why;
    std::string bytes;
  };
  const std::string meta = wire(1, wire(5, "u") + wire(6, "7"));
  for (const Row& row :
       {Row{"protobuf: these are not the bytes of an object", ""},
        Row{"protobuf: these are not the bytes of an object", R"({"kind":"ResourceClaim"})"},
        Row{"protobuf: the object is no ResourceClaim", wire_object("Pod", meta)},
        Row{"protobuf: the object is packed", wire_object("ResourceClaim", meta) + wire(3, "gzip")},
        Row{"protobuf: field 2 is not there once",
            wire_object("ResourceClaim", meta) + wire(2, meta)},
        Row{"protobuf: field 1 is not there once", wire_object("ResourceClaim", meta + meta)},
        Row{"protobuf: field 10 is cut or of no known type",
            wire_object("ResourceClaim", meta + "\x52\x7f")}}) {
    EXPECT_EQ(edited(row.bytes, patch({"a/b"})), row.why);
  }
}

TEST(DecodeStatus, ReadsWhatIsToldInProtobuf) {
  const std::string message = wire(2, "Failure") + wire(3, "not found") + wire(4, "NotFound");
  const Status status = decode_status(wire_object("Status", message));
  EXPECT_EQ(status.message, "not found");
  EXPECT_EQ(status.reason, "NotFound");
  EXPECT_EQ(decode_status(wire_object("Status", message).substr(0, 20)).message, "");
}

}  // namespace
}  // namespace gang::api
