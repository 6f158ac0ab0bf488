// The rows of gang-bench. Each adds what it measured and compares answers where it has two.
#pragma once

#include "bench/measure.h"

namespace gang::bench {

/// Warm decisions, refusals, growth, allocations.
void measure_decisions(Run& run);
/// Snapshot, decode, memory. `program` is started again for the memory row.
void measure_model(Run& run, const char* program);
/// Selectors on devices, and the allocation of a pod's devices on a node.
void measure_devices(Run& run);
/// Gangs over devices: plans, slices, expressions, memory. `program` as above.
void measure_device_gangs(Run& run, const char* program);
/// One pool of many large slices: a slice of it that changes, and the plan after it.
void measure_large_pool(Run& run);
/// Public traces, played whole.
void measure_traces(Run& run);
/// Fills a cluster of 5,000 nodes and 50,000 pods; prints the resident megabytes.
int print_memory();
/// The same of 5,000 nodes with 8 devices each.
int print_device_memory();

}  // namespace gang::bench
