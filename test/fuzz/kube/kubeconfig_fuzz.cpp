// The kubeconfig reader and the address of the server in it.
//
// Properties: no crash, nothing is run; what is accepted has a server, and what is refused has a
// message that names the file.
#include <cstddef>
#include <cstdint>
#include <string>

#include "gang/base/check.h"
#include "kube/kubeconfig.h"
#include "kube/server_url.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto credentials = gang::kube::parse_kubeconfig(text, "no-such-folder/config");
  if (!credentials) {
    CHECK(credentials.error().message.find("no-such-folder/config") != std::string::npos);
    return 0;
  }
  CHECK(!credentials->server.empty());
  const auto url = gang::kube::parse_server_url(credentials->server);
  if (url) CHECK(url->base.find("://") != std::string::npos);
  return 0;
}
