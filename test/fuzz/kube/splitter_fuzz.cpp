// The list and watch splitters, alone and under a Reflector that decodes what they hand out. The
// first byte of the input is the seed of the cuts, the second chooses list or watch.
//
// Properties: no crash; any cut of the bytes gives the same pieces, the same rest and the same end,
// and the Reflector tells the same deltas.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gang/base/check.h"
#include "gang/base/log.h"
#include "kube/reflector.h"
#include "kube/watch_stream.h"

namespace {

using gang::kube::PieceSink;

constexpr std::size_t kLimit = 4096;

/// Feeds `bytes` in pieces that `seed` draws; 0 feeds them whole.
template <class Feed>
void feed_cut(std::string_view bytes, std::uint8_t seed, const Feed& feed) {
  gang::kube::Jitter jitter(seed);
  while (!bytes.empty()) {
    const std::size_t size = seed == 0 ? bytes.size() : 1 + jitter.below(1 + seed);
    if (!feed(bytes.substr(0, size))) return;
    bytes.remove_prefix(std::min(size, bytes.size()));
  }
}

/// Everything a splitter did, as one text.
template <class Splitter>
std::string split(Splitter& splitter, std::string_view bytes, std::uint8_t seed) {
  std::string heard;
  const PieceSink sink = [&heard](std::string_view piece) {
    heard.append(piece).push_back('\0');
    return true;
  };
  feed_cut(bytes, seed, [&](std::string_view piece) {
    const auto fed = splitter.feed(piece, sink);
    if (!fed) heard += "failed";
    return fed.has_value();
  });
  return heard;
}

std::string split_list(std::string_view bytes, std::uint8_t seed) {
  gang::kube::ListSplitter splitter(kLimit);
  std::string heard = split(splitter, bytes, seed);
  if (splitter.complete()) heard += splitter.rest();
  return heard;
}

std::string split_lines(std::string_view bytes, std::uint8_t seed) {
  gang::kube::LineSplitter splitter(kLimit);
  return split(splitter, bytes, seed);
}

/// The deltas of a whole answer, as one text. `refused` first makes it fall back to pages.
std::string reflect(std::string_view bytes, std::uint8_t seed, bool refused) {
  std::string heard;
  gang::kube::Reflector reflector(
      {.kind = gang::api::Kind::kPodGroup}, {}, 1, [&heard](const gang::api::Delta& delta) {
        heard +=
            std::to_string(static_cast<int>(delta.type)) + " " + delta.resource_version.text + "\n";
        return true;
      });
  gang::Duration now{0};
  reflector.on_time(now);
  if (refused) {
    reflector.on_head(now, {422, "application/json", ""});
    reflector.on_end(now, {gang::kube::HttpEndKind::kComplete, ""});
    reflector.on_time(now);
  }
  reflector.on_head(now, {200, "application/json", ""});
  feed_cut(bytes, seed, [&](std::string_view piece) {
    reflector.on_data(now, piece);
    return true;
  });
  reflector.on_end(now, {gang::kube::HttpEndKind::kComplete, ""});
  return heard;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const bool is_quiet = [] {
    gang::log::configure(gang::log::Level::kOff, gang::log::Format::kText);
    return true;
  }();
  static_cast<void>(is_quiet);
  if (size < 2) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  const auto seed = static_cast<std::uint8_t>(data[0] | 1U);
  const bool as_list = data[1] % 2 == 0;
  if (as_list) {
    CHECK(split_list(bytes, 0) == split_list(bytes, seed));
  } else {
    CHECK(split_lines(bytes, 0) == split_lines(bytes, seed));
  }
  CHECK(reflect(bytes, 0, as_list) == reflect(bytes, seed, as_list));
  return 0;
}
