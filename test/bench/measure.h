// Measuring in pairs: ours and a reference alternate in one run, the median of the paired ratios
// counts, with a bootstrap 90 % interval. Absolute times are printed, never compared.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace gang::bench {

/// Microseconds of one call.
[[nodiscard]] double microseconds(const std::function<void()>& call);

[[nodiscard]] double median(std::vector<double> values);

/// A median and the interval in which it lies nine times in ten. A value.
struct Interval {
  double low = 0;
  double middle = 0;
  double high = 0;
};

/// Of values measured one after another; the resampling is deterministic.
[[nodiscard]] Interval interval_of(const std::vector<double>& values);

/// Pairs of times of ours and of a reference, in microseconds. A value.
struct Pairs {
  std::vector<double> ours;
  std::vector<double> reference;
  /// Reference time divided by our time: how many times we are cheaper.
  [[nodiscard]] std::vector<double> ratios() const;
};

/// One line of the table. A value.
struct Row {
  std::string name;
  double ours = 0;  ///< in `unit`
  std::string unit = "us";
  std::string against;  ///< name of the reference, empty without one
  std::optional<double> reference;
  std::optional<Interval> ratio;
  std::string goal;
  bool met = true;
};

/// How much to measure, and whether every answer agreed so far. Owned by main().
struct Run {
  bool smoke = false;
  int pair_count = 7;
  std::int32_t small_nodes = 5'000;
  std::int32_t large_nodes = 100'000;
  std::vector<Row> rows;
  std::vector<std::string> wrong_answers;

  void expect(bool agrees, const std::string& what) {
    if (!agrees) wrong_answers.push_back(what);
  }
};

/// A row for pairs: medians of both sides and the interval of the ratio.
[[nodiscard]] Row row_of(std::string name, const Pairs& pairs, std::string against);

/// The row, which meets its goal where ours is at most that.
[[nodiscard]] Row with_goal(Row row, std::string goal, double most);

void print(const Run& run);

/// Of this process, from the kernel; 0 when it does not say.
[[nodiscard]] double resident_megabytes();
/// What a process of its own prints of itself.
[[nodiscard]] double megabytes_of(Run& run, const std::string& command);

}  // namespace gang::bench
