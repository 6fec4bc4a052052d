#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the Python package with CUDA and packs what a machine with a GPU needs to test it: neither a checkout, nor pip,
# nor a compiler; Python of the same version with NumPy and SciPy, and CuPy and PyTorch, of which what is missing is
# left out of the tests. .stage/python_device.tar.xz then holds
#   python_device/site     Newel, pytest and Hypothesis with what they need
#   python_device/tests    python/tests without those that need a checkout
#   python_device/data     the matrices of docs/results/python_host.json, where NEWEL_TEST_DATA names a folder of them
#   python_device/run.sh   which runs the tests; its arguments are passed to pytest. NEWEL_BENCH=1 measures afterwards, by
#                          python_device/bench_python.py, what calls cost, and solves beside CuPy's where data/ is there,
#                          by python_device/profile_python_call.py where the time of a call goes, by
#                          python_device/bench_gradients.py what derivatives cost, and by python_device/bench_eigsh.py
#                          eigenpairs beside SciPy's. Results lie in OUT, the folder python_device by default
#   python_device/commit   what was built; "-changed" is appended where files differ from it
# On the other machine: tar xJf python_device.tar.xz && python_device/run.sh
#   scripts/stage_python_device.sh [CMAKE_CHOICE...]      for example -DCMAKE_CUDA_ARCHITECTURES=90
#   PYTHON       the interpreter to build for, python3.12 by default
#   JAXLIB       the jaxlib of the other machine, for the package newel-jax: "jaxlib==0.7.2", say; by default the newest.
#                Without network it is left out, and so are its tests
#   HAS_PYTEST   if set, the other machine has pytest and Hypothesis, which are left out then
set -euo pipefail
# shellcheck source=scripts/setup_common.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup_common.sh"

python=${PYTHON:-python3.12}
build=build/python_device
stage=.stage/python_device
command -v "$python" >/dev/null || fail "no $python: set PYTHON to an interpreter of the other machine's version"
choose_jobs
make_folder "$build"
[ -x "$build/venv/bin/python" ] || "$python" -m venv "$build/venv"
rm -rf "$stage"
make_folder "$stage/site"

say "building the package for $("$build/venv/bin/python" --version)"
export CXX=${CXX:-c++} CMAKE_BUILD_PARALLEL_LEVEL=$jobs CCACHE_BASEDIR=${CCACHE_BASEDIR:-$PWD}
choices=(--config-settings=cmake.define.NEWEL_CUDA=ON)
for choice in "$@"; do choices+=("--config-settings=cmake.define.${choice#-D}"); done
pip=("$build/venv/bin/python" -m pip --disable-pip-version-check -q)
rm -rf "$build/wheels"
"${pip[@]}" wheel . --no-deps -w "$build/wheels" --config-settings=build-dir="$build" "${choices[@]}" >"$build/pip.log" 2>&1 || {
  tail -n 30 "$build/pip.log" >&2
  fail "pip failed; its output is in $build/pip.log"
}
[ -n "${HAS_PYTEST:-}" ] ||
  "${pip[@]}" download --only-binary :all: -d "$build/wheels" "pytest>=7" "hypothesis>=6" >>"$build/pip.log" 2>&1 ||
  fail "pip could not download pytest and hypothesis; its output is in $build/pip.log"
"${pip[@]}" download --no-deps --only-binary :all: -d "$build/wheels" scikit-fem >>"$build/pip.log" 2>&1 ||
  say "without scikit-fem, which bench_eigsh.py needs; pip's output is in $build/pip.log"
{
  "${pip[@]}" install --only-binary :all: "${JAXLIB:-jaxlib}" nanobind scikit-build-core cmake ninja &&
    "${pip[@]}" wheel ./python/jax --no-deps --no-build-isolation -w "$build/wheels"
} >>"$build/pip.log" 2>&1 || say "without newel-jax; pip's output is in $build/pip.log"
for wheel in "$build/wheels"/*.whl; do "$build/venv/bin/python" -m zipfile -e "$wheel" "$stage/site"; done

mkdir -p "$stage/tests"
cp python/tests/*.py docs/python.md "$stage/tests"
cp bench/run/{bench_python,bench_gradients,bench_eigsh,profile_python_call,measured}.py bench/compact_results.py scripts/reports.py "$stage"
rm "$stage"/tests/test_{docs,finite_elements,topology}.py
printf '[pytest]\nmarkers =\n  device: needs a CUDA device\n' >"$stage/tests/pytest.ini"
if [ -n "${NEWEL_TEST_DATA:-}" ]; then
  mkdir -p "$stage/data/matrices"
  "$build/venv/bin/python" - docs/results/python_host.json "$NEWEL_TEST_DATA/matrices" "$stage/data/matrices" <<'PROGRAM'
import gzip, json, pathlib, sys
results, source, to = map(pathlib.Path, sys.argv[1:])
for name in json.loads(results.read_text())["systems"]:  # unpacked, because xz packs all of them better
    (path,) = source.glob(name + ".mtx*")
    text = path.read_bytes()
    (to / (name + ".mtx")).write_bytes(gzip.decompress(text) if path.suffix == ".gz" else text)
PROGRAM
fi
cat >"$stage/run.sh" <<'SCRIPT'
#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the tests of the Python package that lies beside this file; packed by scripts/stage_python_device.sh.
# Arguments are passed to pytest, for example: ./run.sh -k streams    PYTHON names the interpreter, python3 by default.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
python=$(command -v "${PYTHON:-python3}")
out=${OUT:-$PWD}
export PYTHONPATH=$PWD/site${PYTHONPATH:+:$PYTHONPATH} PYTHONDONTWRITEBYTECODE=1
export PYTEST_DISABLE_PLUGIN_AUTOLOAD=1  # those of the machine may want another pytest
echo "commit $(cat commit)"
"$python" - <<'PROGRAM'
import importlib, sys
print("Python", sys.version.split()[0])
for name in ("newel", "numpy", "scipy", "cupy", "torch", "jax", "lineax", "newel.jax"):
    try:
        print(name, getattr(importlib.import_module(name), "__version__", "is there"))
    except ImportError as error:
        print(name, "is not there:", error)
import newel
print("devices:", ", ".join(newel.devices()) or "none")
PROGRAM
status=0
"$python" -m pytest -c tests/pytest.ini --rootdir tests -p no:cacheprovider -q -rs --junitxml="$out/python_device.xml" \
  --durations=5 tests "$@" || status=$?
if [ -n "${NEWEL_BENCH:-}" ]; then
  folder=()
  [ ! -d data ] || folder=(data)
  "$python" bench_python.py "${folder[@]}" --device --calls 2000 --turns 5 --out "$out/python_device.json" || status=$?
  "$python" profile_python_call.py --out "$out/python_call.json" || status=$?
  "$python" bench_gradients.py --device cuda --json "$out/gradients.json" || status=$?
  "$python" bench_eigsh.py --device cuda --most-rows 110000 --json "$out/eigsh.json" || status=$?
fi
exit "$status"
SCRIPT
chmod +x "$stage/run.sh"
commit=$(git rev-parse HEAD)
[ -z "$(git status --porcelain --untracked-files=no)" ] || commit+=-changed
echo "$commit" >"$stage/commit"
tar -C .stage -c python_device | xz -T0 -6 >.stage/python_device.tar.xz
say "staged $commit in .stage/python_device.tar.xz ($(du -h .stage/python_device.tar.xz | cut -f 1))"
