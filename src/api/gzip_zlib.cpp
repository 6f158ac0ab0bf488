#include <zlib.h>

#include <algorithm>

#include "api/gzip.h"
#include "gang/base/check.h"

namespace gang::api {
namespace {

// The largest window, in the gzip format. zlib takes it in this form.
constexpr int kGzipWindow = MAX_WBITS + 16;
constexpr int kMemoryLevel = 8;  // zlib's default
constexpr std::size_t kPieceBytes = std::size_t{64} << 10U;

/// zlib reads through a pointer that is not const, and does not write there.
void read_from(z_stream& stream, std::string_view bytes) {
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
}

void write_to(z_stream& stream, std::string& out, std::size_t bytes) {
  const std::size_t begin = out.size();
  out.resize(begin + bytes);
  stream.next_out = reinterpret_cast<Bytef*>(out.data()) + begin;
  stream.avail_out = static_cast<uInt>(bytes);
}

}  // namespace

std::string pack_gzip(std::string_view text) {
  z_stream stream{};
  CHECK(deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, kMemoryLevel,
                     Z_DEFAULT_STRATEGY) == Z_OK);
  std::string packed;
  read_from(stream, text);
  write_to(stream, packed, deflateBound(&stream, static_cast<uLong>(text.size())));
  CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  packed.resize(packed.size() - stream.avail_out);
  deflateEnd(&stream);
  return packed;
}

Result<std::string> unpack_gzip(std::string_view bytes, std::size_t bytes_max) {
  z_stream stream{};
  CHECK(inflateInit2(&stream, kGzipWindow) == Z_OK);
  std::string text;
  read_from(stream, bytes);
  int state = Z_OK;
  while (state == Z_OK && text.size() <= bytes_max) {
    write_to(stream, text, std::min(kPieceBytes, bytes_max + 1 - text.size()));
    state = inflate(&stream, Z_NO_FLUSH);
    text.resize(text.size() - stream.avail_out);
  }
  const bool is_whole = state == Z_STREAM_END && stream.avail_in == 0;
  inflateEnd(&stream);
  if (text.size() > bytes_max) {
    return fail(Code::kResourceExhausted,
                "more than " + std::to_string(bytes_max) + " bytes are packed in it");
  }
  if (!is_whole) return fail(Code::kInvalidArgument, "it is no gzip, or cut");
  return text;
}

}  // namespace gang::api
