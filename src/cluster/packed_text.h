// PackedText: name, UID and resource version of one object in one allocation.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

namespace gang::cluster {

/// Owned by a pod record. Three texts of any length; 20 bytes and one allocation instead of 96 and
/// three. Value that moves only.
class PackedText {
 public:
  PackedText() = default;
  PackedText(std::string_view name, std::string_view uid, std::string_view version);

  [[nodiscard]] std::string_view name() const { return {bytes_.get(), name_size_}; }
  [[nodiscard]] std::string_view uid() const { return {bytes_.get() + name_size_, uid_size_}; }
  [[nodiscard]] std::string_view version() const {
    return {bytes_.get() + name_size_ + uid_size_, version_size_};
  }
  void set_version(std::string_view version);

 private:
  std::unique_ptr<char[]> bytes_;
  std::uint32_t name_size_ = 0;
  std::uint32_t uid_size_ = 0;
  std::uint32_t version_size_ = 0;
};

}  // namespace gang::cluster
