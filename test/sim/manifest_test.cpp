#include "sim/manifest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "gang/sim/scenario.h"

namespace gang::sim {
namespace {

constexpr const char* kPod = R"(
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: x}
spec:
  schedulerName: gang-scheduler
  schedulingGroup: {podGroupName: g}
  containers:
    - name: main
      resources: {requests: {cpu: 2, memory: 1.5Gi, nvidia.com/gpu: "4"}}
)";

std::string refusal(const std::string& yaml) {
  const auto manifest = parse_manifest(yaml);
  EXPECT_FALSE(manifest) << yaml;
  return manifest ? "" : manifest.error().message;
}

TEST(Manifest, ReadsAPod) {
  const auto manifest = parse_manifest(kPod);
  ASSERT_TRUE(manifest) << manifest.error().message;
  ASSERT_EQ(manifest->objects.size(), 1U);
  const auto& pod = std::get<api::Pod>(manifest->objects[0].object);
  EXPECT_EQ(pod.meta.unreadable, "");
  EXPECT_EQ(pod.meta.key.text(), "x/p");
  EXPECT_EQ(pod.pod_group_name, "g");
  const api::ResourceList requests = effective_requests(pod, api::RequestBasis::kSpec);
  EXPECT_EQ(requests.find("cpu")->milli_value(), 2000);
  EXPECT_EQ(requests.find("memory")->value(), 1610612736);
  EXPECT_EQ(requests.find("nvidia.com/gpu")->value(), 4);
}

TEST(Manifest, ReadsDocumentsListsAndSkipsOtherKinds) {
  const auto manifest = parse_manifest(
      "---\n---\n"
      "kind: List\nitems:\n"
      "- {apiVersion: v1, kind: Node, metadata: {name: n1}}\n"
      "- {apiVersion: batch/v1, kind: Job, metadata: {name: train}}\n"
      "---\n"
      "{apiVersion: scheduling.k8s.io/v1beta1, kind: PodGroup, metadata: {name: g},"
      " spec: {schedulingPolicy: {gang: {minCount: 4}}}}\n"
      "---\n{apiVersion: apps/v1, kind: Pod, metadata: {name: not-core}}\n"
      "---\n{metadata: {name: nameless}}\n");
  ASSERT_TRUE(manifest) << manifest.error().message;
  ASSERT_EQ(manifest->objects.size(), 2U);
  EXPECT_EQ(manifest->objects[0].kind, api::Kind::kNode);
  EXPECT_EQ(std::get<api::PodGroup>(manifest->objects[1].object).spec.min_count, 4);
  const std::string held = ": " + std::string(kHeldKinds);
  EXPECT_EQ(manifest->objects[0].line, 5);
  EXPECT_EQ(manifest->objects[1].line, 8);
  EXPECT_EQ(
      manifest->skipped,
      std::vector<std::string>({"Job train" + held,
                                "Pod not-core of apps/v1: the simulator holds the Pod of v1 only",
                                "object without kind nameless" + held}));
}

TEST(Manifest, RefusesVersionsThatAreNotRead) {
  const auto object = [](const std::string& version, const std::string& kind) {
    return "---\n{" + version + "kind: " + kind + ", metadata: {name: a}}\n";
  };
  const std::string fine = object("apiVersion: v1, ", "Node");
  const std::vector<std::pair<std::string, std::string>> rows = {
      {object("apiVersion: v2, ", "Pod"),
       "line 4: Pod a: apiVersion \"v2\" is not read; write apiVersion: v1"},
      {object("", "Pod"), "line 4: Pod a: apiVersion is missing; write apiVersion: v1"},
      {object("apiVersion: scheduling.k8s.io/v1alpha1, ", "PodGroup"),
       "line 4: PodGroup a: apiVersion \"scheduling.k8s.io/v1alpha1\" is not read; write "
       "apiVersion: scheduling.k8s.io/v1beta1"},
      {object("apiVersion: v1, ", "PodGroup"),
       "line 4: PodGroup a: apiVersion \"v1\" is not read; write apiVersion: "
       "scheduling.k8s.io/v1beta1"},
      {object("apiVersion: scheduling.k8s.io/v1beta1, ", "CompositePodGroup"),
       "line 4: CompositePodGroup a: apiVersion \"scheduling.k8s.io/v1beta1\" is not read; write "
       "apiVersion: scheduling.k8s.io/v1alpha3"},
      {object("apiVersion: scheduling.k8s.io/v1beta1, ", "PriorityClass"),
       "line 4: PriorityClass a: apiVersion \"scheduling.k8s.io/v1beta1\" is not read; write "
       "apiVersion: scheduling.k8s.io/v1"},
  };
  for (const auto& [yaml, problem] : rows) EXPECT_EQ(refusal(fine + yaml), problem);
  const auto foreign = parse_manifest(object("apiVersion: scheduling.volcano.sh/v1, ", "PodGroup"));
  ASSERT_TRUE(foreign);
  EXPECT_EQ(foreign->skipped,
            std::vector<std::string>({"PodGroup a of scheduling.volcano.sh/v1: the simulator holds "
                                      "the PodGroup of scheduling.k8s.io/v1beta1 only"}));
}

TEST(Manifest, RefusesMergeKeys) {
  const std::string problem = "the merge key << is not read; write its fields out";
  EXPECT_EQ(refusal("<<: {kind: Pod}\napiVersion: v1\n"), "line 1 column 1: " + problem);
  EXPECT_EQ(refusal("apiVersion: v1\nkind: Node\nmetadata:\n  name: n1\n  <<: {name: m}\n"),
            "line 5 column 3: " + problem);
  EXPECT_TRUE(parse_manifest(
      "{apiVersion: v1, kind: Node, metadata: {name: n1, annotations: {\"<<\": a}}}"));
}

TEST(Manifest, RequestsWhatALimitNames) {
  const auto manifest = parse_manifest(
      "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n"
      "  - {name: a, resources: {limits: {nvidia.com/gpu: 2, cpu: 4}, requests: {cpu: 1}}}\n"
      "  - {name: b, resources: {limits: {nvidia.com/gpu: 1}}}\n"
      "  - {name: c, resources: {limits: words}}\n");
  ASSERT_TRUE(manifest) << manifest.error().message;
  const auto& pod = std::get<api::Pod>(manifest->objects[0].object);
  const api::ResourceList requests = effective_requests(pod, api::RequestBasis::kSpec);
  EXPECT_EQ(requests.find("nvidia.com/gpu")->value(), 3);
  EXPECT_EQ(requests.find("cpu")->value(), 1);
}

TEST(Manifest, KeepsQuotedScalarsAsText) {
  const auto manifest = parse_manifest(
      "{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {a: \"yes\", b: '010', c: \"1\","
      " d: \"\", e: \"null\", f: \"tab\\there\"}}}");
  ASSERT_TRUE(manifest) << manifest.error().message;
  const auto& node = std::get<api::Node>(manifest->objects[0].object);
  EXPECT_EQ(node.meta.unreadable, "");
  EXPECT_EQ(
      node.meta.labels,
      (api::StringMap{
          {"a", "yes"}, {"b", "010"}, {"c", "1"}, {"d", ""}, {"e", "null"}, {"f", "tab\there"}}));
}

TEST(Manifest, RefusesScalarsThatMeanDifferentThings) {
  for (const char* word : {"yes", "No", "on", "OFF", "y", "010", "0x10", "0b1", "1_000"}) {
    EXPECT_EQ(refusal("{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {a: " +
                      std::string(word) + "}}}"),
              "line 1 column 63: \"" + std::string(word) + "\" means different things; quote it");
  }
}

TEST(Manifest, NamesTheObjectOfAWrongField) {
  const auto manifest = parse_manifest(
      "{apiVersion: v1, kind: Node, metadata: {name: n1}, spec: {unschedulable: 4}}");
  ASSERT_TRUE(manifest);
  const auto& node = std::get<api::Node>(manifest->objects[0].object);
  EXPECT_NE(node.meta.unreadable.find("spec.unschedulable"), std::string::npos)
      << node.meta.unreadable;
  EXPECT_NE(refusal("{apiVersion: v1, kind: Node, metadata: {}}").find("Node "), std::string::npos);
}

TEST(Manifest, RefusesHostileText) {
  const std::string deep =
      "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: " + std::string(120, '[') +
      std::string(120, ']') + "}";
  std::string bomb = "a: &a [x,x,x,x,x,x,x,x,x,x]\n";
  for (char c = 'b'; c <= 'i'; ++c) {
    const std::string before(1, static_cast<char>(c - 1));
    bomb += std::string(1, c) + ": &" + c + " [";
    for (int i = 0; i < 10; ++i) bomb += (i == 0 ? "*" : ",*") + before;
    bomb += "]\n";
  }
  const std::vector<std::pair<std::string, std::string>> rows = {
      {deep, "the document is too large or too deep; split it"},
      {"apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n" + bomb,
       "the document is too large or too deep; split it"},
      {"apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: &s {x: *s}\n",
       "the document is too large or too deep; split it"},
      {"&l {kind: List, items: [*l]}", "a List in a List; write its items instead"},
      {"{kind: List, items: 4}", "a List has a sequence items; write items: [...]"},
      {"kind: List", "a List has a sequence items; write items: [...]"},
      {"[a, b]", "a manifest document is a map; write apiVersion, kind and metadata"},
      {"just words", "a manifest document is a map; write apiVersion, kind and metadata"},
      {"{apiVersion: v1, kind: Node, metadata: {name: n1, name: n2}}",
       "the key \"name\" is there twice; remove one"},
      {"{apiVersion: v1, kind: Node, metadata: {name: n1, [a]: b}}",
       "a key is one word; write key: value"},
      {"a: [1, 2", "line 1 column"},
      {"kind: Pod\nmetadata:\n\tname: p\n",
       "line 3 column 1: a tab indents the line; indent with spaces"},
      {"a: *nobody", "line 1 column 4: the referenced anchor is not defined"},
      {std::string(100'000, '['), "mend the YAML"},
  };
  for (const auto& [yaml, problem] : rows) {
    const std::string message = refusal(yaml);
    EXPECT_NE(message.find(problem), std::string::npos) << message << "\n" << yaml.substr(0, 200);
  }
}

/// The YAML files of a folder below the root of the project; none where it is not there.
std::vector<std::filesystem::path> files_of(const std::string& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code ignored;
  const std::filesystem::path path = std::string(GANG_SOURCE_ROOT) + "/" + folder;
  for (const auto& entry : std::filesystem::directory_iterator(path, ignored)) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The folder of real objects, and where they come from, which may lie beside a clone.
constexpr const char* kShapes = "test/shapes";
constexpr const char* kBeside = "../shared/cases/shapes";

TEST(Manifest, DecodesEveryKnownObjectOfRealClusters) {
  const std::vector<std::filesystem::path> files = files_of(kShapes);
  std::size_t count = 0;
  for (const std::filesystem::path& path : files) {
    const auto manifest = parse_manifest(text_of(path));
    ASSERT_TRUE(manifest) << path << ": " << manifest.error().message;
    for (const ManifestObject& loaded : manifest->objects) {
      const api::ObjectMeta& meta = meta_of(loaded.object);
      EXPECT_EQ(meta.unreadable, "") << path << ": " << meta.key.text();
      ++count;
    }
  }
  EXPECT_GT(count, files.size());
}

TEST(Manifest, LoadsTheObjectsOfRealClusters) {
  const std::vector<std::filesystem::path> files = files_of(kShapes);
  ASSERT_FALSE(files.empty());
  for (const std::filesystem::path& path : files) {
    const std::string head = "# test\nload " + path.string() + "\n----\n";
    const auto result = run_scenario(head, ".", ScenarioMode::kRewrite);
    ASSERT_TRUE(result) << path;
    EXPECT_EQ(result->mistakes, std::vector<std::string>()) << path;
    std::istringstream lines(result->text);
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("skipped ")) continue;
      EXPECT_TRUE(line.starts_with("skipped Job ") ||
                  line.starts_with("skipped PodDisruptionBudget "))
          << path << ": " << line;
    }
  }
}

TEST(Manifest, EveryFileOfNodesOrWorkloadsIsLoadedByAScenario) {
  std::string scenarios;
  const std::string folder = std::string(GANG_SOURCE_ROOT) + "/test/scenarios/shapes";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    scenarios += text_of(entry.path());
  }
  for (const std::filesystem::path& path : files_of(kShapes)) {
    if (text_of(path).find("resource.k8s.io/v1") != std::string::npos) continue;
    EXPECT_NE(scenarios.find("/" + path.filename().string() + "\n"), std::string::npos) << path;
  }
}

TEST(Manifest, KeepsTheFilesAsTheyAreBesideTheClone) {
  const std::vector<std::filesystem::path> beside = files_of(kBeside);
  if (beside.empty()) GTEST_SKIP() << "the folder of real objects is not beside this clone";
  const std::vector<std::filesystem::path> ours = files_of(kShapes);
  ASSERT_EQ(ours.size(), beside.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    EXPECT_EQ(ours[i].filename(), beside[i].filename());
    EXPECT_EQ(text_of(ours[i]), text_of(beside[i])) << ours[i];
  }
}

TEST(Manifest, TemplateWithoutTheSpecOfItsClaimsIsRefused) {
  const std::string head =
      "apiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: {name: t}\n";
  for (const char* spec : {"", "spec: {}\n", "spec: {devices: {requests: []}}\n"}) {
    const auto manifest = parse_manifest(head + spec);
    ASSERT_FALSE(manifest) << spec;
    EXPECT_EQ(manifest.error().message,
              "line 1: ResourceClaimTemplate t: spec.spec is missing; write the spec of the claims "
              "below spec.spec");
  }
  EXPECT_TRUE(parse_manifest(head + "spec: {spec: {}}\n"));
}

}  // namespace
}  // namespace gang::sim
