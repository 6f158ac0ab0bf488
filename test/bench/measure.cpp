#include "bench/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

namespace gang::bench {

double microseconds(const std::function<void()>& call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  const std::chrono::duration<double, std::micro> taken = std::chrono::steady_clock::now() - start;
  return taken.count();
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

Interval interval_of(const std::vector<double>& values) {
  constexpr int kResamples = 400;
  std::uint64_t state = 1;
  std::vector<double> medians;
  for (int i = 0; i < kResamples; ++i) {
    std::vector<double> sample;
    for (std::size_t n = 0; n < values.size(); ++n) {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      sample.push_back(values[(state >> 33) % values.size()]);
    }
    medians.push_back(median(std::move(sample)));
  }
  std::ranges::sort(medians);
  return {.low = medians[kResamples / 20],
          .middle = median(values),
          .high = medians[kResamples - 1 - kResamples / 20]};
}

std::vector<double> Pairs::ratios() const {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < ours.size(); ++i) ratios.push_back(reference[i] / ours[i]);
  return ratios;
}

Row row_of(std::string name, const Pairs& pairs, std::string against) {
  return {.name = std::move(name),
          .ours = median(pairs.ours),
          .against = std::move(against),
          .reference = median(pairs.reference),
          .ratio = interval_of(pairs.ratios())};
}

Row with_goal(Row row, std::string goal, double most) {
  row.goal = std::move(goal);
  row.met = row.ours <= most;
  return row;
}

double resident_megabytes() {
  double pages = 0;
  double resident = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr) return 0;
  const bool read = std::fscanf(file, "%lf %lf", &pages, &resident) == 2;
  std::fclose(file);
  return read ? resident * 4096 / 1'000'000 : 0;
}

double megabytes_of(Run& run, const std::string& command) {
  std::FILE* child = popen(command.c_str(), "r");
  double megabytes = 0;
  const bool told = child != nullptr && std::fscanf(child, "%lf", &megabytes) == 1;
  const bool ended = child != nullptr && pclose(child) == 0;
  run.expect(told && ended && megabytes > 0, "memory of a process of its own");
  return megabytes;
}

void print(const Run& run) {
  fmt::print("{:<52} {:>12} {:<6} {:>14} {:<16} {:>24}  {:<22} {}\n", "measured", "ours", "",
             "reference", "", "reference / ours [90 %]", "goal", "met");
  for (const Row& row : run.rows) {
    const std::string reference = row.reference ? fmt::format("{:.2f}", *row.reference) : "";
    const std::string ratio = row.ratio ? fmt::format("{:.2f} [{:.2f}, {:.2f}]", row.ratio->middle,
                                                      row.ratio->low, row.ratio->high)
                                        : "";
    fmt::print("{:<52} {:>12.2f} {:<6} {:>14} {:<16} {:>24}  {:<22} {}\n", row.name, row.ours,
               row.unit, reference, row.against, ratio, row.goal,
               row.goal.empty() ? "" : (row.met ? "yes" : "no"));
  }
  for (const std::string& wrong : run.wrong_answers) fmt::print("WRONG ANSWER: {}\n", wrong);
  fmt::print("{} rows\n", run.rows.size());
}

}  // namespace gang::bench
