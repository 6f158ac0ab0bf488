// Fixture of the tests over real sockets: a fake API server and a connection to it.
#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>

#include "gang/kube/client.h"
#include "kube/connection.h"
#include "support/fake_http_server.h"

namespace gang::test {

/// Waits for things that another thread reports; every wait is bounded by kPatience.
template <class T>
class Reports {
 public:
  void add(T value) {
    // Notified under the lock: who waits may destroy this as soon as it is free.
    const std::lock_guard<std::mutex> lock(mutex_);
    values_.push_back(std::move(value));
    changed_.notify_all();
  }
  /// Waits until `done` holds for what was reported so far.
  template <class Predicate>
  bool wait(Predicate done) {
    std::unique_lock<std::mutex> lock(mutex_);
    return changed_.wait_for(lock, kPatience, [&] { return done(values_); });
  }
  bool wait_for(std::size_t count) {
    return wait([count](const std::vector<T>& values) { return values.size() >= count; });
  }
  std::vector<T> values() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return values_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<T> values_;
};

/// A folder with a kubeconfig for whatever server a test starts.
class KubeTest : public ::testing::Test {
 protected:
  KubeTest() {
    kube::initialize_transport();
    std::string pattern = (std::filesystem::temp_directory_path() / "gang-kube-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    write("token", "secret-token-1");
  }
  ~KubeTest() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) const {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

  /// `cluster` are further lines of the cluster entry, each indented by four.
  std::shared_ptr<const kube::Connection> connect(const std::string& server,
                                                  const std::string& cluster = "") {
    options_.kubeconfig_path =
        write("config",
              "current-context: x\ncontexts:\n- {name: x, context: {cluster: c, user: u}}\n"
              "clusters:\n- name: c\n  cluster:\n    server: " +
                  server + "\n" + cluster + "users:\n- {name: u, user: {tokenFile: token}}\n");
    std::filesystem::permissions(options_.kubeconfig_path, std::filesystem::perms::owner_read |
                                                               std::filesystem::perms::owner_write);
    auto connection = kube::connect(options_);
    EXPECT_TRUE(connection) << connection.error().message;
    return connection ? *connection : nullptr;
  }

  std::string folder_;
  kube::ClientOptions options_;
};

}  // namespace gang::test
