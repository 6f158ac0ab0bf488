// Runs the committed inputs of one fuzz target once, in builds without libFuzzer. The program's
// name says which: <name>_seeds reads test/fuzz/corpus/<name without _fuzz>, from the project's
// root.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace gang {
namespace {

std::string corpus;  // set by main() before the tests are made

void cut_end(std::string& text, const std::string& end) {
  if (text.ends_with(end)) text.resize(text.size() - end.size());
}

std::vector<std::string> seeds() {
  std::vector<std::string> paths;
  std::error_code missing;  // leaves no seeds, which is a failure below
  for (const auto& entry : std::filesystem::directory_iterator(corpus, missing)) {
    paths.push_back(entry.path().string());
  }
  std::ranges::sort(paths);
  return paths;
}

std::string name_of(const testing::TestParamInfo<std::string>& info) {
  std::string name = std::filesystem::path(info.param).filename().string();
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name + "_" + std::to_string(info.index);
}

class Seed : public testing::TestWithParam<std::string> {};

TEST_P(Seed, KeepsTheProperties) {
  std::ifstream file(GetParam(), std::ios::binary);
  ASSERT_TRUE(file.is_open());
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  EXPECT_EQ(LLVMFuzzerTestOneInput(data, bytes.size()), 0);
}

INSTANTIATE_TEST_SUITE_P(Corpus, Seed, testing::ValuesIn(seeds()), name_of);

TEST(Corpus, HasSeeds) {
  EXPECT_FALSE(seeds().empty()) << corpus;
}

}  // namespace
}  // namespace gang

int main(int argc, char** argv) {
  std::string name = std::filesystem::path(argv[0]).filename().string();
  gang::cut_end(name, "_seeds");
  gang::cut_end(name, "_fuzz");
  gang::corpus = "test/fuzz/corpus/" + name;
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
