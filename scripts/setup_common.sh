# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What quickstart.sh and test.sh share: install what is missing, decide about CUDA, build. Sourced, never run.

say() { printf '==> %s\n' "$*"; }
fail() {
  printf 'error: %s\n' "$1" >&2
  shift
  [ $# -eq 0 ] || printf '       %s\n' "$@" >&2
  exit 1
}

# Debian and Ubuntu names.
# shellcheck disable=SC2034  # used by the scripts that source this
build_packages=(g++ make cmake zlib1g-dev libcli11-dev nlohmann-json3-dev libeigen3-dev)
# What tests and comparisons need besides.
comparison_packages=(libmetis-dev)
mpi_packages=(libopenmpi-dev openmpi-bin)
petsc_packages=(petsc-dev python3-petsc4py pkg-config)

package_is_installed() {
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# A compiler, make or CMake that is on PATH counts, whoever put it there.
have_cmake() { command -v cmake >/dev/null && cmake_is_new_enough "$(cmake --version | sed -n '1s/[^0-9]*//p')"; }
cmake_is_new_enough() { [ "$(printf '%s\n' 3.24 "${1%%-*}" | sort -V | head -n 1)" = 3.24 ]; }
is_there() {
  case $1 in
    g++) [ -n "${CXX:-}" ] || command -v g++ >/dev/null || package_is_installed g++ ;;
    make) command -v make >/dev/null ;;
    cmake) have_cmake ;;
    *) package_is_installed "$1" ;;
  esac
}

# Prints the words that give apt-get its rights: nothing for root, sudo for a user who may.
# Only on a terminal may sudo ask for its password; elsewhere a question would hang.
administrator() {
  if [ "$(id -u)" -eq 0 ]; then
    echo ""
  elif ! command -v sudo >/dev/null; then
    return 1
  elif sudo -n true 2>/dev/null; then
    echo "sudo -n"
  elif [ -t 0 ] && [ -t 2 ]; then
    echo "sudo"
  else
    return 1
  fi
}

# install_missing PACKAGE... : asks apt-get for those that are not there; leaves the machine alone when all are.
install_missing() {
  if ! command -v apt-get >/dev/null; then
    say "no apt-get on this machine: $* (Debian's names) are taken to be there"
    have_cmake || fail "CMake 3.24 or newer is needed, and was not found"
    return
  fi
  local missing=() package prefix
  for package in "$@"; do
    is_there "$package" || missing+=("$package")
  done
  if [ ${#missing[@]} -eq 0 ]; then
    say "all needed packages are installed"
    return
  fi
  prefix=$(administrator) ||
    fail "packages are missing, and this user may not install them (not root, no usable sudo)" \
      "ask an administrator to run:" "apt-get install ${missing[*]}"
  say "installing ${missing[*]} (a minute or two)"
  # shellcheck disable=SC2206  # the prefix is zero, one or two words
  local apt=($prefix env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3)
  "${apt[@]}" update </dev/null >"$install_log" 2>&1 ||
    say "apt-get update reported a problem (see $install_log), continuing with the existing lists"
  "${apt[@]}" install -y --no-install-recommends "${missing[@]}" </dev/null >>"$install_log" 2>&1 || {
    tail -n 5 "$install_log" >&2
    fail "apt-get could not install ${missing[*]}; its output is in $install_log" \
      "on Ubuntu the component 'universe' must be enabled"
  }
  have_cmake || fail "CMake 3.24 or newer is needed, and this system's packages have $(cmake --version | head -n 1)"
}

# Sets cuda: AUTO where a GPU answers and its compiler is found, so that a broken compiler is no obstacle; else OFF.
# shellcheck disable=SC2034  # used by the scripts that source this
choose_cuda() {
  if ! command -v nvidia-smi >/dev/null || ! nvidia-smi >/dev/null 2>&1; then
    say "no NVIDIA GPU is available: building for the host only"
    cuda=OFF
  elif ! command -v nvcc >/dev/null && [ ! -x /usr/local/cuda/bin/nvcc ]; then
    say "a GPU is available, but nvcc was not found: building for the host only"
    cuda=OFF
  else
    say "a GPU and nvcc are available: building with CUDA"
    cuda=AUTO
  fi
}

# Sets jobs: as many compilers as there are processors, and 1.5 GB of memory for each.
choose_jobs() {
  local processors memory_kb limit
  processors=$(nproc)
  memory_kb=$(awk '/^MemAvailable:/ {print $2}' /proc/meminfo 2>/dev/null || true)
  : "${memory_kb:=$((processors * 1572864))}"  # unknown in a root without /proc
  if read -r limit 2>/dev/null </sys/fs/cgroup/memory.max && [ "$limit" != max ]; then
    limit=$((limit / 1024))
    [ "$limit" -ge "$memory_kb" ] || memory_kb=$limit
  fi
  jobs=$((memory_kb / 1572864))
  [ "$jobs" -le "$processors" ] || jobs=$processors
  [ "$jobs" -ge 1 ] || jobs=1
}

make_folder() {
  mkdir -p "$1" 2>/dev/null || true
  [ -w "$1" ] || fail "$PWD/$1 cannot be written by $(id -un)"
}

# build DIR [CMAKE_CHOICE...] : configures and builds $target (all, unless it is set); a folder left by another checkout
# is configured afresh. By Ninja where it is there, which keeps all processors busy to the end.
build() {
  local dir=$1 fresh=() known
  shift
  make_folder "$dir"
  known=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$dir/CMakeCache.txt" 2>/dev/null || true)
  [ -z "$known" ] || [ "$known" = "$(pwd -P)" ] || fresh=(--fresh)
  choose_jobs
  say "configuring in $dir"
  if [ ! -f "$dir/CMakeCache.txt" ] && [ -z "${CMAKE_GENERATOR:-}" ] && command -v ninja >/dev/null; then
    fresh+=(-G Ninja)
  fi
  cmake "${fresh[@]}" -S . -B "$dir" -DCMAKE_BUILD_TYPE=Release "$@" >"$dir/configure.log" 2>&1 || {
    tail -n 20 "$dir/configure.log" >&2
    fail "cmake failed; its output is in $dir/configure.log"
  }
  sed -n 's/^-- Newel: /    /p' "$dir/configure.log"
  say "building with $jobs jobs"
  cmake --build "$dir" --parallel "$jobs" --target "${target:-all}"
}

# list_tests PROGRAM FILTER : the names of test cases, one a line. Catch2 version 2 ends with their number as its status.
list_tests() {
  local names
  names=$("$1" "$2" --list-test-names-only 2>/dev/null || true)
  [ -n "$names" ] || names=$("$1" "$2" --list-tests --verbosity quiet 2>/dev/null || true)  # version 3
  sed 's/[[:space:]]*$//; /^$/d' <<<"$names"
}

# filter_of_names : from names on standard input, one Catch2 filter that fits them and no other test. Catch2 takes
# brackets for tags, commas for more names and stars for anything.
filter_of_names() { sed 's/\\/\\\\/g; s/[],[*]/\\&/g' | paste -s -d ,; }

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit
install_log=build/install.log
make_folder build
