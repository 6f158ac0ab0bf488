// The forms of names, keys and labels that a Kubernetes API server accepts.
//
// Stateless questions about one text; who asks says what is wrong and how to mend it. Any thread.
#pragma once

#include <string_view>

namespace gang::api {

/// A DNS-1123 subdomain: pieces of a-z, 0-9 and "-" joined by ".", each beginning and ending with a
/// letter or digit; at most 253 bytes. The name of a pod, node, PodGroup or scheduler.
[[nodiscard]] bool is_dns_name(std::string_view text);

/// A DNS-1123 label: one such piece, at most 63 bytes. The name of a namespace.
[[nodiscard]] bool is_dns_label(std::string_view text);

/// "pool" or "example.com/pool": the key of a label or taint, a resource, a scheduling gate. The
/// part after the domain has at most 63 letters, digits, "-", "_" and ".", and begins and ends with
/// a letter or digit.
[[nodiscard]] bool is_qualified_name(std::string_view text);

/// Nothing, or the form of a qualified name without a domain: the value of a label or taint.
[[nodiscard]] bool is_label_value(std::string_view text);

}  // namespace gang::api
