#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the Python package with CUDA and packs what a machine with a GPU needs to test it: neither a checkout, nor pip,
# nor a compiler; Python of the same version with NumPy and SciPy, and CuPy and PyTorch, of which what is missing is
# left out of the tests. .stage/python_device.tar.gz then holds
#   python_device/wheels   Purlin, pytest and Hypothesis with what they need
#   python_device/tests    python/tests without those that need a checkout
#   python_device/run.sh   which unpacks the wheels beside itself and runs the tests; its arguments are passed to pytest.
#                          PURLIN_OVERHEAD=1 measures afterwards what calls cost, by python_device/bench_python.py
#   python_device/commit   what was built; "-changed" is appended where files differ from it
# On the other machine: tar xzf python_device.tar.gz && python_device/run.sh
#   scripts/stage_python_device.sh [CMAKE_CHOICE...]      for example -DCMAKE_CUDA_ARCHITECTURES=90
#   PYTHON   the interpreter to build for, python3.12 by default
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
make_folder "$stage/wheels"

say "building the package for $("$build/venv/bin/python" --version)"
export CXX=${CXX:-c++} CMAKE_BUILD_PARALLEL_LEVEL=$jobs CCACHE_BASEDIR=${CCACHE_BASEDIR:-$PWD}
choices=(--config-settings=cmake.define.PURLIN_CUDA=ON)
for choice in "$@"; do choices+=("--config-settings=cmake.define.${choice#-D}"); done
pip=("$build/venv/bin/python" -m pip --disable-pip-version-check -q)
"${pip[@]}" wheel . --no-deps -w "$stage/wheels" --config-settings=build-dir="$build/tree" "${choices[@]}" >"$build/pip.log" 2>&1 || {
  tail -n 30 "$build/pip.log" >&2
  fail "pip failed; its output is in $build/pip.log"
}
"${pip[@]}" download --only-binary :all: -d "$stage/wheels" "pytest>=7" "hypothesis>=6" >>"$build/pip.log" 2>&1 ||
  fail "pip could not download pytest and hypothesis; its output is in $build/pip.log"

mkdir -p "$stage/tests"
cp python/tests/*.py docs/python.md "$stage/tests"
cp scripts/bench_python.py scripts/reports.py "$stage"
rm "$stage/tests/test_docs.py"
printf '[pytest]\nmarkers =\n  device: needs a CUDA device\n' >"$stage/tests/pytest.ini"
cat >"$stage/run.sh" <<'SCRIPT'
#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the tests of the Python package that lies beside this file; packed by scripts/stage_python_device.sh.
# Arguments are passed to pytest, for example: ./run.sh -k streams    PYTHON names the interpreter, python3 by default.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
python=$(command -v "${PYTHON:-python3}")
if [ ! -d site ]; then
  for wheel in wheels/*.whl; do "$python" -m zipfile -e "$wheel" site; done
fi
export PYTHONPATH=$PWD/site${PYTHONPATH:+:$PYTHONPATH} PYTHONDONTWRITEBYTECODE=1
export PYTEST_DISABLE_PLUGIN_AUTOLOAD=1  # those of the machine may want another pytest
echo "commit $(cat commit)"
"$python" - <<'PROGRAM'
import importlib, sys
print("Python", sys.version.split()[0])
for name in ("purlin", "numpy", "scipy", "cupy", "torch"):
    try:
        print(name, importlib.import_module(name).__version__)
    except ImportError as error:
        print(name, "is not there:", error)
import purlin
print("devices:", ", ".join(purlin.devices()) or "none")
PROGRAM
status=0
"$python" -m pytest -c tests/pytest.ini --rootdir tests -p no:cacheprovider -q -rs --junitxml=python_device.xml \
  --durations=5 tests "$@" || status=$?
[ -z "${PURLIN_OVERHEAD:-}" ] || "$python" bench_python.py --device --calls 2000 --out python_device.json
exit "$status"
SCRIPT
chmod +x "$stage/run.sh"
commit=$(git rev-parse HEAD)
[ -z "$(git status --porcelain --untracked-files=no)" ] || commit+=-changed
echo "$commit" >"$stage/commit"
tar -C .stage -czf .stage/python_device.tar.gz python_device
say "staged $commit in .stage/python_device.tar.gz ($(du -h .stage/python_device.tar.gz | cut -f 1)):"
ls "$stage/wheels"
