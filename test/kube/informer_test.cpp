#include "gang/kube/informer.h"

#include "kube/kube_fixture.h"

namespace gang::kube {
namespace {

using std::chrono::milliseconds;
using test::FakeHttpServer;
using test::FakeRequest;
using test::FakeResponder;
using test::Gate;
using test::Reports;

constexpr const char* kNodes = "/api/v1/nodes";
constexpr const char* kGroups = "/apis/scheduling.k8s.io/v1beta1/podgroups";

std::string object(const std::string& name, int version) {
  return R"({"metadata":{"name":")" + name + R"(","uid":"u-)" + name + R"(","resourceVersion":")" +
         std::to_string(version) + "\"}}";
}

std::string line(const std::string& type, const std::string& name, int version) {
  return R"({"type":")" + type + R"(","object":)" + object(name, version) + "}\n";
}

std::string synced(int version) {
  return R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":")" +
         std::to_string(version) + R"(","annotations":{"k8s.io/initial-events-end":"true"}}}})" +
         "\n";
}

constexpr const char* kExpired =
    "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410,\"reason\":\"Expired\"}}\n";

class InformerTest : public test::KubeTest {
 protected:
  /// Deltas as words: "begin", "+n1", "~n1", "-n1", "end", "unserved".
  void watch(api::Kind kind = api::Kind::kNode) {
    connection_ = connect(server_.url());
    informer_ = start_informer(connection_, {.kind = kind},
                               [this](const api::Delta& delta) { return hear(delta); });
  }

  bool hear(const api::Delta& delta) {
    std::string word;
    switch (delta.type) {
      case api::DeltaType::kListBegin:
        word = "begin";
        break;
      case api::DeltaType::kListEnd:
        word = "end";
        break;
      case api::DeltaType::kAdded:
        word = "+" + api::meta_of(delta.object).key.name;
        break;
      case api::DeltaType::kUpdated:
        word = "~" + api::meta_of(delta.object).key.name;
        break;
      case api::DeltaType::kDeleted:
        word = "-" + api::meta_of(delta.object).key.name;
        break;
      case api::DeltaType::kBookmark:
        word = "mark";
        break;
      case api::DeltaType::kUnserved:
        word = "unserved";
        break;
      case api::DeltaType::kForbidden:
        word = "forbidden";
        break;
    }
    words_.add(word);
    return true;
  }

  bool heard(const std::string& text) {
    return words_.wait([&text](const std::vector<std::string>& words) {
      std::string all;
      for (const std::string& word : words) all += (all.empty() ? "" : " ") + word;
      return all == text;
    });
  }

  static test::FakeHandler stream(std::string text, bool ends = false) {
    return [text = std::move(text), ends](const FakeRequest&, FakeResponder& out) {
      out.begin(200);
      out.chunk(text);
      ends ? out.end() : out.hang();
    };
  }

  FakeHttpServer server_;
  Reports<std::string> words_;
  std::shared_ptr<const Connection> connection_;
  std::unique_ptr<Informer> informer_;
};

TEST_F(InformerTest, B155HearsEventsWhoseChunksEndAnywhere) {
  const std::string text = line("ADDED", "n1", 5) + synced(6) + line("MODIFIED", "n1", 7);
  server_.on(kNodes, [text](const FakeRequest&, FakeResponder& out) {
    out.begin(200);
    for (std::size_t at = 0; at < text.size(); at += 7) out.chunk(text.substr(at, 7));
    out.hang();
  });
  watch();
  EXPECT_TRUE(heard("begin +n1 end ~n1"));
  EXPECT_EQ(informer_->stats().state, "synced");
}

TEST_F(InformerTest, B155ResumesAfterANormalCloseWithoutANewList) {
  server_.on(kNodes, stream(line("ADDED", "n1", 5) + synced(6) + line("MODIFIED", "n1", 7), true));
  server_.on(kNodes, stream(line("MODIFIED", "n1", 8), true));
  server_.on(kNodes, stream(line("DELETED", "n1", 9)));
  watch();
  EXPECT_TRUE(heard("begin +n1 end ~n1 ~n1 -n1"));
  EXPECT_EQ(informer_->stats().lists, 1);
  const auto requests = server_.requests();
  EXPECT_TRUE(requests[1].has_query("resourceVersion=7&"));
  EXPECT_TRUE(requests[2].has_query("resourceVersion=8&"));
}

TEST_F(InformerTest, B152ListsAgainAfterA410InTheMiddle) {
  server_.on(kNodes, stream(line("ADDED", "n1", 5) + synced(6) + kExpired));
  server_.on(kNodes, stream(line("ADDED", "n2", 20) + synced(21)));
  watch();
  EXPECT_TRUE(heard("begin +n1 end begin +n2 end"));
  EXPECT_EQ(informer_->stats().lists, 2);
}

TEST_F(InformerTest, B152GoesThroughPagesAndStartsOverWhenOneHasExpired) {
  const auto page = [](const std::string& name, const std::string& next) {
    return [=](const FakeRequest&, FakeResponder& out) {
      out.json(200, R"({"metadata":{"resourceVersion":"50","continue":")" + next +
                        R"("},"items":[)" + object(name, 5) + "]}");
    };
  };
  server_.on(kNodes, [](const FakeRequest&, FakeResponder& out) { out.json(422, "{}"); });
  server_.on(kNodes, page("n1", "more"));
  server_.on(kNodes, [](const FakeRequest&, FakeResponder& out) { out.json(410, "{}"); });
  server_.on(kNodes, page("n1", "more2"));
  server_.on(kNodes, page("n2", ""));
  server_.on(kNodes, stream(line("DELETED", "n1", 60)));
  watch();
  EXPECT_TRUE(heard("begin +n1 begin +n1 +n2 end -n1"));
}

TEST_F(InformerTest, ResumesAfterAResetInTheMiddleOfAnEvent) {
  server_.on(kNodes, [](const FakeRequest&, FakeResponder& out) {
    out.begin(200);
    out.chunk(line("ADDED", "n1", 5) + synced(6) + line("MODIFIED", "n1", 7).substr(0, 20));
    out.close();
  });
  server_.on(kNodes, stream(line("MODIFIED", "n1", 7)));
  watch();
  EXPECT_TRUE(heard("begin +n1 end ~n1"));
}

TEST_F(InformerTest, ReconnectsWhenTheServerIsSilentForTheIdleLimit) {
  options_.watch_idle_limit = milliseconds(200);
  server_.on(kNodes, stream(synced(6)));
  server_.on(kNodes, stream(line("ADDED", "n1", 7)));
  watch();
  EXPECT_TRUE(heard("begin end +n1"));
}

TEST_F(InformerTest, WaitsOutAServerThatIsStarting) {
  server_.on(kNodes, [](const FakeRequest&, FakeResponder& out) {
    out.answer(503, "text/plain", "starting", "Retry-After: 0\r\n");
  });
  server_.on(kNodes, [](const FakeRequest&, FakeResponder& out) {
    out.answer(429, "text/plain", "too many", "Retry-After: 0\r\n");
  });
  server_.on(kNodes, stream(synced(6)));
  watch();
  EXPECT_TRUE(heard("begin end"));
}

TEST_F(InformerTest, RetriesA401WithTheTokenThatReplacedTheOldOne) {
  server_.on(kNodes, [](const FakeRequest& request, FakeResponder& out) {
    if (request.headers.at("authorization") != "Bearer secret-token-2") {
      return out.json(401, "{}");
    }
    out.begin(200);
    out.chunk(synced(6));
    out.hang();
  });
  watch();
  ASSERT_TRUE(server_.wait_for_requests(1));
  write("token", "secret-token-2");
  EXPECT_TRUE(heard("begin end"));
}

TEST_F(InformerTest, B153SyncsAKindThatAppearsLater) {
  options_.unserved_interval = milliseconds(50);
  watch(api::Kind::kPodGroup);
  EXPECT_TRUE(heard("unserved"));
  server_.on(kGroups, stream(synced(6)));
  EXPECT_TRUE(heard("unserved begin end"));
}

TEST_F(InformerTest, SaysThatAKindIsNotServed) {
  options_.unserved_interval = std::chrono::hours(1);
  watch(api::Kind::kPodGroup);
  EXPECT_TRUE(heard("unserved"));
  EXPECT_EQ(informer_->stats().state, "unserved");
}

TEST_F(InformerTest, B136TellsNoEndWhileTheListIsNotWhole) {
  Gate gate;
  server_.on(kNodes, [&gate](const FakeRequest&, FakeResponder& out) {
    out.begin(200);
    out.chunk(line("ADDED", "n1", 5));
    gate.wait();
    out.chunk(synced(6));
    out.hang();
  });
  watch();
  EXPECT_TRUE(heard("begin +n1"));
  EXPECT_EQ(informer_->stats().state, "syncing");
  gate.open();
  EXPECT_TRUE(heard("begin +n1 end"));
}

TEST_F(InformerTest, B155SlowsTheServerWhenTheSinkIsSlowAndLosesNothing) {
  constexpr int kCount = 3000;
  const std::string label(3000, 'x');
  server_.on(kNodes, [&label](const FakeRequest&, FakeResponder& out) {
    out.begin(200);
    for (int i = 1; i <= kCount; ++i) {
      out.chunk(R"({"type":"ADDED","object":{"metadata":{"name":"n)" + std::to_string(i) +
                R"(","uid":"u)" + std::to_string(i) + R"(","resourceVersion":")" +
                std::to_string(i) + R"(","managedFields":[{"x":")" + label + "\"}]}}}\n");
    }
    out.chunk(synced(kCount));
    out.hang();
  });
  connection_ = connect(server_.url());
  Gate gate;
  Reports<int> ends;
  int added = 0;
  informer_ = start_informer(connection_, {.kind = api::Kind::kNode}, [&](const api::Delta& delta) {
    if (delta.type == api::DeltaType::kListBegin) gate.wait();
    if (delta.type == api::DeltaType::kAdded) ++added;
    if (delta.type == api::DeltaType::kListEnd) ends.add(added);
    return true;
  });
  ASSERT_TRUE(server_.wait_for_requests(1));
  gate.open();
  ASSERT_TRUE(ends.wait_for(1));
  EXPECT_EQ(ends.values().front(), kCount);
}

TEST_F(InformerTest, StopsWhileItStreamsWaitsOrBacksOff) {
  server_.on(kNodes, stream(synced(6)));
  watch();
  EXPECT_TRUE(heard("begin end"));
  informer_.reset();
  {
    FakeHttpServer dead;
    connection_ = connect(dead.url());
  }
  informer_ = start_informer(connection_, {.kind = api::Kind::kNode},
                             [this](const api::Delta& delta) { return hear(delta); });
  informer_.reset();
  EXPECT_TRUE(heard("begin end"));
}

TEST_F(InformerTest, EndsItselfWhenTheSinkWantsNoMore) {
  server_.on(kNodes, stream(line("ADDED", "n1", 5) + synced(6)));
  connection_ = connect(server_.url());
  Reports<int> calls;
  informer_ = start_informer(connection_, {.kind = api::Kind::kNode}, [&calls](const api::Delta&) {
    calls.add(1);
    return false;
  });
  ASSERT_TRUE(calls.wait_for(1));
  informer_.reset();
  EXPECT_EQ(calls.values().size(), 1U);
}

}  // namespace
}  // namespace gang::kube
