#include "kube/answers.h"

#include <gtest/gtest.h>

namespace gang::kube {
namespace {

constexpr const char* kStatusJson = "application/json";
const HttpEnd kWhole{HttpEndKind::kComplete, ""};

Outcome outcome(int status) {
  return make_answer({status, kStatusJson, ""}, "{}", kWhole).outcome;
}

TEST(Answers, MapsEachStatusToWhatIsKnown) {
  struct Row {
    int status;
    Outcome outcome;
  };
  for (const Row& row :
       {Row{200, Outcome::kOk},        {201, Outcome::kOk},        {301, Outcome::kInvalid},
        {302, Outcome::kInvalid},      {307, Outcome::kInvalid},   {400, Outcome::kInvalid},
        {401, Outcome::kUnauthorized}, {403, Outcome::kForbidden}, {404, Outcome::kNotFound},
        {405, Outcome::kInvalid},      {406, Outcome::kInvalid},   {409, Outcome::kConflict},
        {413, Outcome::kInvalid},      {415, Outcome::kInvalid},   {422, Outcome::kInvalid},
        {429, Outcome::kThrottled},    {500, Outcome::kUnknown},   {502, Outcome::kUnknown},
        {503, Outcome::kUnknown},      {504, Outcome::kUnknown}}) {
    EXPECT_EQ(outcome(row.status), row.outcome) << row.status;
  }
}

TEST(Answers, TakesAnEndWithoutHeadByHowFarItCame) {
  EXPECT_EQ(make_answer({}, "", {HttpEndKind::kNotSent, "refused"}).outcome, Outcome::kNotSent);
  EXPECT_EQ(make_answer({}, "", {HttpEndKind::kBroken, "reset"}).outcome, Outcome::kUnknown);
  EXPECT_EQ(make_answer({}, "", {HttpEndKind::kTimeout, "idle"}).outcome, Outcome::kUnknown);
  EXPECT_EQ(make_answer({}, "", {HttpEndKind::kCancelled, "end"}).outcome, Outcome::kUnknown);
  EXPECT_EQ(make_answer({}, "", {HttpEndKind::kNotSent, "refused"}).message, "refused");
}

TEST(Answers, DoesNotTrustAnOkThatWasCutOrIsNoJson) {
  EXPECT_EQ(make_answer({201, kStatusJson, ""}, "{", {HttpEndKind::kBroken, "cut"}).outcome,
            Outcome::kUnknown);
  EXPECT_EQ(make_answer({200, "text/html", ""}, "<html>", kWhole).outcome, Outcome::kUnknown);
  EXPECT_EQ(make_answer({200, "application/json; charset=utf-8", ""}, "{}", kWhole).outcome,
            Outcome::kOk);
}

TEST(Answers, ProtobufIsTrustedWhereItWasAskedFor) {
  const HttpHead head{200, "application/vnd.kubernetes.protobuf", ""};
  EXPECT_EQ(make_answer(head, "k8s", kWhole, kProtobufType).outcome, Outcome::kOk);
  EXPECT_EQ(make_answer(head, "k8s", kWhole).outcome, Outcome::kUnknown);
}

TEST(Answers, KeepsAForbiddenCauseOfA422InTheMessage) {
  const Answer answer =
      make_answer({422, kStatusJson, ""},
                  R"({"kind":"Status","code":422,"reason":"Invalid","message":"status is invalid",
          "details":{"causes":[{"reason":"FieldValueForbidden","field":"status.allocation",
                                "message":"not allowed"}]}})",
                  kWhole);
  EXPECT_EQ(answer.outcome, Outcome::kInvalid);
  EXPECT_NE(answer.message.find("FieldValueForbidden status.allocation: not allowed"),
            std::string::npos)
      << answer.message;
}

TEST(Answers, SaysOnceWhatTheSentenceOfA422AndItsCausesSay) {
  const Answer answer = make_answer({422, kStatusJson, ""},
                                    R"({"kind":"Status","code":422,"reason":"Invalid",
          "message":"Pod \"p\" is invalid: spec: Invalid value: immutable",
          "details":{"causes":[{"reason":"FieldValueInvalid","field":"spec",
                                "message":"Invalid value: immutable"}]}})",
                                    kWhole);
  EXPECT_EQ(answer.message,
            "HTTP 422 Invalid: Pod \"p\" is invalid: spec: Invalid value: immutable");
}

TEST(Answers, TakesRetryAfterFromTheHeaderElseFromTheStatus) {
  const std::string body = R"({"kind":"Status","code":429,"details":{"retryAfterSeconds":7}})";
  EXPECT_EQ(make_answer({429, kStatusJson, "3"}, body, kWhole).retry_after,
            Duration(std::chrono::seconds(3)));
  EXPECT_EQ(make_answer({429, kStatusJson, ""}, body, kWhole).retry_after,
            Duration(std::chrono::seconds(7)));
  EXPECT_EQ(make_answer({429, "text/plain", ""}, "too many\n", kWhole).retry_after, std::nullopt);
}

TEST(Answers, ReadsOnlyWholeSecondsOfRetryAfter) {
  EXPECT_EQ(parse_retry_after("0"), Duration(0));
  EXPECT_EQ(parse_retry_after("100000"), kRetryAfterMax);
  for (const char* bad : {"", "-1", "1.5", "soon", "1 ", "99999999999999999999"}) {
    EXPECT_EQ(parse_retry_after(bad), std::nullopt) << bad;
  }
}

TEST(Answers, NamesEveryOutcome) {
  EXPECT_STREQ(outcome_name(Outcome::kNotFound), "not_found");
  EXPECT_STREQ(outcome_name(Outcome::kThrottled), "throttled");
}

TEST(Answers, CutAPageInHtmlToItsFirstWords) {
  const std::string page =
      "\n<!DOCTYPE HTML>\n<html lang=\"en\">\n <head>\n  <title>Error response"
      "</title>\n </head>\n <body><h1>Error response</h1><p>Error code: 404</p>"
      "<p>Message: File not found, which is a long story.</p></body></html>";
  EXPECT_EQ(status_of(page).message,
            "(a page in HTML: Error response Error response Error code: 404 Message: File)");
  EXPECT_EQ(status_of("404 page not found\n").message, "404 page not found\n");
  EXPECT_EQ(status_of("<" + std::string(500, 'a') + ">" + std::string(500, 'b')).message,
            "(a page in HTML: " + std::string(60, 'b') + ")");
}

}  // namespace
}  // namespace gang::kube
