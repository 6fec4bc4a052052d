#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Copies the sources to DEST with the CUDA sources rewritten for a C++ compiler. Lines keep their numbers; files that
have not changed are left alone, so that a second build is incremental. What is not understood ends the run.
TESTS are the names of the files with device cases that are wanted, test_spmv.cpp say; none: all.

    transform.py SOURCE DEST [TESTS...]
"""
import os
import re
import sys

# Loads and stores of spmv's and solver's kernels that are written in PTX.
REGISTER = r'"=?l"\((\w+)\)'
NARROW = r'"=?r"\((\w+)\)'
PTX = [
    (r'"st\.relaxed\.(?:gpu|sys)\.global\.v2\.u64 \[%0\], \{%1, %2\};"\s*::\s*'
     + rf"{REGISTER}, {REGISTER}, {REGISTER}", r"emu::st_v2(\1, \2, \3);"),
    (r'"st\.(?:relaxed|release)\.(?:gpu|sys)\.global\.u64 \[%0\], %1;"\s*::\s*' + rf"{REGISTER}, {REGISTER}", r"emu::st_v1(\1, \2);"),
    (r'"ld\.relaxed\.(?:gpu|sys)\.global\.v2\.u64 \{%0, %1\}, \[%2\];"\s*:\s*'
     + rf"{REGISTER}, {REGISTER}\s*:\s*{REGISTER}", r"emu::ld_v2(\3, \1, \2);"),
    (r'"ld\.(?:relaxed|acquire)\.(?:gpu|sys)\.global\.u64 %0, \[%1\];"\s*:\s*' + rf"{REGISTER}\s*:\s*{REGISTER}",
     r"emu::ld_v1(\2, \1);"),
    (r'"st\.relaxed\.gpu\.global\.u32 \[%0\], %1;"\s*::\s*' + rf"{REGISTER}, {NARROW}", r"emu::st_v1(\1, \2);"),
    (r'"ld\.relaxed\.gpu\.global\.u32 %0, \[%1\];"\s*:\s*' + rf"{NARROW}\s*:\s*{REGISTER}", r"emu::ld_v1(\2, \1);"),
    (r'"red\.release\.gpu\.global\.add\.u64 \[%0\], %1;"\s*::\s*' + rf"{REGISTER}, {REGISTER}",
     r"emu::red_add(\1, \2);"),
    (r'"createpolicy\.fractional\.L2::evict_(?:first|normal)\.b64 %0, 1\.0;"\s*:\s*' + rf"{REGISTER}(?:\s*:)?", r"\1 = 0;"),
    (r'"createpolicy\.fractional\.L2::evict_last\.L2::evict_first\.b64 %0, %1;"\s*:\s*' + rf'{REGISTER} : "f"\(\w+\)',
     r"\1 = 0;"),
    (r'"ld\.global\.L1::no_allocate\.L2::cache_hint\.\w+ %0, \[%1\], %2;"\s*:\s*"=[dfhr]"\((\w+)\) : '
     + rf"{REGISTER}, {REGISTER}", r"\1 = *\2;"),
    (r'"cp\.async\.cg\.shared\.global\.L2::cache_hint \[%0\], \[%1\], 16, %2;"\s*::\s*'
     + rf"{REGISTER}, {REGISTER}, {REGISTER}", r"emu::pipeline_copy(reinterpret_cast<void*>(\1), \2, 16);"),
    (r'"mma\.sync\.aligned\.m8n8k4\.row\.col\.f64\.f64\.f64\.f64 \{%0, %1\}, \{%2\}, \{%3\}, \{%4, %5\};"\s*:\s*'
     r'"=d"\((\w+)\), "=d"\((\w+)\)\s*:\s*"d"\((\w+)\), "d"\((\w+)\), "d"\(0\.0\), "d"\(0\.0\)',
     r"emu::multiply_in_warp(\3, \4, \1, \2);"),
]


def closing(text, i):
    """The position of the parenthesis that closes the first one from i on."""
    depth = 0
    for k in range(i, len(text)):
        depth += {"(": 1, ")": -1}.get(text[k], 0)
        if depth == 0 and text[k] == ")":
            return k
    raise SystemExit("unbalanced parentheses")


def split_arguments(text):
    """At commas outside brackets; of templates only those that stand in our launches are known."""
    parts, depth, begin = [], 0, 0
    for i, c in enumerate(text):
        if c in "([{" or c == "<" and re.search(r"(cast|size_t|min|max|clamp|blocks_for)$", text[:i]):
            depth += 1
        elif c in ")]}" or c == ">" and depth > 0 and text[i - 1] != "-" and text[i + 1:i + 2] == "(":
            depth -= 1
        elif c == "," and depth == 0:
            parts.append(text[begin:i].strip())
            begin = i + 1
    return parts + [text[begin:].strip()]


def rewrite_launches(text):
    """kernel<T><<<grid, block, shared, stream>>>(arguments) becomes a call of emu::launch_kernel."""
    while "<<<" in text:
        opening = text.index("<<<")
        end = begin = len(text[:opening].rstrip())
        if text[begin - 1] == ">":
            depth = 0
            while True:
                begin -= 1
                depth += {">": 1, "<": -1}.get(text[begin], 0)
                if depth == 0:
                    break
        while re.match(r"[\w:]", text[begin - 1]):
            begin -= 1
        kernel = text[begin:end]
        config_end = text.index(">>>", opening)
        config = " ".join(text[opening + 3:config_end].split())
        last = closing(text, config_end)
        arguments = " ".join(text[text.index("(", config_end) + 1:last].split())
        dimensions = split_arguments(config)
        key = "nullptr" if len(dimensions) < 3 or dimensions[2] == "0" else f"emu::key({kernel})"
        name = " ".join(kernel.split())
        call = (f'emu::launch_kernel("{name}", emu::Config({config}), {key}, [=](auto... emu_a) {{ {kernel}(emu_a...); }}'
                + (f", {arguments})" if arguments else ")"))
        lost = text[begin:last + 1].count("\n") - call.count("\n")
        text = text[:begin] + call + "\n" * lost + text[last + 1:]
    return text


def rewrite_bounds(text):
    """__launch_bounds__(n) becomes a check where the kernel begins."""
    done = ""
    while "__launch_bounds__" in text:
        opening = text.index("(", text.index("__launch_bounds__"))
        end = closing(text, opening)
        most = split_arguments(text[opening + 1:end])[0]
        parameters = re.compile(r"\s*\w+\s*\(").match(text, end + 1).end() - 1
        body = text.index("{", closing(text, parameters)) + 1
        done += text[:body] + f" emu::launch_bound({' '.join(most.split())});"
        text = text[body:]
    return done + text


def rewrite_shared(text):
    kind = r"([\w:]+(?: [\w:]+)*)\s+(\w+)"
    sizes = r"(?:\[[^\];]*\])*"
    text = re.sub(rf"extern __shared__\s+(?:__align__\(\d+\)\s*)?{kind}\[\];",
                  r"\1* const \2 = static_cast<\1*>(emu::dynamic_shared());", text)
    # Several of one type on a line, each by itself.
    text = re.sub(rf"__shared__ (\w+) ((?:\w+{sizes}, )+\w+{sizes});",
                  lambda several: " ".join(f"__shared__ {several[1]} {name};" for name in several[2].split(", ")), text)
    return re.sub(rf"__shared__\s+{kind}({sizes});",
                  r"using emu_\2 = \1 \3; static const int emu_id_\2 = emu::new_shared_id(); "
                  r"emu_\2& \2 = emu::shared<emu_\2>(emu_id_\2);", text)


def rewrite_cuda(text, path):
    # Comments keep their words only: they may hold quotes and brackets.
    text = re.sub(r"//[^\n]*", lambda comment: re.sub(r"[<>(){}\"']|__\w+", "", comment[0]), text)
    for pattern, call in PTX:
        text = re.sub(rf'asm volatile\({pattern}(?:\s*:\s*"memory")?\);', call, text)
    # What kernels of other devices write.
    text = re.sub(r"\*static_cast<const volatile (\w+)\*>\((\w+(?:\.\w+)*)\)", r"emu::ld_volatile<\1>(\2)", text)
    text = rewrite_bounds(rewrite_launches(rewrite_shared(text)))
    left = re.findall(r"<<<|\basm\b|__shared__[^\n]*", re.sub(r"//[^\n]*", "", text))
    if left:
        raise SystemExit(f"{path}: not understood: {left}")
    return f'#include <cuda_runtime.h>\n#line 1 "{path}"\n{text}'


def wanted(name, content, tests):
    """Of the tests: only files with device cases, of these those in `tests`, and what they share."""
    if re.search(r"TEST_BOTH|\[device\]", content):
        return not tests or name in tests
    return not re.search(r"^TEST_\w+\(", content, re.M)


def copies(source, tests):
    """Yields (path in DEST, bytes)."""
    for folder, names, files in os.walk(source):
        names[:] = [n for n in names if not n.startswith(".") and not (folder == source and n.startswith("build"))]
        for name in files:
            path = os.path.join(folder, name)
            relative = os.path.relpath(path, source)
            if os.path.islink(path) and not os.path.exists(path):
                continue
            if relative == os.path.join("cmake", "NewelCuda.cmake"):
                path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cmake", "NewelCuda.cmake")
            with open(path, "rb") as file:
                data = file.read()
            if name.endswith((".cu", ".cuh")):
                data = rewrite_cuda(data.decode(), path).encode()
                relative += ".cpp" if name.endswith(".cu") else ""
            elif name == "CMakeLists.txt":  # the new names of the CUDA sources
                data = re.sub(rb"_device\.cu\b", b"_device.cu.cpp", data)
                data = data.replace(rb"_device\\.(cpp|cu)$", b"_device[.](cpp|cu)")
            elif (name.endswith(".cpp") and os.path.dirname(os.path.dirname(relative)) == "tests"
                  and not wanted(name, data.decode(), tests)):
                continue
            yield relative, data


def main():
    source, dest = (os.path.abspath(path) for path in sys.argv[1:3])
    written = set()
    for relative, data in copies(source, sys.argv[3:]):
        path = os.path.join(dest, relative)
        written.add(path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if os.path.exists(path):
            with open(path, "rb") as file:
                if file.read() == data:
                    continue
        with open(path, "wb") as file:
            file.write(data)
    for folder, _, files in os.walk(dest):
        for name in files:
            if os.path.join(folder, name) not in written:
                os.remove(os.path.join(folder, name))


if __name__ == "__main__":
    main()
