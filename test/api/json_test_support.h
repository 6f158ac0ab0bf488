// Reads the small real objects of test/api/data for the decode tests.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

namespace gang::api {

inline std::string data_file(const std::string& name) {
  std::ifstream file(GANG_SOURCE_ROOT "/test/api/data/" + name);
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

/// `text` with the first `from` replaced; a missing `from` fails the test.
inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

}  // namespace gang::api
