#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Applies wrong changes of arithmetic and logic, one at a time, and checks whether the tests fail: what no test
# catches, no test covers. The changes are listed in tests/mutations/*.txt; README.md there says how one is written.
# They are planted in a copy of the last commit (a git worktree in build/mutation/, kept for the next run), never in
# this folder.
#   scripts/mutate.sh [--list] [--check] [--all-tests] [PATTERN...]
# PATTERN is a regular expression: only changes whose "FOLDER: NAME" fits one of them. --all-tests runs all host tests on
# each change instead of those that are named beside it. --check only sees whether every change applies to this folder as
# it is. Exit status: 0 where every change was caught, 1 where one was not, 2 where a change no longer applies or does not
# compile, or where a test fails without any change.
# NEWEL_TEST_DATA names the folder of real matrices, which a few of the tests need; NEWEL_MUTATION_FOLDER another folder
# for the copy, so that two runs do not meet.
set -euo pipefail
# shellcheck source=scripts/setup_common.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup_common.sh"

only_list=0
only_check=0
all_tests=0
patterns=()
for argument in "$@"; do
  case $argument in
    --list) only_list=1 ;;
    --check) only_check=1 ;;
    --all-tests) all_tests=1 ;;
    -*) fail "unknown option $argument" ;;
    *) patterns+=("$argument") ;;
  esac
done

# Reads the lists into one element of each array per change.
names=() files=() filters=() olds=() news=()
add_change() {
  [ -n "$name" ] || return 0
  [ -n "$file" ] || fail "$list: '$name' lacks its file"
  [ -n "$filter" ] || fail "$list: '$name' lacks its tests"
  [ -n "$old" ] || fail "$list: '$name' lacks its old text"
  names+=("$name") files+=("$file") filters+=("$filter") olds+=("$old") news+=("$new")
}
read_list() {
  list=$1
  local line folder
  folder=$(basename "$list" .txt)
  name='' file='' filter='' old='' new=''
  while IFS= read -r line; do
    case $line in
      '' | '#'*) ;;
      '= '*)
        add_change
        name="$folder: ${line#= }" old='' new=''
        ;;
      'file '*) file=${line#file } ;;
      'tests '*) filter=${line#tests } ;;
      'systems '*) filter=$line ;;
      '- '*) old+=${old:+$'\n'}${line#- } ;;
      '+ '*) new+=${new:+$'\n'}${line#+ } ;;
      *) fail "$list: not understood: $line" ;;
    esac
  done <"$list"
  add_change
}
for list in tests/mutations/*.txt; do read_list "$list"; done

wanted() {
  [ ${#patterns[@]} -eq 0 ] && return 0
  local pattern
  for pattern in "${patterns[@]}"; do
    if [[ $1 =~ $pattern ]]; then return 0; fi
  done
  return 1
}
chosen=()
for i in "${!names[@]}"; do
  if wanted "${names[i]}"; then chosen+=("$i"); fi
done
[ ${#chosen[@]} -gt 0 ] || fail "no change fits ${patterns[*]}"
if [ $only_list = 1 ]; then
  for i in "${chosen[@]}"; do printf '%s (%s)\n' "${names[i]}" "${files[i]}"; done
  exit 0
fi

# plant NAME FILE OLD NEW... : puts NEW in the place of OLD in each file of $copy, where it must stand once; --check as NEW
# changes nothing. Prints what does not apply.
plant() {
  python3 - "$copy" "$@" <<'PY'
import sys
root, changes = sys.argv[1], sys.argv[2:]
stale = 0
for name, path, old, new in zip(*[iter(changes)] * 4):
    try:
        with open(f"{root}/{path}", encoding="utf-8") as file:
            text = file.read()
    except OSError:
        text = ""
    if text.count(old) != 1:
        print(f"no longer applies: {name}: its text stands {text.count(old)} times in {path}, expected once")
        stale = 2
    elif new != "--check":
        with open(f"{root}/{path}", "w", encoding="utf-8") as file:
            file.write(text.replace(old, new))
sys.exit(stale)
PY
}

checks=()
for i in "${chosen[@]}"; do checks+=("${names[i]}" "${files[i]}" "${olds[i]}" --check); done
if [ $only_check = 1 ]; then
  copy=$PWD
  plant "${checks[@]}" || exit 2
  say "${#chosen[@]} changes apply"
  exit 0
fi

copy=${NEWEL_MUTATION_FOLDER:-$PWD/build/mutation}
log=$copy.log
if [ -e "$copy/.git" ]; then
  git -C "$copy" checkout -q --force --detach "$(git rev-parse HEAD)"
else
  git worktree prune
  git worktree add -q --detach "$copy" HEAD
fi
say "planting ${#chosen[@]} changes in $copy ($(git -C "$copy" rev-parse --short HEAD)), log in $log"

# Every change must apply before the first one is tried.
plant "${checks[@]}" || exit 2

# One build tree; a shared library, so that a change in it links nothing but itself.
export CCACHE_BASEDIR=$copy CCACHE_NOHASHDIR=1
tree=$copy/build/mutate
choose_jobs
generator=()
if command -v ninja >/dev/null; then generator=(-G Ninja); fi
targets=()
for i in "${chosen[@]}"; do
  target=newel_tests
  [[ ${filters[i]} != "systems "* ]] || target=newel_drive_cpp
  [[ " ${targets[*]} " == *" $target "* ]] || targets+=("$target")
done
make_tests() { cmake --build "$tree" --parallel "$jobs" --target "${targets[@]}" >"$log" 2>&1; }
cmake "${generator[@]}" -S "$copy" -B "$tree" -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=ON -DNEWEL_CUDA=OFF \
  -DNEWEL_BUILD_BENCHMARKS=OFF -DNEWEL_INSTALL=OFF -DCMAKE_LINK_DEPENDS_NO_SHARED=ON >"$log" 2>&1 ||
  fail "cmake failed; its output is in $log"
say "building the tests without a change (long at first)"
make_tests || fail "the build failed; its output is in $log"

# Fails with the first test that fails, and where one crashes or hangs. With "few" loops over all matrices take a few.
# "systems N" judges N random systems instead.
run_tests() {
  if [[ $1 == "systems "* ]]; then
    timeout -k 5 "${NEWEL_MUTATION_SECONDS:-300}" python3 "$copy/scripts/check_statements.py" --build "$tree" \
      --interfaces cpp --systems "${1#systems }" >"$log" 2>&1
    return
  fi
  local few=()
  [ "${2:-}" != few ] || few=(NEWEL_TEST_FEW_MATRICES=1)
  (env "${few[@]}" timeout -k 5 "${NEWEL_MUTATION_SECONDS:-300}" "$tree/bin/newel_tests" "$1" --abort \
    >"$log" 2>&1 </dev/null) 2>/dev/null
}
filter_of() {
  if [ $all_tests = 1 ] && [[ ${filters[$1]} != "systems "* ]]; then echo '~[device]'; else echo "${filters[$1]}"; fi
}

all=
systems=0
for i in "${chosen[@]}"; do
  filter=$(filter_of "$i")
  if [[ $filter == "systems "* ]]; then
    if [ "${filter#systems }" -gt $systems ]; then systems=${filter#systems }; fi
    continue
  fi
  [[ ,$all, == *",$filter,"* ]] || all+=${all:+,}$filter
done
check_without_change() {
  say "running the tests without a change${1:+, on a few matrices}"
  if { [ -n "$all" ] && ! run_tests "$all" "$@"; } || { [ $systems -gt 0 ] && ! run_tests "systems $systems"; }; then
    tail -n 30 "$log"
    fail "without a change a test fails; the output is in $log"
  fi
  if grep 'No test cases matched' "$log"; then fail "a list names tests that do not exist"; fi
}
check_without_change few

caught=0
by_all=0
missed=()
broken=()
trap 'git -C "$copy" checkout -q --force -- . || true' EXIT
for i in "${chosen[@]}"; do
  began=$SECONDS
  plant "${names[i]}" "${files[i]}" "${olds[i]}" "${news[i]}"
  if ! make_tests; then
    echo "does not compile: ${names[i]}"
    grep -m 3 'error' "$log" || true
    broken+=("${names[i]}")
  elif run_tests "$(filter_of "$i")" few && by_all=1 && run_tests "$(filter_of "$i")"; then
    echo "NOT caught: ${names[i]} (${files[i]}; $((SECONDS - began)) s)"
    missed+=("${names[i]}")
  else
    echo "caught: ${names[i]} ($((SECONDS - began)) s)"
    caught=$((caught + 1))
  fi
  git -C "$copy" checkout -q --force -- "${files[i]}"
done

if [ $by_all = 1 ]; then make_tests && check_without_change; fi
say "${#chosen[@]} planted, $caught caught, ${#missed[@]} not caught, ${#broken[@]} did not compile"
[ ${#broken[@]} -eq 0 ] || exit 2
[ ${#missed[@]} -eq 0 ]
