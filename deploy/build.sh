# Sourced by deploy/quickstart and test/run: builds with CMake, quietly unless it fails. Expects $root.

# Clones in different folders share what the compiler cache knows.
export CCACHE_BASEDIR="$root" CCACHE_NOHASHDIR=1
build_jobs="${GANG_JOBS:-$(nproc 2>/dev/null || echo 2)}"

# logged NAME COMMAND...: runs the command with its output in build/log/NAME.log, shows the last line
# of it from time to time, and all that matters of it on failure. Returns the command's exit code.
logged() {
  local name="$1" log="$root/build/log/$1.log" pid waited=0 code=0
  shift
  mkdir -p "$root/build/log"
  "$@" >"$log" 2>&1 &
  pid=$!
  while kill -0 "$pid" 2>/dev/null; do
    sleep 1
    waited=$((waited + 1))
    if [ $((waited % 20)) = 0 ]; then echo "  $name: $(tail -n 1 "$log" | cut -c 1-90)"; fi
  done
  wait "$pid" || code=$?
  if [ "$code" != 0 ]; then
    echo "  $name failed with exit code $code; the end of build/log/$name.log:"
    { grep -E -A 5 'error|FAILED' "$log" || true; tail -n 15 "$log"; } | tail -n 60 | sed 's/^/    /'
  fi
  return "$code"
}

# build_targets PRESET TESTS TARGET...: configures the preset and builds the targets; TESTS is ON or OFF.
build_targets() {
  local preset="$1" tests="$2"
  shift 2
  echo "  building $* (preset $preset)"
  logged "configure-$preset" cmake -S "$root" --preset "$preset" -DGANG_TESTS="$tests" || return 1
  logged "build-$preset" cmake --build "$root/build/$preset" -j "$build_jobs" --target "$@"
}
