#include "cluster/packed_text.h"

#include <algorithm>

namespace gang::cluster {

PackedText::PackedText(std::string_view name, std::string_view uid, std::string_view version)
    : bytes_(std::make_unique<char[]>(name.size() + uid.size() + version.size())),
      name_size_(static_cast<std::uint32_t>(name.size())),
      uid_size_(static_cast<std::uint32_t>(uid.size())),
      version_size_(static_cast<std::uint32_t>(version.size())) {
  char* end = std::copy(name.begin(), name.end(), bytes_.get());
  end = std::copy(uid.begin(), uid.end(), end);
  std::copy(version.begin(), version.end(), end);
}

void PackedText::set_version(std::string_view version) {
  if (version.size() == version_size_) {
    std::copy(version.begin(), version.end(), bytes_.get() + name_size_ + uid_size_);
  } else {
    *this = PackedText(name(), uid(), version);
  }
}

}  // namespace gang::cluster
