#include "gang/api/quantity.h"

#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <sstream>
#include <vector>

namespace gang::api {
namespace {

constexpr std::int64_t kInt64Max = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kInt64Min = std::numeric_limits<std::int64_t>::min();

/// One text and all that apimachinery says of it.
struct Row {
  std::string text;
  QuantityFormat format;
  std::int64_t value;
  std::int64_t milli;
  std::string canonical;
};

constexpr auto kSI = QuantityFormat::kDecimalSI;
constexpr auto kBin = QuantityFormat::kBinarySI;
constexpr auto kExp = QuantityFormat::kDecimalExponent;

const Row kRows[] = {
    {"0", kSI, 0, 0, "0"},
    {"-0", kSI, 0, 0, "0"},
    {"0Ki", kBin, 0, 0, "0"},
    {"0e5", kExp, 0, 0, "0"},
    {"1", kSI, 1, 1000, "1"},
    {"+1", kSI, 1, 1000, "1"},
    {"-1", kSI, -1, -1000, "-1"},
    {"007", kSI, 7, 7000, "7"},
    {"1.", kSI, 1, 1000, "1"},
    {".5", kSI, 1, 500, "500m"},
    {"1.50", kSI, 2, 1500, "1500m"},
    {"100m", kSI, 1, 100, "100m"},
    {"0.1", kSI, 1, 100, "100m"},
    {"1000m", kSI, 1, 1000, "1"},
    {"-1500m", kSI, -2, -1500, "-1500m"},
    {"1500u", kSI, 1, 2, "1500u"},
    {"1n", kSI, 1, 1, "1n"},
    {"999n", kSI, 1, 1, "999n"},
    {"0.1n", kSI, 1, 1, "1n"},
    {"-0.1n", kSI, -1, -1, "-1n"},
    {"1.0000000001", kSI, 2, 1001, "1000000001n"},
    {"1k", kSI, 1000, 1000000, "1k"},
    {"1500k", kSI, 1500000, 1500000000, "1500k"},
    {"129M", kSI, 129000000, 129000000000, "129M"},
    {"1G", kSI, 1000000000, 1000000000000, "1G"},
    {"1T", kSI, 1000000000000, 1000000000000000, "1T"},
    {"1P", kSI, 1000000000000000, 1000000000000000000, "1P"},
    {"1E", kSI, 1000000000000000000, kInt64Max, "1E"},
    {"9E", kSI, 9000000000000000000, kInt64Max, "9E"},
    {"10E", kSI, kInt64Max, kInt64Max, "10E"},
    {"-10E", kSI, kInt64Min, kInt64Min, "-10E"},
    {"1000E", kSI, kInt64Max, kInt64Max, "1000E"},
    {"1Ki", kBin, 1024, 1024000, "1Ki"},
    {"1023Ki", kBin, 1047552, 1047552000, "1023Ki"},
    {"1024Ki", kBin, 1048576, 1048576000, "1Mi"},
    {"0.5Gi", kBin, 536870912, 536870912000, "512Mi"},
    {"1536Mi", kBin, 1610612736, 1610612736000, "1536Mi"},
    {"1.5Ti", kBin, 1649267441664, 1649267441664000, "1536Gi"},
    {"2Pi", kBin, 2251799813685248, 2251799813685248000, "2Pi"},
    {"7Ei", kBin, 8070450532247928832, kInt64Max, "7Ei"},
    {"8Ei", kBin, kInt64Max, kInt64Max, "9223372036854775807"},
    {"-8Ei", kBin, -kInt64Max, kInt64Min, "-9223372036854775807"},
    {"0.5Ki", kBin, 512, 512000, "512"},
    {"0.0005Ki", kBin, 1, 512, "512m"},
    {"1.0001Ki", kBin, 1025, 1024103, "1024102400u"},
    {"0.0000000001Ei", kBin, 115292151, 115292150461, "115292150460684698n"},
    {"1e3", kExp, 1000, 1000000, "1e3"},
    {"1E3", kExp, 1000, 1000000, "1e3"},
    {"129e6", kExp, 129000000, 129000000000, "129e6"},
    {"9e11", kExp, 900000000000, 900000000000000, "900e9"},
    {"1e-3", kExp, 1, 1, "1e-3"},
    {"1e+2", kExp, 100, 100000, "100"},
    {"1.5e1", kExp, 15, 15000, "15"},
    {"1e-12", kExp, 1, 1, "1e-9"},
    {"1e-99999999999999999999", kExp, 1, 1, "1e-9"},
    {"-1e-400", kExp, -1, -1, "-1e-9"},
    {"0e99999999999999999999", kExp, 0, 0, "0"},
    {"9223372036854775807", kSI, kInt64Max, kInt64Max, "9223372036854775807"},
    {"-9223372036854775808", kSI, kInt64Min, kInt64Min, "-9223372036854775808"},
    {"9223372036854775.807", kSI, 9223372036854776, kInt64Max, "9223372036854775807m"},
    {"000000000000000000000000000001", kSI, 1, 1000, "1"},
    {"1.00000000000000000000000000000", kSI, 1, 1000, "1"},
    {"123456789012345678n", kSI, 123456790, 123456789013, "123456789012345678n"},
    {"1234567890123456789012n", kSI, 1234567890124, 1234567890123457, "1234567890123456789012n"},
};

TEST(Quantity, ReadsEveryFormOfTheGrammar) {
  for (const Row& row : kRows) {
    const auto quantity = Quantity::parse(row.text);
    ASSERT_TRUE(quantity) << row.text;
    EXPECT_EQ(quantity->format(), row.format) << row.text;
    EXPECT_EQ(quantity->value(), row.value) << row.text;
    EXPECT_EQ(quantity->milli_value(), row.milli) << row.text;
    EXPECT_EQ(quantity->text(), row.canonical) << row.text;
  }
}

TEST(Quantity, RefusesWhatIsNoQuantityAndSaysHowToWriteIt) {
  for (const std::string text :
       {"",     " ",   "+",    "-",   ".",     "Mi",    "+.",  "-Ki",  "1K",    "1ki",
        "1kI",  "1Ii", "0x10", "1,5", "1,5Gi", "6 GiB", "6GB", "6GiB", "6 Gi",  " 6Gi",
        "6Gi ", "1e",  "1E+",  "1e-", "1e1.5", "1ee3",  "1i",  "1 ",   "1..5",  "1.5.",
        "--1",  "+-1", "1m5",  "1mi", "1ni",   "ten",   "NaN", "inf",  "1_000", "\xEF\xBC\x91"}) {
    const auto quantity = Quantity::parse(text);
    ASSERT_FALSE(quantity) << text;
    EXPECT_EQ(quantity.error().code, Code::kInvalidArgument);
    EXPECT_EQ(quantity.error().message,
              "\"" + text +
                  "\" is not a quantity; write a number with an optional suffix like 500m or 2Gi");
  }
}

TEST(Quantity, ValuesAndNotSpellingsAreCompared) {
  const auto q = [](std::string_view text) { return *Quantity::parse(text); };
  EXPECT_EQ(q("128974848"), q("123Mi"));
  EXPECT_EQ(q("129e6"), q("129M"));
  EXPECT_EQ(q("1000m"), q("1"));
  EXPECT_LT(q("6G"), q("6Gi"));
  EXPECT_LT(q("-1"), q("1n"));
  EXPECT_GT(q("1Ei"), q("1E"));
}

TEST(Quantity, SumsAreExactAndKeepTheFirstFormat) {
  Quantity sum;
  for (int i = 0; i < 4; ++i) sum += *Quantity::parse("0.5Gi");
  EXPECT_EQ(sum, *Quantity::parse("2Gi"));
  EXPECT_EQ(sum.text(), "2Gi");
  sum += *Quantity::parse("1");
  EXPECT_EQ(sum.value(), 2147483649);
  sum -= *Quantity::parse("3Gi");
  EXPECT_EQ(sum.value(), -1073741823);
  Quantity thirds;
  for (int i = 0; i < 3; ++i) thirds += *Quantity::parse("333333333n");
  EXPECT_EQ(thirds.text(), "999999999n");
  EXPECT_EQ(thirds.value(), 1);
}

TEST(Quantity, SaturatesInsteadOfWrapping) {
  Quantity huge = *Quantity::parse("1e400");
  EXPECT_EQ(huge.value(), kInt64Max);
  huge += huge;
  EXPECT_EQ(huge.value(), kInt64Max);
  EXPECT_FALSE(huge.is_negative());
  Quantity low = *Quantity::parse("-1e400");
  low -= huge;
  EXPECT_EQ(low.value(), kInt64Min);
  EXPECT_TRUE(low.is_negative());
  EXPECT_EQ(Quantity::from_units(kInt64Max).value(), kInt64Max);
  EXPECT_EQ(Quantity::from_milli(-1).value(), -1);
}

QuantityFormat format_named(const std::string& name) {
  if (name == "BinarySI") return kBin;
  return name == "DecimalSI" ? kSI : kExp;
}

/// Whether the exact value lies within int64; beyond it the reference returns junk.
bool within_int64(const Quantity& quantity, std::int64_t unit_nanos) {
  const Quantity::Nano limit = Quantity::Nano{kInt64Max} * unit_nanos;
  return quantity.nano() <= limit && quantity.nano() >= -limit;
}

TEST(Quantity, AgreesWithEveryRowOfTheGoldenTable) {
  std::ifstream file(GANG_SOURCE_ROOT "/../shared/data/quantity-golden.tsv");
  if (!file) GTEST_SKIP() << "the shared data folder is not beside the sources";
  int rows = 0;
  for (std::string line; std::getline(file, line); ++rows) {
    std::vector<std::string> cells;
    std::istringstream cut(line);
    for (std::string cell; std::getline(cut, cell, '\t');) cells.push_back(cell);
    const auto quantity = Quantity::parse(cells.at(0));
    const bool has_digit = cells[0].find_first_of("0123456789") != std::string::npos;
    if (cells.at(1) == "ERR" || !has_digit) {
      EXPECT_FALSE(quantity) << line;
      continue;
    }
    ASSERT_TRUE(quantity) << line;
    EXPECT_EQ(quantity->format(), format_named(cells[1])) << line;
    if (within_int64(*quantity, 1'000'000'000)) {
      EXPECT_EQ(quantity->text(), cells.at(5)) << line;
    }
    if (quantity->is_negative()) {
      // The reference rounds long negative amounts the wrong way and wraps; ours mirror positive
      // ones.
      const Quantity mirrored = *Quantity::parse(cells[0].substr(1));
      EXPECT_EQ(quantity->nano(), -mirrored.nano()) << line;
      continue;
    }
    if (within_int64(*quantity, 1'000'000'000)) {
      EXPECT_EQ(std::to_string(quantity->value()), cells.at(3)) << line;
    }
    if (within_int64(*quantity, 1'000'000)) {
      EXPECT_EQ(std::to_string(quantity->milli_value()), cells.at(4)) << line;
    }
    EXPECT_EQ(*Quantity::parse(quantity->text()), *quantity) << line;
  }
  EXPECT_GE(rows, 4000);
}

}  // namespace
}  // namespace gang::api
