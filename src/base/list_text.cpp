#include "gang/base/list_text.h"

#include <algorithm>

namespace gang {

std::string list_text(const std::vector<std::string>& parts, ListWords words) {
  const std::size_t listed = std::min(parts.size(), kListedMax);
  std::string text;
  for (std::size_t i = 0; i < listed; ++i) {
    if (i > 0) text += words.between;
    text += parts[i];
  }
  if (parts.size() == listed) return text;
  text += words.more;
  text += std::to_string(parts.size() - listed) + " more";
  return text.append(words.what);
}

}  // namespace gang
