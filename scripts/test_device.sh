#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the device tests on a machine with a GPU: plainly, then under compute-sanitizer's memcheck and racecheck.
# Memcheck leaves failed calls to the tests, which provoke some and see all others: every call's status is inspected.
# Racecheck looks at Newel's kernels only: cuSPARSE's own report hazards on shared memory that we cannot fix. It
# takes some 20 ms for every launch that it watches, so loops over all awkward matrices take those few there that reach
# every kernel, and each test case has a process of its own, of which the first launches are watched: what comes after
# them repeats them. NEWEL_TEST_LAUNCHES says how many (default 120). Several such processes share a GPU, for much of the
# work is on the processor; the tests' own threads are few there, so that they do not spin where the tools work.
# CUDA_VISIBLE_DEVICES says which GPUs are used; where it is unset, all are. On two H200 with 32 cores the three steps took
# 1, 5 and 10 minutes for 428 cases, racecheck with 120 launches for a quarter of them and 60 for the others; with 300,
# six that launch a resident solver again and again were not done after 5 minutes each.
#   scripts/test_device.sh [BIN_DIR] [LOG_DIR] [TOOL...]
# BIN_DIR holds newel_tests and newel of a CUDA build (default build/cuda/bin); it may be a copy from another machine.
# TOOL: plain, memcheck, racecheck; default all three. The plain run is needed once, to deal by its durations.
# Called in the folder that scripts/stage_device.sh packed, it finds BIN_DIR beside itself.
# NEWEL_TEST_SECONDS, where set, ends it after so many seconds. A run that was cut off continues where it was: what passed
# clean under a tool, by the logs in LOG_DIR, is not repeated until the tests are built anew or the next plain run.
# What came of the steps whose logs are in LOG_DIR is written to docs/results/device_tests.json, below the folder where
# the script is called, or where NEWEL_TEST_RECORD says: with the date, the commit and the hash of the device sources
# (scripts/device_sources.py), by which a test tells whether they have changed since.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
staged=
[ ! -f "$here/device_sources.txt" ] || staged=$here
bin=${1:-${staged:-build/cuda}/bin}
logs=${2:-$bin}
record=${NEWEL_TEST_RECORD:-docs/results/device_tests.json}
shift $(($# < 2 ? $# : 2))
tools=${*:-plain memcheck racecheck}
mkdir -p "$logs"
export LD_LIBRARY_PATH="$bin:/usr/local/cuda/lib64:${LD_LIBRARY_PATH:-}"
failed=0
ends=$(($(date +%s) + ${NEWEL_TEST_SECONDS:-1000000}))
watched=${NEWEL_TEST_LAUNCHES:-120}

run() {  # name, command...
  local name=$1
  shift
  if "$@" >"$logs/$name.log" 2>&1; then
    echo "passed: $name ($(tail -n 3 "$logs/$name.log" | grep -E 'assertions|ERROR SUMMARY|RACECHECK' | tr '\n' ' '))"
  else
    echo "FAILED ($?): $name; the end of $logs/$name.log:"
    tail -n 25 "$logs/$name.log"
    failed=1
  fi
}

# Deals the tests of the plain run out: for memcheck to files of about the same duration, 28 for each GPU, for racecheck
# one to a file, the longest first. What is cut off has said nothing: both tools report when a process ends.
deal_tests() {
  [ "$logs/memcheck" -nt "$logs/device_tests.log" ] && return
  rm -rf "$logs/memcheck" "$logs/racecheck"
  mkdir -p "$logs/racecheck" "$logs/memcheck"
  # A case has a line for each of its sections, and runs all of them.
  sed -n 's/^\([0-9.]*\) s: /\1 /p' "$logs/device_tests.log" |
    awk '{seconds = $1; sub(/^[0-9.]* /, ""); sum[$0] += seconds} END {for (name in sum) printf "%.3f %s\n", sum[name], name}' |
    sort -rn |
    awk -v to="$logs/" -v parts="$((28 * ${#gpus[@]}))" '{
      least = 1
      for (p = 2; p <= parts; ++p) if (load[p] < load[least]) least = p
      load[least] += $1 + 0.01
      sub(/^[0-9.]* /, ""); gsub(/[][,\\]/, "\\\\&")
      print > sprintf("%smemcheck/%03d", to, least)
      print > sprintf("%sracecheck/%03d", to, NR)}'
}

# A tool on all of its files, by whichever GPU is free, but for those that passed clean since the tests were built.
check_files() {  # tool, processes on a GPU
  export tool=$1 sanitizer bin ends watched
  export all_gpus="${gpus[*]}" processes=$(($2 * ${#gpus[@]}))
  export OMP_NUM_THREADS=2
  export NEWEL_TEST_UNTIMED=1 # a clock says nothing of the device there
  export NEWEL_TEST_ONE_KERNEL=1
  # shellcheck disable=SC2016 # the inner shell expands these
  printf '%s\n' "$logs/$1"/??? | xargs -P "$processes" -L 1 --process-slot-var=slot bash -c '
    log=$1.log
    [ "$log" -nt "$bin/newel_tests" ] && grep -q "SUMMARY: 0 " "$log" && grep -q "^All tests passed" "$log" && exit 0
    left=$((ends - $(date +%s)))
    [ "$left" -gt 0 ] || exit 1
    options=(--tool "$tool" --error-exitcode 9)
    case $tool in
      memcheck) options+=(--report-api-errors no) ;;
      racecheck)
        options+=(--kernel-name kernel_substring=newel --launch-count "$watched"
          --racecheck-num-workers $((1 + $(nproc) / processes)))
        export NEWEL_TEST_FEW_MATRICES=1
        ;;
    esac
    gpus=($all_gpus)
    CUDA_VISIBLE_DEVICES=${gpus[slot % ${#gpus[@]}]} timeout -k 5 "$left" "$sanitizer" "${options[@]}" \
      "$bin/newel_tests" --input-file "$1" -d yes >"$log" 2>&1' check
}

# The examples for a device, as they are or under a tool; each judges its own result.
run_examples() {  # the command before the program
  local program
  for program in "$bin"/0?_*_device; do
    [ ! -x "$program" ] || run "$(basename "$program")${1:+_memcheck}" "$@" "$program"
  done
}

# What a tool has said.
summary() {  # tool
  grep -hE '^(test cases:|assertions:|========= (RACECHECK|ERROR SUMMARY|Error|Warning|Invalid))' \
    "$logs/$1"/*.log | sort | uniq -c
  grep -hoE '\([0-9]+ assertions? in [0-9]+ test cases?\)' "$logs/$1"/*.log | tr -d '(' |
    awk -v tool="$1" '{assertions += $1; cases += $4}
      END {print assertions + 0 " assertions in " cases + 0 " test cases under " tool " passed"}'
  local file
  for file in "$logs/$1"/???; do
    grep -q 'SUMMARY: ' "$file.log" 2>/dev/null || echo "no report of $1 on $(wc -l <"$file") test cases ($file)"
  done
}

# The record of all steps, from their logs.

# reported TOOL : its logs that end with what it found; others were cut off, and what they say of their tests means nothing.
reported() { grep -l 'SUMMARY: ' "$logs/$1"/???.log 2>/dev/null || true; }

# figures LOG... : cases, assertions and failed cases, from Catch2's last lines, as members of a JSON object.
figures() {
  cat "$@" 2>/dev/null | awk '
    match($0, /\([0-9]+ assertions? in [0-9]+ test cases?\)/) {
      split(substr($0, RSTART + 1), word, " "); assertions += word[1]; cases += word[4]
    }
    /^test cases:/ {cases += $3; for (i = 4; i < NF; ++i) if ($(i + 1) == "failed") failures += $i}
    /^assertions:/ {assertions += $2}
    END {printf "\"cases\": %d, \"assertions\": %d, \"failures\": %d", cases, assertions, failures}'
}

# found TOOL : what a tool reported, and the cases on which it said nothing, because they were cut off or ended early.
found() {
  local file unreported=0
  for file in "$logs/$1"/???; do
    grep -q 'SUMMARY: ' "$file.log" 2>/dev/null || unreported=$((unreported + $(wc -l <"$file")))
  done
  cat "$logs/$1"/???.log 2>/dev/null | awk -v name="$2" -v unreported="$unreported" '
    /SUMMARY: [0-9]+ (error|hazard)/ {sub(/.*SUMMARY: /, ""); found += $1}
    END {printf ", \"%s\": %d, \"unreported_cases\": %d", name, found, unreported}'
}

# shellcheck disable=SC2046 # names of logs, without blanks
write_record() {
  local sources commit device cuda driver steps=()
  if [ -n "$staged" ]; then
    sources=$(cat "$staged/device_sources.txt") commit=$(cat "$staged/commit")
  else
    sources=$("$here/device_sources.py") && commit=$(git -C "$here" rev-parse HEAD) || return 1
    [ -z "$(git -C "$here" status --porcelain --untracked-files=no)" ] || commit+=-changed
  fi
  device=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -n 1)
  driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | head -n 1)
  cuda=$("$bin/newel" --version 2>/dev/null | sed -n 's/^CUDA toolkit \([^,]*\).*/\1/p')
  [ ! "$logs/device_tests.log" -nt "$bin/newel_tests" ] || steps+=("\"plain\": {$(figures "$logs/device_tests.log")}")
  [ ! "$logs/memcheck" -nt "$bin/newel_tests" ] || [ -z "$(ls "$logs/memcheck"/*.log 2>/dev/null)" ] ||
    steps+=("\"memcheck\": {$(figures /dev/null $(reported memcheck))$(found memcheck errors)}")
  [ ! "$logs/racecheck" -nt "$bin/newel_tests" ] || [ -z "$(ls "$logs/racecheck"/*.log 2>/dev/null)" ] ||
    steps+=("\"racecheck\": {$(figures /dev/null $(reported racecheck))$(found racecheck hazards), \"launches_watched\": $watched}")
  mkdir -p "$(dirname "$record")"
  {
    printf '{\n  "schema": 1,\n  "program": "scripts/test_device.sh",\n  "date": "%s",\n  "commit": "%s",\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$commit"
    printf '  "device": "%s",\n  "devices": %d,\n  "driver": "%s",\n  "cuda": "%s",\n' \
      "$device" "${#gpus[@]}" "$driver" "$cuda"
    printf '  "steps": {\n'
    local i
    for i in "${!steps[@]}"; do
      printf '    %s%s\n' "${steps[i]}" "$([ "$i" -eq $((${#steps[@]} - 1)) ] || echo ,)"
    done
    printf '  },\n  "source_hash": "%s",\n' "$(printf '%s\n' "$sources" | sha256sum | cut -d ' ' -f 1)"
    printf '  "sources": {\n'
    awk '{printf "%s    \"%s\": \"%s\"", NR == 1 ? "" : ",\n", $2, $1} END {print ""}' <<<"$sources"
    printf '  }\n}\n'
  } >"$record"
  echo "written: $record"
}

IFS=', ' read -r -a gpus <<<"${CUDA_VISIBLE_DEVICES:-$(nvidia-smi --query-gpu=index --format=csv,noheader 2>/dev/null | tr '\n' ' ')}"
[ ${#gpus[@]} -ge 1 ] || gpus=(0)
checks=()
for tool in $tools; do
  case $tool in
    plain)
      run device_tests "$bin/newel_tests" "[device]" -d yes
      run_examples
      ;;
    memcheck | racecheck) checks+=("$tool") ;;
    *) echo "unknown tool $tool: plain, memcheck, racecheck" && exit 2 ;;
  esac
done
if [ ${#checks[@]} -gt 0 ]; then
  sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
  if [ -x "$sanitizer" ]; then
    deal_tests
    # Much of the work is the processor's; a few of its cores are left for the rest.
    processes_of_gpu=$(($(nproc) * 7 / 8 / ${#gpus[@]}))
    [ "$processes_of_gpu" -ge 8 ] || processes_of_gpu=8
    for tool in "${checks[@]}"; do
      run "$tool" check_files "$tool" "$processes_of_gpu"
      summary "$tool"
      [ "$tool" = racecheck ] || run_examples "$sanitizer" --tool memcheck --error-exitcode 9 --report-api-errors no
    done
  else
    echo "compute-sanitizer was not found: ${checks[*]} not run"
    failed=1
  fi
fi
write_record || failed=1
exit $failed
