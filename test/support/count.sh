# Sourced by test/run: what passed and what failed.

passed_count=0
failed_count=0
failed_names=()

pass() { passed_count=$((passed_count + ${1:-1})); }

# fail NAME [COUNT]
fail() {
  failed_count=$((failed_count + ${2:-1}))
  failed_names+=("$1")
  echo "  FAILED: $1"
}

# check NAME COMMAND...: one check that passes when the command does.
check() {
  local name="$1"
  shift
  if logged "${name//[^a-zA-Z0-9.-]/-}" "$@"; then pass; else fail "$name"; fi
}

# count_line NAME EXIT_CODE LINE: adds a line `N passed, N failed`; the exit code must agree.
count_line() {
  local name="$1" code="$2" line="$3"
  if ! [[ "$line" =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
    fail "$name: no line 'N passed, N failed' (exit code $code)"
    return
  fi
  local passed="${BASH_REMATCH[1]}" failed="${BASH_REMATCH[2]}"
  pass "$passed"
  if [ "$failed" != 0 ]; then
    fail "$name" "$failed"
  elif [ "$code" != 0 ] || [ "$passed" = 0 ]; then
    fail "$name: exit code $code after '$line'"
  fi
}

# counted NAME COMMAND...: shows the command's output and counts its last line.
counted() {
  local name="$1" log="$root/build/log/$1.log" code=0
  shift
  "$@" 2>&1 | tee "$log" | sed -u 's/^/  /'
  code="${PIPESTATUS[0]}"
  count_line "$name" "$code" "$(tail -n 1 "$log")"
}

summary() {
  local name
  echo
  for name in "${failed_names[@]}"; do echo "failed: $name"; done
  echo "$passed_count passed, $failed_count failed"
  [ "$failed_count" = 0 ] && [ "$passed_count" -gt 0 ]
}
