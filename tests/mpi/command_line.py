# SPDX-License-Identifier: Apache-2.0
"""`newel solve` under mpirun. Every x is judged by b - A x, computed here with exact sums.

Usage: command_line.py MPIEXEC NEWEL RANKS
"""

import json
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

MPIEXEC, NEWEL, RANKS = sys.argv[1], os.path.abspath(sys.argv[2]), int(sys.argv[3])
LIMIT = 60  # seconds for a run


def run(arguments, ranks=RANKS, program=NEWEL):
    command = [MPIEXEC, "-n", str(ranks), program, *arguments.split()]
    return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)


def check(holds, what):
    if not holds:
        raise AssertionError(what)


def grid(n, wind=0.0):
    """Five points on n x n, with a wind along a line: {(row, column): value} from 0."""
    a = {}
    for row in range(n * n):
        i, j = row % n, row // n
        a[row, row] = 4.0
        for there, column, value in ((i > 0, row - 1, -1.0 - wind), (i < n - 1, row + 1, -1.0 + wind),
                                     (j > 0, row - n, -1.0), (j < n - 1, row + n, -1.0)):
            if there:
                a[row, column] = value
    return a


def write_matrix(name, n, a):
    with open(name, "w") as file:
        file.write(f"%%MatrixMarket matrix coordinate real general\n{n} {n} {len(a)}\n")
        file.writelines(f"{i + 1} {j + 1} {v!r}\n" for (i, j), v in a.items())


def write_columns(name, columns):
    with open(name, "w") as file:
        file.write(f"%%MatrixMarket matrix array real general\n{len(columns[0])} {len(columns)}\n")
        file.writelines(f"{v!r}\n" for column in columns for v in column)


def read_columns(text):
    lines = [line for line in text.splitlines() if not line.startswith("%")]
    rows, columns = map(int, lines[0].split())
    values = list(map(float, lines[1:]))
    check(len(values) == rows * columns, "values of x")
    return [values[c * rows:(c + 1) * rows] for c in range(columns)]


def residual(a, x, b):
    """|b - A x| / |b|."""
    rows = [[] for _ in b]
    for (i, j), v in a.items():
        rows[i].append(-v * x[j])
    r = [math.fsum([*terms, value]) for terms, value in zip(rows, b)]
    return math.hypot(*r) / math.hypot(*b)


def vector(n, seed):
    return [math.sin(seed + 1.7 * i) for i in range(n)]


def content(name):
    with open(name) as file:
        return file.read()


def solves():
    """Solvers, columns, a guess, single precision: x, texts and reports."""
    n = 11
    b = [vector(n * n, seed) for seed in (1, 2, 3)]
    write_columns("b.mtx", b)
    write_columns("b1.mtx", b[:1])
    write_matrix("spd.mtx", n * n, grid(n))
    write_matrix("wind.mtx", n * n, grid(n, 0.5))
    for matrix, options, tolerance in (("spd", "", 1e-8), ("spd", "--solver cg --precond none --rtol 1e-11", 1e-11),
                                       ("wind", "", 1e-8), ("wind", "--solver gmres --restart 20", 1e-8),
                                       ("wind", "--solver bicgstab --precond jacobi", 1e-8),
                                       ("spd", "--precision single", 2e-5), ("spd", "--rhs b.mtx", 1e-8)):
        a = grid(n, 0.5 if matrix == "wind" else 0.0)
        right = b if "--rhs" in options else b[:1]
        if "--rhs" not in options:
            options += " --rhs b1.mtx"
        files = "--out x.mtx --report r.json --history h.csv"
        first = run(f"solve {matrix}.mtx {options} {files}")
        check(first.returncode == 0, f"{options}: {first}")
        x, report = content("x.mtx"), json.loads(content("r.json"))
        for column, values in zip(right, read_columns(x)):
            found = residual(a, values, column)
            check(found <= 1.01 * tolerance, f"{matrix} {options}: the residual is {found}")
        check(report["converged"] and report["ranks"] == RANKS and report["rows"] == n * n, str(report))
        check(report["nonzeros"] == len(a) and report["format"] == "csr", str(report))
        check(len(content("h.csv").splitlines()) > 2, "the history")
        for label in ("  matrix  ", "  seconds ", "  written "):
            check(first.stdout.count("\n" + label) + first.stdout.startswith(label) == 1, first.stdout)
        check(("processes under MPI" in first.stdout) == (RANKS > 1), first.stdout)
        run(f"solve {matrix}.mtx {options} {files}")
        check(content("x.mtx") == x, f"{options}: other bits in a second run")
    done = run("solve spd.mtx --rhs b1.mtx --guess x.mtx --out - --quiet")
    check(done.returncode == 2 and "--guess x.mtx: expected 1 column" in done.stderr, str(done))
    run("solve spd.mtx --rhs b1.mtx --out x.mtx --quiet")
    done = run("solve spd.mtx --rhs b1.mtx --guess x.mtx --out - --report r.json --quiet")
    check(done.returncode == 0 and json.loads(content("r.json"))["iterations"] == 0, str(done))
    check(residual(grid(n), read_columns(done.stdout)[0], b[0]) <= 1.01e-8, "x on standard output")


def generated():
    """Systems that are generated, a known solution, and a singular one."""
    done = run("solve generate:elasticity:5 --rtol 1e-10 --report r.json")
    report = json.loads(content("r.json"))
    check(done.returncode == 0 and report["solution_error"] < 1e-7, str(done))
    one = RANKS == 1
    for system, vectors in (("generate:elasticity:13", 6), ("generate:diffusion:18", 1)):
        iterations = []
        for ranks in (1, RANKS):
            done = run(f"solve {system} --rhs A*random --solver cg --precond amg --out x{ranks}.mtx --report r.json", ranks)
            report = json.loads(content("r.json"))
            check(done.returncode == 0 and report["solution_error"] < 1e-6, str(done))
            check(one or ranks == 1 or "on ranks" in done.stdout, done.stdout)
            check(vectors == 1 or "6 rigid body modes" in done.stdout, done.stdout)
            iterations.append(report["iterations"])
        check(iterations[1] <= 1.2 * iterations[0] + 1, f"{system}: {iterations} iterations")
        x = content(f"x{RANKS}.mtx")
        run(f"solve {system} --rhs A*random --solver cg --precond amg --out x{RANKS}.mtx --quiet")
        check(content(f"x{RANKS}.mtx") == x, f"{system}: other bits in a second run")
    sizes = []
    for ranks in (1, RANKS):  # several ranks generate their own rows, one the whole
        done = run("solve generate:convection:9:80 --rhs A*ones --rtol 1e-10 --out x.mtx --report r.json", ranks)
        report = json.loads(content("r.json"))
        check(done.returncode == 0 and report["solution_error"] < 1e-7, str(done))
        check(max(abs(value - 1) for value in read_columns(content("x.mtx"))[0]) < 1e-6, "x")
        sizes.append((report["rows"], report["nonzeros"], report["rhs_norm"]))
    check(sizes[0][:2] == sizes[1][:2] and abs(sizes[0][2] / sizes[1][2] - 1) < 1e-12, str(sizes))
    n = 30
    line = {(i, j): (-1.0 if i != j else 1.0 if i in (0, n - 1) else 2.0)
            for i in range(n) for j in (i - 1, i, i + 1) if 0 <= j < n}
    write_matrix("line.mtx", n, line)
    done = run("solve line.mtx --rhs A*random:4 --null-space constant --out x.mtx --report r.json")
    report = json.loads(content("r.json"))
    check(done.returncode == 0 and report["solution_error"] < 1e-5, str(done))
    check(abs(math.fsum(read_columns(content("x.mtx"))[0])) < 1e-8, "the mean of x")


def endings():
    """Status 1 with a report; what is refused or fails is reported once."""
    done = run("solve spd.mtx --rhs b1.mtx --max-iterations 3 --out x.mtx --report r.json")
    check(done.returncode == 1 and "not converged (max_iterations) after 3 iterations" in done.stdout, str(done))
    check(json.loads(content("r.json"))["status"] == "max_iterations", "the report")
    done = run("solve generate:diffusion:9 --time-limit 1e-9 --report r.json")
    check(done.returncode == 1 and json.loads(content("r.json"))["status"] == "time_limit", str(done))
    broken = grid(11)
    broken[120, 120] = 0.0
    write_matrix("broken.mtx", 121, broken)
    several = (("solve spd.mtx --device cuda:1", "--device cuda:1 is not possible on several ranks"),
               ("solve spd.mtx --gpus 2", "--gpus is not possible on several ranks"),
               ("solve spd.mtx --explain", "--explain is not possible on several ranks"),
               ("solve spd.mtx --plan-cache .", "--plan-cache is not possible on several ranks"),
               ("solve spd.mtx --format ehyb", 'the format "ehyb" needs the whole matrix'),
               ("solve spd.mtx --precision mixed --precond jacobi", "mixed precision needs the whole matrix"),
               ("solve absent.mtx", "rank 0: cannot open absent.mtx"),
               ("solve broken.mtx --solver cg --precond jacobi", "found zero or none in row 121"))
    always = (("solve spd.mtx --solver jump", "jump"), ("solve", "expected a matrix"), ("jump", "jump"))
    for line, words in (several if RANKS > 1 else ()) + always:
        done = run(line)
        told = [text for text in done.stderr.splitlines() if text.startswith("newel: ")]
        # What all ranks find, the first of them reports.
        check(done.returncode == 2 and len(told) == 1 and words in told[0], f"{line}: {done}")
    if RANKS > 1:
        on_gpus(done=run("solve spd.mtx --rhs b1.mtx --device cuda --out x.mtx --report r.json"))
    done = run("info spd.mtx")
    check(done.returncode == 0 and done.stdout.count("\n  non-zeros") <= 1 and done.stdout, str(done))
    check(run("--version").stdout.count("newel ") == 1, "the version")


def on_gpus(done):
    """A solve with --device cuda: x and the report, or the one error that there is no GPU."""
    if done.returncode == 3:
        told = [text for text in done.stderr.splitlines() if text.startswith("newel: ")]
        check(len(told) == 1 and ("no CUDA device is available to rank 0" in told[0] or "without CUDA" in told[0]), str(done))
        print("skipped: no GPU: newel solve --device cuda under mpirun")
        return
    report = json.loads(content("r.json"))
    check(done.returncode == 0 and report["ranks"] == RANKS and report["link"], str(done))
    check(sum(report["rank_rows"]) == 121 and len(report["rank_rows"]) == RANKS, str(report))
    check(residual(grid(11), read_columns(content("x.mtx"))[0], vector(121, 1)) <= 1.01e-8, "x from the GPUs")


def without_library():
    """A program that does not find libnewel_mpi_c runs alone, and names the library under mpirun."""
    os.mkdir("bin")
    shutil.copy(NEWEL, "bin/newel")
    program = os.path.abspath("bin/newel")
    shared = any(name.startswith("libnewel.so") for name in os.listdir(os.path.join(os.path.dirname(NEWEL), "../lib")))
    if shared:
        return
    done = subprocess.run([program, "solve", "spd.mtx", "--quiet"], timeout=LIMIT, check=False)
    check(done.returncode == 0, "alone")
    done = run("solve spd.mtx", program=program)
    told = [text for text in done.stderr.splitlines() if text.startswith("newel: ")]
    check(done.returncode == 2 and len(told) == 1 and "libnewel_mpi_c.so.1" in told[0], str(done))


def other_launcher():
    """A launcher of another MPI than the library's: each process would see itself alone."""
    for rank, status in (("0", 2), ("1", 0)):
        done = subprocess.run([NEWEL, "solve", "spd.mtx"], capture_output=True, text=True, timeout=LIMIT, check=False,
                              env={**os.environ, "PMI_SIZE": "2", "PMI_RANK": rank})
        told = "sees 1: start them with the launcher of that MPI" in done.stderr
        check(done.returncode == status and told == (rank == "0"), str(done))


def children_of(process):
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            fields = content(f"/proc/{name}/stat").rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[1]) == process:
            found.append(int(name))
    return found


def interrupted():
    """A signal to one process stops the solve of all, and the report is written."""
    command = [MPIEXEC, "-n", str(RANKS), NEWEL, "solve", "generate:elasticity:40", "--precond", "jacobi", "--rtol", "1e-13",
               "--report", "r.json"]  # which takes some seconds
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as launcher:
        for line in launcher.stdout:
            if line.startswith("  solver "):
                break
        os.kill(children_of(launcher.pid)[-1], signal.SIGTERM)
        rest = launcher.stdout.read()
        status = launcher.wait(timeout=LIMIT)
    check(status == 1 and "not converged (stopped_by_caller)" in rest, f"{status}: {rest}")
    check(json.loads(content("r.json"))["status"] == "stopped_by_caller", "the report")


def is_alive(process):
    """Whether it runs; a zombie, which nobody has asked for its status, does not."""
    try:
        return content(f"/proc/{process}/stat").rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def killed():
    """A process that dies ends the others within 10 s."""
    command = [MPIEXEC, "-n", str(RANKS), NEWEL, "solve", "generate:elasticity:40", "--rtol", "1e-13", "--quiet"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as launcher:
        deadline = time.monotonic() + LIMIT
        while len(children_of(launcher.pid)) < RANKS and time.monotonic() < deadline:
            time.sleep(0.1)
        time.sleep(2)  # into the solve
        ranks = children_of(launcher.pid)
        check(len(ranks) == RANKS, f"the children of the launcher are {ranks}")
        os.kill(ranks[-1], signal.SIGKILL)
        try:
            status = launcher.wait(timeout=10)
        except subprocess.TimeoutExpired:
            launcher.kill()
            raise
    check(status != 0, "the launcher ended with 0")
    deadline = time.monotonic() + 10
    while any(map(is_alive, ranks)) and time.monotonic() < deadline:
        time.sleep(0.1)
    check(not any(map(is_alive, ranks)), f"of {ranks} some are still there")


def main():
    home = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        solves()
        generated()
        endings()
        if RANKS == 1:
            environment = [name for name in os.environ if name.startswith(("OMPI_COMM", "PMI", "SLURM"))]
            if not environment:  # the test itself has no launcher
                other_launcher()
        if RANKS > 1:
            without_library()
            interrupted()
            killed()
        os.chdir(home)
    print(f"{RANKS} ranks: ok")


main()
