# Sourced by deploy/quickstart and test/run: builds with CMake, quiet unless it fails. Uses $root.

# Clones in different folders share what the compiler cache knows.
export CCACHE_BASEDIR="$root" CCACHE_NOHASHDIR=1
build_jobs="${GANG_JOBS:-$(nproc 2>/dev/null || echo 2)}"

# quietly NAME COMMAND...: runs the command with its output in build/log/NAME.log and shows the last
# line of it from time to time. Returns the command's exit code.
quietly() {
  local name="$1" log="$root/build/log/$1.log" pid waited=0 code=0
  shift
  mkdir -p "$root/build/log"
  "$@" >"$log" 2>&1 &
  pid=$!
  while kill -0 "$pid" 2>/dev/null; do
    sleep 1
    waited=$((waited + 1))
    if [ $((waited % 20)) = 0 ]; then
      echo "  $name: $(tail -n 1 "$log" | cut -c 1-90)"
    fi
  done
  wait "$pid" || code=$?
  return "$code"
}

# logged NAME COMMAND...: the same, and shows what matters of the output where the command fails.
logged() {
  local name="$1" log="$root/build/log/$1.log" code=0
  quietly "$@" || code=$?
  if [ "$code" != 0 ]; then
    echo "  $name failed with exit code $code; from build/log/$name.log:"
    if grep -qE 'error|FAILED' "$log"; then
      grep -E -A 5 'error|FAILED' "$log" | head -n 60
    else
      tail -n 20 "$log"
    fi | sed 's/^/    /'
  fi
  return "$code"
}

# build_targets PRESET TESTS TARGET...: configures the preset, with tests ON or OFF, and builds.
build_targets() {
  local preset="$1" tests="$2"
  shift 2
  echo "  building $* (preset $preset)"
  logged "configure-$preset" \
    cmake -S "$root" --preset "$preset" -DGANG_TESTS="$tests" || return 1
  logged "build-$preset" cmake --build "$root/build/$preset" -j "$build_jobs" --target "$@"
}
