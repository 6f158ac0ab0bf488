// IP addresses and networks as Go's net/netip reads and writes them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cel/objects.h"

namespace gang::cel {

/// No zones, and no IPv4 addresses in IPv6 form; `why` says what is wrong.
[[nodiscard]] std::optional<IpObject> parse_ip(std::string_view text, std::string& why);
[[nodiscard]] std::optional<CidrObject> parse_cidr(std::string_view text, std::string& why);
[[nodiscard]] std::string ip_text(const IpObject& ip);
[[nodiscard]] std::string cidr_text(const CidrObject& cidr);
/// The network with every bit behind the prefix zero.
[[nodiscard]] CidrObject masked(const CidrObject& cidr);
[[nodiscard]] bool contains_ip(const CidrObject& cidr, const IpObject& ip);

}  // namespace gang::cel
