#!/usr/bin/env python3
# package_test.py - Goal: the lock library is a product by itself. Method: installs it, and builds against the copy.
# SPDX-License-Identifier: MIT
"""usage: package_test.py install FOLDER
       package_test.py example FOLDER COMPILER
       package_test.py headers FOLDER COMPILER

install   configures the lock library alone, with every package of the rest of Convoy hidden, and installs it to FOLDER.
example   builds the example of locks/README.md as a project of its own against that copy, and runs it; README.md shows
          the same example.
headers   compiles each installed header by itself.
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLE_SAYS = re.compile(r"6000000 in the till; \d+ times somebody had to wait for it\n")


def run(*command, **options):
    print("+", *command, flush=True)
    return subprocess.run([str(word) for word in command], check=True, **options)


def code_block(text, language):
    """The first block of that language in a README."""
    return re.search(rf"^```{language}\n(.*?)^```", text, re.M | re.S).group(1)


def install(folder):
    listing = (ROOT / "CMakeLists.txt").read_text() + (ROOT / "cmake/llhttp.cmake").read_text()
    packages = set(re.findall(r"find_package\(([\w-]+)", listing)) - {"Threads"}
    assert len(packages) > 5, packages
    hidden = [f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in packages]
    run("cmake", "-S", ROOT, "-B", folder / "build", "-DCONVOY_LOCKS_ONLY=ON", f"-DCMAKE_INSTALL_PREFIX={folder / 'prefix'}", *hidden)
    run("cmake", "-E", "rm", "-rf", folder / "prefix")
    run("cmake", "--install", folder / "build")


def example(folder, compiler):
    readme = (ROOT / "locks/README.md").read_text(encoding="utf-8")
    source = code_block(readme, "cpp")
    if code_block((ROOT / "README.md").read_text(encoding="utf-8"), "cpp") != source:
        sys.exit("README.md and locks/README.md show different examples")
    with tempfile.TemporaryDirectory() as outside:
        outside = pathlib.Path(outside)
        (outside / "example.cc").write_text(source, encoding="utf-8")
        (outside / "CMakeLists.txt").write_text(code_block(readme, "cmake"), encoding="utf-8")
        run("cmake", "-S", outside, "-B", outside / "build", f"-DCMAKE_PREFIX_PATH={folder / 'prefix'}", f"-DCMAKE_CXX_COMPILER={compiler}", "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Wpedantic -Werror")
        run("cmake", "--build", outside / "build")
        said = run(outside / "build/example", stdout=subprocess.PIPE, text=True, timeout=60).stdout
    print(said, end="")
    if not EXAMPLE_SAYS.fullmatch(said):
        sys.exit(f"the example says something else: {said!r}")


def headers(folder, compiler):
    include = folder / "prefix/include"
    names = sorted(path.relative_to(include) for path in include.rglob("*.h"))
    if {path.name for path in names} != {path.name for path in (ROOT / "locks").glob("*.h")}:
        sys.exit("the installed headers are not those of locks/")

    def compiles(name):
        command = [compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{include}", "-x", "c++", "-"]
        done = subprocess.run(command, input=f"#include <{name}>\n", capture_output=True, text=True)
        return done.returncode == 0 or print(f"{name} does not compile by itself:\n{done.stderr}")

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        good = list(pool.map(compiles, names))
    print(f"{good.count(True)} of {len(names)} headers compile by themselves")
    if not all(good):
        sys.exit(1)


if __name__ == "__main__":
    modes = {"install": install, "example": example, "headers": headers}
    if len(sys.argv) not in (3, 4) or sys.argv[1] not in modes:
        sys.exit(__doc__)
    modes[sys.argv[1]](pathlib.Path(sys.argv[2]).resolve(), *sys.argv[3:])
