#include "gang/api/claim_write.h"
#include "gang/api/json.h"

#include <gtest/gtest.h>

namespace gang::api {
namespace {

Quantity amount(const char* text) {
  return *Quantity::parse(text);
}

constexpr const char* kSlice =
    R"({"kind":"ResourceSlice","metadata":{"name":"s","uid":"u1"},"spec":{
  "driver":"gpu.example.com","pool":{"name":"node-1","generation":3,"resourceSliceCount":2},
  "nodeName":"node-1","skipNodeOperations":["*"],
  "devices":[{"name":"gpu-0",
    "attributes":{"model":{"string":"A100"},"index":{"int":0},"ecc":{"bool":false},
                  "driverVersion":{"version":"550.1.0"},"gpu.example.com/links":{"ints":[1,2]}},
    "capacity":{"memory":{"value":"80Gi","requestPolicy":{"default":"1Gi",
        "validRange":{"min":"1Gi","max":"80Gi","step":"1Gi"}}},
                "cores":{"value":108,"requestPolicy":{"default":"1","validValues":["1","2"]}}},
    "consumesCounters":[{"counterSet":"g0","counters":{"memory":{"value":"80Gi"}},
                         "compatibilityGroups":["a"]}],
    "taints":[{"key":"unhealthy","value":"xid","effect":"NoExecute",
              "timeAdded":"2026-10-01T10:00:00Z"},
              {"key":"odd","effect":"Later"}],
    "bindingConditions":["attached"],"bindingFailureConditions":["broken"],"bindsToNode":true,
    "allowMultipleAllocations":true}]}})";

TEST(DecodeResourceSlice, KeepsPoolPlaceAndDevices) {
  const auto slice = decode_resource_slice(kSlice);
  ASSERT_TRUE(slice) << slice.error().message;
  EXPECT_EQ(slice->meta.unreadable, "");
  EXPECT_EQ(slice->driver, "gpu.example.com");
  EXPECT_EQ(slice->pool, "node-1");
  EXPECT_EQ(slice->pool_generation, 3);
  EXPECT_EQ(slice->pool_slice_count, 2);
  EXPECT_EQ(slice->place.node_name, "node-1");
  EXPECT_EQ(slice->skip_node_operations, std::vector<std::string>{"*"});
  ASSERT_EQ(slice->devices.size(), 1u);
  const Device& device = slice->devices[0];
  EXPECT_EQ(device.name, "gpu-0");
  EXPECT_TRUE(device.binds_to_node);
  EXPECT_TRUE(device.allow_multiple_allocations);
  EXPECT_EQ(device.binding_conditions, std::vector<std::string>{"attached"});
  EXPECT_EQ(device.binding_failure_conditions, std::vector<std::string>{"broken"});
}

TEST(DecodeResourceSlice, AttributesKeepTheirKind) {
  const Device device = decode_resource_slice(kSlice)->devices[0];
  EXPECT_EQ(*find_named(device.attributes, "model"), AttributeValue(std::string("A100")));
  EXPECT_EQ(*find_named(device.attributes, "index"), AttributeValue(std::int64_t{0}));
  EXPECT_EQ(*find_named(device.attributes, "ecc"), AttributeValue(false));
  EXPECT_EQ(*find_named(device.attributes, "driverVersion"), AttributeValue(Version{"550.1.0"}));
  EXPECT_EQ(*find_named(device.attributes, "gpu.example.com/links"),
            AttributeValue(std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(find_named(device.attributes, "Model"), nullptr);
}

TEST(DecodeResourceSlice, AListWinsOverAScalarAndTwoScalarsAreNone) {
  const auto value_of = [](const std::string& attribute) {
    const auto slice = decode_resource_slice(R"({"metadata":{"name":"s"},"spec":{"devices":[
        {"name":"d","attributes":{"a":)" + attribute +
                                             "}}]}}");
    EXPECT_EQ(slice->meta.unreadable, "") << attribute;
    return slice->devices[0].attributes[0].second;
  };
  EXPECT_EQ(value_of(R"({"string":"x","strings":["y"]})"),
            AttributeValue(std::vector<std::string>{"y"}));
  EXPECT_EQ(value_of(R"({"bools":[true]})"), AttributeValue(std::vector<bool>{true}));
  EXPECT_EQ(value_of(R"({"versions":["1.0.0"]})"),
            AttributeValue(std::vector<Version>{Version{"1.0.0"}}));
  EXPECT_EQ(value_of(R"({"string":"x","int":1})"), AttributeValue());
  EXPECT_EQ(value_of(R"({"float":"1.5"})"), AttributeValue());
}

TEST(DecodeResourceSlice, CapacityKeepsValueAndPolicy) {
  const Device device = decode_resource_slice(kSlice)->devices[0];
  const DeviceCapacity& memory = *find_named(device.capacity, "memory");
  EXPECT_EQ(memory.value, amount("80Gi"));
  EXPECT_EQ(memory.policy->default_value, amount("1Gi"));
  EXPECT_EQ(memory.policy->valid_range->max, amount("80Gi"));
  const DeviceCapacity& cores = *find_named(device.capacity, "cores");
  EXPECT_EQ(cores.value, amount("108"));
  EXPECT_EQ(cores.policy->valid_values, (std::vector<Quantity>{amount("1"), amount("2")}));
  EXPECT_FALSE(cores.policy->valid_range);
}

TEST(DecodeResourceSlice, CountersTaintsAndGroups) {
  const Device device = decode_resource_slice(kSlice)->devices[0];
  ASSERT_EQ(device.consumes_counters.size(), 1u);
  EXPECT_EQ(device.consumes_counters[0].counter_set, "g0");
  EXPECT_EQ(*find_named(device.consumes_counters[0].counters, "memory"), amount("80Gi"));
  EXPECT_EQ(device.consumes_counters[0].compatibility_groups, std::vector<std::string>{"a"});
  ASSERT_EQ(device.taints.size(), 2u);
  EXPECT_EQ(device.taints[0].effect, DeviceTaintEffect::kNoExecute);
  EXPECT_TRUE(device.taints[0].time_added);
  EXPECT_EQ(device.taints[1].effect, DeviceTaintEffect::kNone);
}

TEST(DecodeResourceSlice, SharedCountersAndPlaces) {
  const auto slice = decode_resource_slice(R"({"metadata":{"name":"s"},"spec":{
      "driver":"d","pool":{"name":"p"},"perDeviceNodeSelection":true,
      "sharedCounters":[{"name":"g0","counters":{"slices":{"value":"7"}}}],
      "devices":[{"name":"a","nodeName":"n1"},{"name":"b","allNodes":true},
                 {"name":"c","nodeSelector":{"nodeSelectorTerms":[
                    {"matchExpressions":[{"key":"rack","operator":"In","values":["r1"]}]}]}}]}})");
  ASSERT_TRUE(slice) << slice.error().message;
  EXPECT_TRUE(slice->per_device_node_selection);
  EXPECT_EQ(*find_named(slice->shared_counters[0].counters, "slices"), amount("7"));
  EXPECT_EQ(slice->devices[0].place.node_name, "n1");
  EXPECT_TRUE(slice->devices[1].place.all_nodes);
  EXPECT_EQ(slice->devices[2].place.node_selector->terms[0].expressions[0].key, "rack");
}

TEST(DecodeResourceSlice, ABrokenFieldNamesItself) {
  const std::pair<const char*, const char*> rows[] = {
      {R"("devices":[{"name":"d","capacity":{"m":{"value":"80GB"}}}])",
       "spec.devices[0].capacity.m.value: "},
      {R"("devices":[{"name":"d","attributes":{"a":{"int":"x"}}}])",
       "spec.devices[0].attributes.a.int: "},
      {R"("devices":[{"name":"d","attributes":{"a":7}}])", "spec.devices[0].attributes.a: "},
      {R"("devices":[{"name":"d","attributes":[]}])", "spec.devices[0].attributes: "},
      {R"("pool":{"generation":1e99})", "spec.pool.generation: "},
      {R"("sharedCounters":[{"name":"g","counters":{"c":{"value":{}}}}])",
       "spec.sharedCounters[0].counters.c.value: "},
  };
  for (const auto& [field, path] : rows) {
    const auto slice =
        decode_resource_slice(std::string(R"({"metadata":{"name":"s"},"spec":{)") + field + "}}");
    ASSERT_TRUE(slice) << field;
    EXPECT_EQ(slice->meta.unreadable.rfind(path, 0), 0u) << slice->meta.unreadable;
  }
}

TEST(DecodeDeviceTaintRule, AbsentAndEmptySelectorsDiffer) {
  const auto none = decode_device_taint_rule(
      R"({"metadata":{"name":"r"},"spec":{"taint":{"key":"k","effect":"NoSchedule"}}})");
  EXPECT_FALSE(none->selector);
  EXPECT_EQ(none->taint.effect, DeviceTaintEffect::kNoSchedule);
  const auto all = decode_device_taint_rule(
      R"({"metadata":{"name":"r"},"spec":{"deviceSelector":{},"taint":{"key":"k"}}})");
  EXPECT_EQ(all->selector, DeviceTaintSelector());
  const auto some = decode_device_taint_rule(R"({"metadata":{"name":"r"},"spec":{
      "deviceSelector":{"driver":"d","pool":"p","device":"x"},"taint":{"key":"k"}}})");
  EXPECT_EQ(some->selector, (DeviceTaintSelector{.driver = "d", .pool = "p", .device = "x"}));
}

constexpr const char* kClaim =
    R"({"kind":"ResourceClaim","metadata":{"name":"c","namespace":"ns","uid":"u",
  "finalizers":["resource.kubernetes.io/delete-protection"],
  "annotations":{"resource.kubernetes.io/pod-claim-name":"gpu","other":"x"}},
 "spec":{"devices":{"requests":[
   {"name":"gpu","exactly":{"deviceClassName":"gpu","count":2,"adminAccess":false,
      "selectors":[{"cel":{"expression":"true"}},{}],
      "tolerations":[{"key":"k","effect":"NoExecute","tolerationSeconds":30}],
      "capacity":{"requests":{"memory":"10Gi"}},
      "derivedAttributes":[{"name":"x.io/a","expression":"1"}]}},
   {"name":"any","firstAvailable":[{"name":"big","deviceClassName":"gpu"},
      {"name":"all","deviceClassName":"gpu","allocationMode":"All"}]}],
  "constraints":[{"requests":["gpu","any/big"],"matchAttribute":"x.io/a"},
                 {"distinctAttribute":"x.io/b"},{}],
  "config":[{"requests":["gpu"],"opaque":{"driver":"d",
     "parameters":{"b":[1,"\"",null,true],"a":1.50}}}]}},
 "status":{"allocation":{"devices":{"results":[{"request":"any/big","driver":"d","pool":"p",
      "device":"x","adminAccess":true,"shareID":"s1","consumedCapacity":{"memory":"10Gi"},
      "bindingConditions":["a"],"bindingFailureConditions":["b"],
      "tolerations":[{"operator":"Exists"}]}],
    "config":[{"source":"FromClass","opaque":{"driver":"d","parameters":{}}},
              {"source":"FromClaim"}]},
   "nodeSelector":{"nodeSelectorTerms":[]},"allocationTimestamp":"2026-10-01T10:00:00Z"},
  "reservedFor":[{"resource":"pods","name":"p-0","uid":"pu"},
     {"apiGroup":"scheduling.k8s.io","resource":"podgroups","name":"g","uid":"gu"}],
  "devices":[{"driver":"d","pool":"p","device":"x","shareID":"s1",
     "conditions":[{"type":"a","status":"True"}]}]}})";

TEST(DecodeResourceClaim, KeepsTheRequests) {
  const auto claim = decode_resource_claim(kClaim);
  ASSERT_TRUE(claim) << claim.error().message;
  EXPECT_EQ(claim->meta.unreadable, "");
  EXPECT_EQ(claim->finalizers, std::vector<std::string>{std::string(kClaimFinalizer)});
  EXPECT_EQ(claim->meta.annotations, (StringMap{{std::string(kPodClaimName), "gpu"}}));
  ASSERT_EQ(claim->spec.requests.size(), 2u);
  const DeviceAsk& gpu = *claim->spec.requests[0].exactly;
  EXPECT_EQ(gpu.count, 2);
  EXPECT_EQ(gpu.admin_access, false);
  EXPECT_EQ(gpu.selectors[0].expression, "true");
  EXPECT_FALSE(gpu.selectors[1].expression);
  EXPECT_EQ(gpu.tolerations[0],
            (DeviceToleration{
                .key = "k", .op = "Equal", .value = "", .effect = "NoExecute", .seconds = 30}));
  EXPECT_EQ(*find_named(gpu.capacity, "memory"), amount("10Gi"));
  EXPECT_EQ(gpu.derived_attributes[0].name, "x.io/a");
  const auto& any = claim->spec.requests[1].first_available;
  ASSERT_EQ(any.size(), 2u);
  EXPECT_EQ(any[0].count, 1);
  EXPECT_EQ(any[1].mode, AllocationMode::kAll);
  EXPECT_FALSE(any[1].admin_access);
}

TEST(DecodeResourceClaim, KeepsConstraintsAndPassesParametersOn) {
  const ClaimSpec spec = decode_resource_claim(kClaim)->spec;
  EXPECT_EQ(spec.constraints[0].kind, ConstraintKind::kMatch);
  EXPECT_EQ(spec.constraints[0].requests, (std::vector<std::string>{"gpu", "any/big"}));
  EXPECT_EQ(spec.constraints[1].kind, ConstraintKind::kDistinct);
  EXPECT_EQ(spec.constraints[2].kind, ConstraintKind::kUnknown);
  EXPECT_EQ(spec.configs[0].opaque->parameters, R"({"b":[1,"\"",null,true],"a":1.50})");
}

TEST(DecodeResourceClaim, KeepsTheAllocation) {
  const auto claim = decode_resource_claim(kClaim);
  ASSERT_TRUE(claim->allocation);
  const DeviceResult& result = claim->allocation->results[0];
  EXPECT_EQ(result.request, "any/big");
  EXPECT_TRUE(result.admin_access);
  EXPECT_EQ(result.share_id, "s1");
  EXPECT_EQ(*find_named(result.consumed_capacity, "memory"), amount("10Gi"));
  EXPECT_EQ(result.tolerations[0].op, "Exists");
  EXPECT_EQ(claim->allocation->configs[0].source, ConfigSource::kClass);
  EXPECT_EQ(claim->allocation->configs[1].source, ConfigSource::kClaim);
  EXPECT_TRUE(claim->allocation->node_selector);
  EXPECT_TRUE(claim->allocation->time);
  ASSERT_EQ(claim->reserved_for.size(), 2u);
  EXPECT_EQ(claim->reserved_for[1].api_group, "scheduling.k8s.io");
  EXPECT_EQ(claim->devices[0].share_id, "s1");
  EXPECT_EQ(claim->devices[0].conditions[0].type, "a");
}

TEST(DecodeResourceClaim, AbsentCountIsOneAndAnUnknownModeIsKept) {
  const auto ask = [](const char* body) {
    return *decode_resource_claim(
                std::string(R"({"metadata":{"name":"c"},"spec":{"devices":{"requests":[
        {"name":"r","exactly":)") +
                body + "}]}}}")
                ->spec.requests[0]
                .exactly;
  };
  EXPECT_EQ(ask(R"({"deviceClassName":"x"})").count, 1);
  EXPECT_EQ(ask(R"({"count":0})").count, 1);
  EXPECT_EQ(ask(R"({"count":2147483648})").count, 2147483648);
  EXPECT_EQ(ask(R"({"allocationMode":"Some"})").mode, AllocationMode::kUnknown);
}

TEST(DecodeResourceClaim, ABrokenRequestNamesItself) {
  const std::pair<const char*, const char*> rows[] = {
      {R"({"name":"r"})", "spec.devices.requests[0]: has neither or both"},
      {R"({"name":"r","exactly":{},"firstAvailable":[{}]})",
       "spec.devices.requests[0]: has neither or both"},
      {R"({"name":"r","exactly":{"count":-1}})", "spec.devices.requests[0].exactly.count: "},
      {R"({"name":"r","exactly":{"count":"2"}})", "spec.devices.requests[0].exactly.count: "},
      {R"({"name":"r","exactly":{"capacity":{"requests":{"m":"x"}}}})",
       "spec.devices.requests[0].exactly.capacity.requests.m: "},
  };
  for (const auto& [request, path] : rows) {
    const auto claim = decode_resource_claim(
        std::string(R"({"metadata":{"name":"c"},"spec":{"devices":{"requests":[)") + request +
        "]}}}");
    ASSERT_TRUE(claim) << request;
    EXPECT_EQ(claim->meta.unreadable.rfind(path, 0), 0u) << claim->meta.unreadable;
  }
}

TEST(EncodeAllocation, WritesWhatDecodingReads) {
  const Allocation allocation = *decode_resource_claim(kClaim)->allocation;
  const auto again = decode_resource_claim(R"({"metadata":{"name":"c"},"status":{"allocation":)" +
                                           encode_allocation(allocation) + "}}");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->allocation, allocation);
}

TEST(EncodeAllocation, KeepsTheTextOfNumbersInParameters) {
  const std::string parameters = R"({"z":1.10,"id":12345678901234567890123,"a":[1e2,-0]})";
  Allocation allocation;
  allocation.configs.push_back(
      {.source = ConfigSource::kClass,
       .config = {.requests = {"r"}, .opaque = OpaqueConfig{"d", parameters}}});
  EXPECT_EQ(encode_allocation(allocation),
            R"({"devices":{"config":[{"opaque":{"driver":"d","parameters":)" + parameters +
                R"(},"requests":["r"],"source":"FromClass"}]}})");
  allocation.configs[0].config.opaque->parameters = "{";
  EXPECT_NE(encode_allocation(allocation).find(R"("parameters":null)"), std::string::npos);
}

TEST(EncodeAllocation, OfNothingHasNoList) {
  EXPECT_EQ(encode_allocation({}), R"({"devices":{}})");
}

TEST(DecodeDeviceClass, KeepsSelectorsConfigAndTheExtendedName) {
  const auto device_class = decode_device_class(R"({"metadata":{"name":"gpu"},"spec":{
      "selectors":[{"cel":{"expression":"device.driver == 'd'"}}],
      "config":[{"opaque":{"driver":"d","parameters":{"k":"v"}}}],
      "extendedResourceName":"example.com/gpu"}})");
  ASSERT_TRUE(device_class) << device_class.error().message;
  EXPECT_EQ(device_class->selectors[0].expression, "device.driver == 'd'");
  EXPECT_EQ(device_class->configs[0].opaque->parameters, R"({"k":"v"})");
  EXPECT_EQ(device_class->extended_resource_name, "example.com/gpu");
}

TEST(DecodeResourceClaimTemplate, KeepsTheClaimSpec) {
  const auto made = decode_resource_claim_template(R"({"metadata":{"name":"t","namespace":"ns"},
      "spec":{"metadata":{"labels":{"a":"b"}},"spec":{"devices":{"requests":[
        {"name":"gpu","exactly":{"deviceClassName":"gpu"}}]}}}})");
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->spec.requests[0].exactly->class_name, "gpu");
}

TEST(DecodePod, KeepsItsClaimsAndWhatWasMadeForThem) {
  const auto pod =
      decode_pod(R"({"metadata":{"name":"p","namespace":"ns"},"spec":{"resourceClaims":[
      {"name":"gpu","resourceClaimTemplateName":"t"},{"name":"net","resourceClaimName":"shared"}]},
      "status":{"resourceClaimStatuses":[{"name":"gpu","resourceClaimName":"p-gpu-1"},{"name":"x"}],
        "extendedResourceClaimStatus":{"resourceClaimName":"p-ext","requestMappings":[
          {"containerName":"main","resourceName":"example.com/gpu",
           "requestName":"container-0-request-0"}]}}})");
  ASSERT_TRUE(pod) << pod.error().message;
  EXPECT_EQ(pod->meta.unreadable, "");
  EXPECT_TRUE(pod->rules.resource_claims);
  EXPECT_EQ(pod->claims, (std::vector<ClaimEntry>{{.name = "gpu", .template_name = "t"},
                                                  {.name = "net", .claim_name = "shared"}}));
  EXPECT_EQ(pod->claim_statuses[0].claim_name, "p-gpu-1");
  EXPECT_EQ(pod->claim_statuses[1].claim_name, "");
  EXPECT_EQ(pod->extended_claim->mappings[0].request_name, "container-0-request-0");
}

}  // namespace
}  // namespace gang::api
