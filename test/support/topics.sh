# Sourced by test/run: one function a topic. A topic without anything to run fails.

run_topic() {
  local topic="$1" begun=$SECONDS
  echo "== $topic"
  "topic_${topic//-/_}"
  echo "== $topic: $((SECONDS - begun)) s; so far $passed_count passed, $failed_count failed"
}

# run_ctest NAME PRESET [LABEL_REGEX]
run_ctest() {
  local name="$1" build="$root/build/$2" labels="${3:-.}"
  rm -rf "$build/results"
  mkdir -p "$build/results"
  quietly "$name-ctest" ctest --test-dir "$build" -j "$build_jobs" -L "$labels" \
    --output-junit "$build/results/ctest.xml"
  counted "$name" python3 "$root/test/support/count_results.py" "$build/results"
}

# run_scenarios NAME PRESET: every text on its own, so that each counts.
run_scenarios() {
  local name="$1" gangctl="$root/build/$2/bin/gangctl" file files
  mapfile -t files < <(find test/scenarios -name '*.txt' 2>/dev/null | sort)
  if [ "${#files[@]}" = 0 ]; then fail "$name: no texts in test/scenarios"; fi
  for file in "${files[@]}"; do
    if "$gangctl" run "$file" >"$root/build/log/scenario.log" 2>&1; then
      pass
    else
      fail "$name: $file"
      head -n 60 "$root/build/log/scenario.log" | sed 's/^/    /'
    fi
  done
  echo "  ${#files[@]} scenarios"
}

run_fuzzers() {
  local target name
  for target in "$root"/build/fuzz/fuzz/*; do
    name="$(basename "$target")"
    if [ -x "$target" ]; then
      check "fuzz $name" fuzz_one "$target" "$name"
    else
      fail "fuzz: no fuzz targets"
    fi
  done
}

# New inputs go to build/fuzz/corpus; the seeds of test/fuzz/corpus/<name> are only read.
fuzz_one() {
  local target="$1" name="${2%_fuzz}"
  local seeds="$root/test/fuzz/corpus/$name" found="$root/build/fuzz/corpus/$name"
  mkdir -p "$found" "$root/build/fuzz/artifacts"
  local folders=("$found")
  if [ -d "$seeds" ]; then folders+=("$seeds"); fi
  # The libraries are not instrumented, so their containers cannot be checked for overflow.
  ASAN_OPTIONS=detect_container_overflow=0 "$target" -max_total_time="${GANG_FUZZ_SECONDS:-5}" \
    -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="$root/build/fuzz/artifacts/$name-" "${folders[@]}"
}

check_format() {
  git -c safe.directory='*' ls-files -z --cached --others --exclude-standard -- '*.h' '*.cpp' |
    xargs -0 -r clang-format-14 --dry-run --Werror
}

# clang-tidy on the sources that changed since GANG_TIDY_BASE.
check_clang_tidy() {
  git -c safe.directory='*' diff --name-only --diff-filter=d -z "$GANG_TIDY_BASE" -- 'src/*.cpp' |
    xargs -0 -r -n 1 -P "$build_jobs" clang-tidy-14 --quiet -p build/debug \
      --extra-arg=-Wno-unknown-warning-option
}

topic_tidy() {
  counted check_tree python3 test/tidy/check_tree.py
  counted python_tests python3 test/support/run_unittests.py test/tidy test/deploy test/support \
    test/oracle test/campaign
  check "clang-format" check_format
  counted thread_safety python3 test/tidy/thread_safety.py --jobs "$build_jobs"
  if [ -n "${GANG_TIDY_BASE:-}" ]; then
    check "configure for clang-tidy" cmake --preset debug -DGANG_TESTS=ON
    check "clang-tidy" check_clang_tidy
  fi
}

# A whole run leaves this out: asan runs the same tests, and each build of them takes minutes.
topic_unit() {
  if build_targets release ON gang_tests; then run_ctest unit release; else fail "unit: build"; fi
}

topic_scenarios() {
  if build_targets release ON gangctl; then
    run_scenarios scenarios release
  else
    fail "scenarios: build"
  fi
}

topic_campaign() {
  if build_targets release ON gangctl; then
    counted campaign python3 test/campaign/run.py --gangctl build/release/bin/gangctl \
      --seeds "${GANG_CAMPAIGN_SEEDS:-1-200}" --jobs "$build_jobs"
  else
    fail "campaign: build"
  fi
}

topic_e2e() {
  if ! build_targets release ON gang-scheduler gangctl; then
    fail "e2e: build"
  elif logged control-plane-build "$root/test/controlplane/build"; then
    counted e2e python3 test/e2e/run.py
  else
    fail "e2e: build of the control plane"
  fi
}

# What Kubernetes' own packages say, and what we say.
topic_oracle() {
  local ours="$root/build/release/bin" theirs
  if ! build_targets release ON cel-answers device-answers; then
    fail "oracle: build"
  elif ! logged oracle-build "$root/test/oracle/build"; then
    fail "oracle: build of Kubernetes' packages"
  else
    theirs="$("$root/test/oracle/build")"
    counted oracle-cel python3 test/oracle/compare.py "$theirs/cel" "$ours/cel-answers" \
      test/oracle/cel_corpus.txt
    counted oracle-cel-speed python3 test/oracle/cel_speed.py "$theirs/cel" "$ours/cel-answers"
    counted oracle-devices python3 test/oracle/compare_devices.py \
      --ours "$ours/device-answers" --upstream "$theirs/devices"
  fi
}

# The benches check their own limits; every row they print is one that held.
topic_bench_smoke() {
  local log="$root/build/log/bench-smoke.log" code last
  if ! build_targets release ON gang-bench; then
    fail "bench-smoke: build"
    return
  fi
  "$root/build/release/bin/gang-bench" --smoke 2>&1 | tee "$log" | sed -u 's/^/  /'
  code="${PIPESTATUS[0]}"
  last="$(tail -n 1 "$log")"
  if [ "$code" = 0 ] && [[ "$last" =~ ^([1-9][0-9]*)\ rows$ ]]; then
    pass "${BASH_REMATCH[1]}"
  else
    fail "bench-smoke: exit code $code, last line '$last'"
  fi
}

topic_asan() {
  if build_targets asan ON gang_tests gangctl; then
    run_ctest asan asan
    run_scenarios asan-scenarios asan
  else
    fail "asan: build"
  fi
  topic_fuzz
}

topic_fuzz() {
  if build_targets fuzz ON gang_fuzzers; then run_fuzzers; else fail "fuzz: build"; fi
}

topic_tsan() {
  if build_targets tsan ON gang_tests_{base,kube,binder,app}; then
    run_ctest tsan tsan '^(base|kube|binder|app)$'
  else
    fail "tsan: build"
  fi
}
