// Fixture of the Reflector's tests: virtual time, and deltas as short words.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kube/reflector.h"

namespace gang::kube {

inline std::string object(const std::string& name, int version) {
  return R"({"kind":"PodGroup","metadata":{"namespace":"ns","name":")" + name + R"(","uid":"u-)" +
         name + R"(","resourceVersion":")" + std::to_string(version) +
         R"("},"spec":{"schedulingPolicy":{"gang":{"minCount":2}}}})";
}

inline std::string line(const std::string& type, const std::string& name, int version) {
  return R"({"type":")" + type + R"(","object":)" + object(name, version) + "}\n";
}

inline std::string bookmark(int version, bool end = false) {
  const std::string mark = end ? R"(,"annotations":{"k8s.io/initial-events-end":"true"})" : "";
  return R"({"type":"BOOKMARK","object":{"kind":"PodGroup","metadata":{"resourceVersion":")" +
         std::to_string(version) + "\"" + mark + "}}}\n";
}

inline std::string status(int code, const std::string& reason, const std::string& details = "{}") {
  return R"({"kind":"Status","status":"Failure","code":)" + std::to_string(code) +
         R"(,"reason":")" + reason + R"(","message":"told so","details":)" + details + "}";
}

inline std::string error_line(int code, const std::string& reason,
                              const std::string& details = "{}") {
  return R"({"type":"ERROR","object":)" + status(code, reason, details) + "}\n";
}

inline std::string page(const std::string& items, int version, const std::string& next = "") {
  return R"({"kind":"PodGroupList","metadata":{"resourceVersion":")" + std::to_string(version) +
         R"(","continue":")" + next + R"("},"items":[)" + items + "]}";
}

inline constexpr const char* kTooLarge = R"({"causes":[{"reason":"ResourceVersionTooLarge"}]})";

/// A reflector in virtual time, its deltas as short words: "begin", "+a", "~a", "-a", "end 7".
class ReflectorTest : public ::testing::Test {
 protected:
  /// Lets time pass until a request is asked for; its target, or "" when none comes in `patience`.
  std::string request(Duration patience = std::chrono::minutes(2)) {
    const Duration limit = now_ + patience;
    asked_after_ = Duration(0);
    const Duration from = now_;
    while (true) {
      reflector_.on_time(now_);
      take();
      if (start_) {
        asked_after_ = now_ - from;
        const std::string target = start_->target;
        start_.reset();
        return target;
      }
      if (reflector_.next_wake() > limit) return "";
      now_ = reflector_.next_wake();
    }
  }

  void head(int code, const std::string& retry_after = "",
            const std::string& type = "application/json") {
    reflector_.on_head(now_, {code, type, retry_after});
    take();
  }
  void data(const std::string& bytes) {
    reflector_.on_data(now_, bytes);
    take();
  }
  void end(HttpEndKind kind = HttpEndKind::kComplete) {
    cancelled_ = false;
    reflector_.on_end(now_, {kind, kind == HttpEndKind::kComplete ? "" : "broken"});
    take();
  }
  void answer(int code, const std::string& body, const std::string& retry_after = "") {
    head(code, retry_after);
    data(body);
    end();
  }

  /// Syncs by WatchList with one object "a" at version 5, resume point 10.
  void sync() {
    ASSERT_NE(request().find("sendInitialEvents=true"), std::string::npos);
    head(200);
    data(line("ADDED", "a", 5) + bookmark(10, true));
    ASSERT_EQ(told(), "begin +a end10");
  }

  std::string told() {
    std::string out;
    for (const std::string& word : told_) out += (out.empty() ? "" : " ") + word;
    told_.clear();
    return out;
  }

  void take() {
    Reflector::Command command = reflector_.take_command();
    if (command.start) start_ = std::move(command.start);
    cancelled_ = cancelled_ || command.cancel;
    refusals_ += command.refuse_token ? 1 : 0;
  }

  bool hear(const api::Delta& delta) {
    const auto name = [&delta] { return api::meta_of(delta.object).key.name; };
    switch (delta.type) {
      case api::DeltaType::kListBegin:
        told_.push_back("begin");
        break;
      case api::DeltaType::kListEnd:
        told_.push_back("end" + delta.resource_version.text);
        break;
      case api::DeltaType::kAdded:
        told_.push_back("+" + name());
        break;
      case api::DeltaType::kUpdated:
        told_.push_back("~" + name());
        break;
      case api::DeltaType::kDeleted:
        told_.push_back("-" + name());
        break;
      case api::DeltaType::kBookmark:
        told_.push_back("mark" + delta.resource_version.text);
        break;
      case api::DeltaType::kUnserved:
        told_.push_back("unserved");
        break;
      case api::DeltaType::kForbidden:
        told_.push_back("forbidden");
        break;
    }
    return goes_on_;
  }

  static Reflector make(api::Kind kind, DeltaSink sink) {
    return Reflector({.kind = kind}, ReflectorOptions{}, 1, std::move(sink));
  }

  Duration now_{0};
  Duration asked_after_{0};
  std::optional<HttpRequest> start_;
  bool cancelled_ = false;
  int refusals_ = 0;
  bool goes_on_ = true;
  std::vector<std::string> told_;
  Reflector reflector_ =
      make(api::Kind::kPodGroup, [this](const api::Delta& delta) { return hear(delta); });
};

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace gang::kube
