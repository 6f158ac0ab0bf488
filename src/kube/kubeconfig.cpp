#include "kube/kubeconfig.h"

#include <sys/stat.h>
#include <yaml-cpp/yaml.h>

#include <array>
#include <filesystem>
#include <optional>
#include <vector>

#include "gang/base/base64.h"
#include "gang/base/file.h"
#include "gang/base/yaml_documents.h"

namespace gang::kube {
namespace {

/// A kubeconfig has one; a few more are read to say so.
constexpr int kDocumentsMax = 8;

constexpr std::size_t kFileBytesMax = 1U << 20U;
constexpr std::size_t kDepthMax = 100;
constexpr std::size_t kNodesMax = 200'000;

/// A mapping of the file with its place, for lookups that fail in words. Lives during one parse.
struct Section {
  const std::string& path;
  YAML::Node node;
  std::string what;  ///< "user \"admin\"", for messages
};

std::string place(const std::string& path, int line, int column) {
  return path + ":" + std::to_string(line) + ":" + std::to_string(column) + ": ";
}

std::string place(const std::string& path, const YAML::Mark& mark) {
  return mark.is_null() ? path + ": " : place(path, mark.line + 1, mark.column + 1);
}

tl::unexpected<Error> refuse(const Section& section, const YAML::Node& at, const std::string& why) {
  return fail(Code::kInvalidArgument, place(section.path, at.Mark()) + section.what + ": " + why);
}

/// Aliases make one node appear many times: counted, so that no text can grow without bound.
Result<void> check_size(const std::string& path, const YAML::Node& root) {
  std::vector<std::pair<YAML::Node, std::size_t>> open{{root, 0}};
  std::size_t nodes = 0;
  while (!open.empty()) {
    const auto [node, depth] = open.back();
    open.pop_back();
    if (++nodes > kNodesMax || depth > kDepthMax) {
      return fail(Code::kResourceExhausted,
                  place(path, node.Mark()) +
                      "the file is nested too deeply or too large; write a plain kubeconfig");
    }
    for (const auto& entry : node) {
      const YAML::Node child = node.IsMap() ? entry.second : YAML::Node(entry);
      open.emplace_back(child, depth + 1);
    }
  }
  return {};
}

/// The value of `key`, or nothing when absent or null. A key given twice is an error.
Result<std::optional<YAML::Node>> find(const Section& section, const std::string& key) {
  std::optional<YAML::Node> found;
  for (const auto& entry : section.node) {
    const YAML::Node& name = entry.first;
    if (!name.IsScalar()) return refuse(section, name, "a key is no text; write a word");
    if (name.Scalar() == "<<")
      return refuse(section, name, "merge keys are not read; write it out");
    if (name.Scalar() != key) continue;
    if (found) {
      return refuse(section, name,
                    key + " is given twice, first in line " +
                        std::to_string(found->Mark().line + 1) + "; remove one");
    }
    found = entry.second;
  }
  if (found && found->IsNull()) found.reset();
  return found;
}

/// The text of `key`; empty when absent.
Result<std::string> text_of(const Section& section, const std::string& key) {
  GANG_TRY(const std::optional<YAML::Node> node, find(section, key));
  if (!node) return std::string();
  if (!node->IsScalar()) return refuse(section, *node, key + " must be a text; write one value");
  return node->Scalar();
}

Result<Section> section_of(const Section& parent, const std::string& key) {
  GANG_TRY(const std::optional<YAML::Node> node, find(parent, key));
  if (!node) return refuse(parent, parent.node, key + " is missing; add it");
  if (!node->IsMap()) {
    return refuse(parent, *node, key + " must be a mapping; write key: value below");
  }
  return Section{parent.path, *node, parent.what};
}

/// The entry called `name` of the list `lists[key]`, its part `key`: clusters -> cluster.
Result<Section> named_entry(const Section& root, const std::string& list, const std::string& key,
                            const std::string& name) {
  GANG_TRY(const std::optional<YAML::Node> entries, find(root, list));
  if (!entries || !entries->IsSequence()) {
    return refuse(root, root.node, list + " is missing; add the list");
  }
  for (const auto& entry : *entries) {
    const Section section{root.path, entry, key + " \"" + name + "\""};
    if (!entry.IsMap()) {
      return refuse(section, entry,
                    "an entry of " + list + " is no mapping; write name: and " + key + ":");
    }
    GANG_TRY(const std::string entry_name, text_of(section, "name"));
    if (entry_name == name) return section_of(section, key);
  }
  return refuse(root, *entries,
                "there is no " + key + " called \"" + name + "\"; correct the name that " +
                    (key == "context" ? "current-context" : "the context") +
                    " gives, or add the entry to " + list);
}

std::string resolved(const std::string& kubeconfig, const std::string& path) {
  const std::filesystem::path given(path);
  if (given.is_absolute()) return path;
  return (std::filesystem::path(kubeconfig).parent_path() / given).string();
}

/// Inline data (key + "-data", base64) wins over the file, as in kubectl.
Result<std::string> pem_of(const Section& section, const std::string& key) {
  GANG_TRY(const std::string inline_data, text_of(section, key + "-data"));
  if (!inline_data.empty()) {
    Result<std::string> pem = decode_base64(inline_data);
    if (!pem) {
      return refuse(section, section.node,
                    key + "-data is no base64; write what base64 -w0 FILE prints");
    }
    return pem;
  }
  GANG_TRY(const std::string file, text_of(section, key));
  if (file.empty()) return std::string();
  Result<std::string> pem = read_file(resolved(section.path, file), kFileBytesMax);
  if (!pem) return refuse(section, section.node, key + ": " + pem.error().message);
  return pem;
}

Result<void> read_cluster(const Section& cluster, Credentials& out) {
  GANG_TRY(out.server, text_of(cluster, "server"));
  while (out.server.ends_with('/')) out.server.pop_back();
  if (out.server.empty()) {
    return refuse(cluster, cluster.node, "server is missing; give it as https://host:port");
  }
  GANG_TRY(const std::string insecure, text_of(cluster, "insecure-skip-tls-verify"));
  if (!insecure.empty() && insecure != "false") {
    return refuse(cluster, cluster.node,
                  "insecure-skip-tls-verify is not supported; remove it and give "
                  "certificate-authority or certificate-authority-data");
  }
  GANG_TRY(const std::string proxy, text_of(cluster, "proxy-url"));
  if (!proxy.empty()) return refuse(cluster, cluster.node, "proxy-url is not supported; remove it");
  GANG_TRY(out.tls_server_name, text_of(cluster, "tls-server-name"));
  GANG_TRY(const std::string inline_authority, text_of(cluster, "certificate-authority-data"));
  const std::string where = " of " + cluster.what + " in " + cluster.path;
  out.origin.server = "server" + where;
  out.origin.authority =
      (inline_authority.empty() ? "certificate-authority" : "certificate-authority-data") + where;
  out.origin.tls_server_name = "tls-server-name" + where;
  GANG_TRY(out.ca_pem, pem_of(cluster, "certificate-authority"));
  if (out.ca_pem.empty() && out.server.starts_with("https:")) {
    return refuse(cluster, cluster.node,
                  "no certificate authority; give certificate-authority or "
                  "certificate-authority-data (the system's trust store is not used)");
  }
  return {};
}

Result<void> refuse_foreign_ways(const Section& user) {
  constexpr std::array kRefused = {"exec", "auth-provider", "username", "password"};
  for (const char* key : kRefused) {
    GANG_TRY(const std::optional<YAML::Node> node, find(user, key));
    if (!node) continue;
    return refuse(user, *node,
                  std::string(key) +
                      " is not supported and nothing was run; give token, tokenFile or "
                      "client-certificate with client-key");
  }
  constexpr std::array kImpersonation = {"as", "as-uid", "as-groups", "as-user-extra"};
  for (const char* key : kImpersonation) {
    GANG_TRY(const std::optional<YAML::Node> node, find(user, key));
    if (!node) continue;
    return refuse(user, *node, std::string(key) + ": impersonation is not supported; remove it");
  }
  return {};
}

Result<void> read_user(const Section& user, Credentials& out) {
  GANG_TRY_VOID(refuse_foreign_ways(user));
  GANG_TRY(std::string token, text_of(user, "token"));
  GANG_TRY(const std::string token_file, text_of(user, "tokenFile"));
  for (const char c : token) {
    if (c <= ' ' || c > '~') {
      return refuse(user, user.node,
                    "token holds characters that no bearer token has; write the token alone");
    }
  }
  out.token = Secret(std::move(token));
  if (!token_file.empty()) {
    out.token_file = resolved(user.path, token_file);
    Result<Secret> read = read_token(out.token_file);
    if (!read) return refuse(user, user.node, "tokenFile: " + read.error().message);
    out.token = *std::move(read);
  }
  GANG_TRY(out.client_cert_pem, pem_of(user, "client-certificate"));
  GANG_TRY(std::string key, pem_of(user, "client-key"));
  out.client_key_pem = Secret(std::move(key));
  if (out.client_cert_pem.empty() != out.client_key_pem.empty()) {
    return refuse(user, user.node, "client-certificate and client-key need each other; give both");
  }
  return {};
}

/// What the server is shown, and where it was given.
std::string identity_text(const Section& user, const Credentials& credentials) {
  std::string text;
  if (!credentials.token.empty()) text = "token";
  if (!credentials.token_file.empty()) text = "token file " + credentials.token_file;
  if (!credentials.client_cert_pem.empty()) {
    text += (text.empty() ? "" : " and ") + std::string("client-certificate");
  }
  if (text.empty()) text = "no token and no client-certificate";
  return text + " of " + user.what + " in " + user.path;
}

Result<Credentials> read_root(const std::string& path, const YAML::Node& node) {
  GANG_TRY_VOID(check_size(path, node));
  const Section root{path, node, "kubeconfig"};
  if (!node.IsMap()) return refuse(root, node, "the file is no mapping; name a kubeconfig");
  GANG_TRY(const std::string current, text_of(root, "current-context"));
  if (current.empty()) {
    return refuse(root, node,
                  "current-context is missing; set it to the name of an entry of contexts");
  }
  GANG_TRY(const Section context, named_entry(root, "contexts", "context", current));
  GANG_TRY(const std::string cluster_name, text_of(context, "cluster"));
  if (cluster_name.empty()) {
    return refuse(context, context.node, "cluster is missing; name an entry of clusters");
  }
  GANG_TRY(const std::string user_name, text_of(context, "user"));
  Credentials credentials;
  GANG_TRY(credentials.name_space, text_of(context, "namespace"));
  GANG_TRY(const Section cluster, named_entry(root, "clusters", "cluster", cluster_name));
  GANG_TRY_VOID(read_cluster(cluster, credentials));
  credentials.origin.identity = "no user is named by " + context.what + " in " + path;
  if (user_name.empty()) return credentials;
  GANG_TRY(const Section user, named_entry(root, "users", "user", user_name));
  GANG_TRY_VOID(read_user(user, credentials));
  credentials.origin.identity = identity_text(user, credentials);
  return credentials;
}

}  // namespace

Result<Credentials> parse_kubeconfig(const std::string& text, const std::string& path) {
  if (text.size() > kFileBytesMax) {
    return fail(Code::kResourceExhausted, path + " is larger than 1 MiB; it is no kubeconfig");
  }
  try {
    const bool is_endless = !has_few_documents(text, kDocumentsMax);
    const std::vector<YAML::Node> documents =
        is_endless ? std::vector<YAML::Node>(2) : YAML::LoadAll(text);
    if (documents.size() != 1 || documents.front().IsNull()) {
      const char* found = documents.size() > 1 ? "several" : "none";
      return fail(Code::kInvalidArgument,
                  path + " must hold one YAML document, it holds " + found + "; write one");
    }
    return read_root(path, documents.front());
  } catch (const YAML::Exception& error) {
    // What follows a colon may be a piece of the file.
    const std::string why = error.msg.substr(0, error.msg.find(':'));
    const YamlFault fault =
        yaml_fault(text, {error.mark.line + 1, error.mark.column + 1, why + "; mend the YAML"});
    return fail(Code::kInvalidArgument, place(path, fault.line, fault.column) + fault.problem);
  }
}

Result<Credentials> load_kubeconfig(const std::string& path) {
  Result<std::string> text = read_file(path, kFileBytesMax);
  if (!text) return fail(text.error().code, "kubeconfig " + text.error().message);
  struct stat status {};
  if (stat(path.c_str(), &status) == 0 && (status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return fail(Code::kPermissionDenied,
                "kubeconfig " + path + " may be written by others; chmod go-w it");
  }
  return parse_kubeconfig(*text, path);
}

}  // namespace gang::kube
