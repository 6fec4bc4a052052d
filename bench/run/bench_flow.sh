#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures what the defaults cost against the best fixed choice on the fifteen systems of flow_systems.py, and writes
# docs/results/regret_NAME.json, NAME flow by default. Arguments are options of `newel bench regret`. Before that it
# prints the seconds of SciPy's spsolve for each system of 10,000 rows or more. The right-hand side is A times random
# numbers, since some A are singular.
#   ./bench/run/bench_flow.sh --device=host
#   NAME=flow_h200 SCALE=2 ./bench/run/bench_flow.sh --device=cuda
#   PYTHON   the interpreter with scikit-fem, python3 by default
#   SCALE    see flow_systems.py
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
systems=build/flow_systems
"${PYTHON:-python3}" bench/run/flow_systems.py "$systems" --scale "${SCALE:-1}" --spsolve
export NAME=${NAME:-flow} SYSTEMS=
exec ./bench/run/bench_regret.sh --solvers=minres,bicgstab,gmres,fgmres --preconds=jacobi,l1-jacobi,amg,ilut,spai,saddle \
  --formats=csr --rhs='A*random:1' --loop=40 --repeats=2 "$@" "$systems"/*.npz
