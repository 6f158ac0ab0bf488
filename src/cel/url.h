// URLs as Go's net/url reads them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gang::cel {

/// The parts that expressions can ask for.
struct Url {
  std::string scheme;
  std::string user;  ///< as written
  std::string host;  ///< unescaped, with the port
  std::string escaped_path;
  std::string query;  ///< as written
  std::string fragment;
  bool is_opaque = false;  ///< mailto:x: all of it is in `escaped_path`
  [[nodiscard]] std::string text() const;
};

/// An absolute URL or an absolute path, without a fragment of its own; `why` says what is wrong.
[[nodiscard]] std::optional<Url> parse_request_url(std::string_view text, std::string& why);
/// Any URL reference.
[[nodiscard]] std::optional<Url> parse_url(std::string_view text, std::string& why);
/// Keys with their values in the order in which they came; what is badly escaped is left out.
[[nodiscard]] std::vector<std::pair<std::string, std::vector<std::string>>> parse_query(
    std::string_view query);

}  // namespace gang::cel
