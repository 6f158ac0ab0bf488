// gang-bench: what a decision costs against plain references over the same data. Exit code 1 when
// a reference answers otherwise than we do; times are printed and never judged by the exit code.
//   gang-bench            everything
//   gang-bench --smoke    small and short, for the test run
//   gang-bench --memory   prints the resident megabytes of a filled model
//   gang-bench --device-memory   the same of nodes with devices
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "bench/rows.h"

namespace gang::bench {

namespace {

int usage() {
  fmt::print(stderr, "usage: gang-bench [--smoke | --memory | --device-memory]\n");
  return 2;
}

int run_all(bool smoke, const char* program) {
  Run run;
  if (smoke) run = {.smoke = true, .pair_count = 5, .small_nodes = 500, .large_nodes = 2'000};
  double load = 0;
  if (getloadavg(&load, 1) != 1) load = -1;
  fmt::print("gang-bench: {} cores, load {:.2f}, compiler {}\n", sysconf(_SC_NPROCESSORS_ONLN),
             load, __VERSION__);
  measure_decisions(run);
  measure_model(run, program);
  measure_devices(run);
  measure_large_pool(run);
  measure_traces(run);
  measure_device_gangs(run, program);
  print(run);
  return run.wrong_answers.empty() ? 0 : 1;
}

}  // namespace
}  // namespace gang::bench

int main(int argc, char** argv) {
  if (argc > 2) return gang::bench::usage();
  const std::string_view mode = argc == 2 ? argv[1] : "";
  if (mode == "--memory") return gang::bench::print_memory();
  if (mode == "--device-memory") return gang::bench::print_device_memory();
  if (mode != "" && mode != "--smoke") return gang::bench::usage();
  return gang::bench::run_all(mode == "--smoke", argv[0]);
}
