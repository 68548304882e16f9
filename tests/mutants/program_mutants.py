#!/usr/bin/env python3
# program_mutants.py - Goal: the tests of the programs can fail. Method: each mistake of tests/mutants/SET/ must fail its test.
# SPDX-License-Identifier: MIT
"""usage: program_mutants.py server|machine [NAME...]   (from anywhere; without names every patch of tests/mutants/SET/)

Copies the tree to build/mutants-programs and builds it there, -O1 and no sanitizer. First the control: every test that a
patch names must pass. Then, one patch at a time: applies it, rebuilds the program of its test, runs that test, which
must fail, and puts the sources back. Prints a line a patch. Exit status: 0 every patch was found; 1 a patch does not
apply, does not build or is not found, or the control failed; 2 usage.
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PATCHES = ROOT / "tests" / "mutants"
WORK = ROOT / "build" / "mutants-programs"
TREE = WORK / "tree"
BUILD = WORK / "build"
# By set: where ctest finds the tests that its patches may name, and what these need.
TEST_FOLDERS = {"server": ("tests/server", "tests/cache.dir"), "machine": ("tests/machine.dir", "tests/loadgen")}
PROGRAMS = {"server": ("server_tests", "cache_tests", "convoy-server"),
            "machine": ("machine_tests", "loadgen_tests", "convoy-loadgen")}


class Broken(Exception):
    """A sentence about what is wrong with a patch, the control or the machine."""


def run(words, **more):
    return subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)


def checked(what, words, **more):
    done = run(words, **more)
    if done.returncode != 0:
        raise Broken(f"{what}\n{done.stdout[-3000:]}")
    return done.stdout


class Patch:
    def __init__(self, path):
        self.path = path
        self.name = path.stem
        self.set = path.parent.name
        text = path.read_text(encoding="utf-8")
        lines = dict(re.findall(r"^(Breaks|Test): (.+)$", text, re.M))
        self.files = [TREE / name for name in re.findall(r"^\+\+\+ b/(.+)$", text, re.M)]
        if "Breaks" not in lines or "Test" not in lines or not self.files:
            raise Broken(f"{path.name}: its first lines are 'Breaks:' and 'Test:'")
        self.breaks, self.test = lines["Breaks"], lines["Test"]


class Applied:
    """The copy with one patch in it, until the end of the scope."""

    def __init__(self, patch):
        self.patch = patch

    def __enter__(self):
        self.before = {path: path.read_bytes() for path in self.patch.files if path.exists()}
        # The copy lies inside of a repository that git must not look at.
        environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(WORK)}
        checked("does not apply", ["git", "apply", self.patch.path], cwd=TREE, env=environment)

    def __exit__(self, *_):
        for path, content in self.before.items():
            path.write_bytes(content)


def copy_tree():
    """Brings the copy up to date; leaves alone what has not changed, so that little is rebuilt."""
    names = checked("git ls-files", ["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard"]).splitlines()
    wanted = {name for name in names if (ROOT / name).is_file()}
    for old in [path for path in TREE.rglob("*") if path.is_file()]:
        if str(old.relative_to(TREE)) not in wanted:
            old.unlink()
    for name in wanted:
        source, copy = ROOT / name, TREE / name
        if not copy.exists() or copy.read_bytes() != source.read_bytes():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, copy)


def build(targets):
    checked("does not build", ["ninja", "-C", BUILD, *targets])


def tests_named(patch):
    """The tests that `ctest -R` with the patch's expression would run."""
    expression = patch.test
    found = []
    for folder in TEST_FOLDERS[patch.set]:
        listed = checked("ctest", ["ctest", "--test-dir", BUILD / folder, "--show-only=json-v1", "-R", expression])
        found += [test for test in json.loads(listed)["tests"] if "command" in test]
    if not found:
        raise Broken(f"no test matches {expression}")
    return found


def targets_of(patch, tests):
    """The programs of the tests, and the last of the set, which tests and scripts run."""
    programs = PROGRAMS[patch.set]
    return sorted({pathlib.Path(test["command"][0]).name for test in tests} & set(programs) | {programs[-1]})


def passes(test, limit_s):
    """Whether the test passes within the limit, and how long it took."""
    folder = next((entry["value"] for entry in test["properties"] if entry["name"] == "WORKING_DIRECTORY"), str(TREE))
    start = time.monotonic()
    # A session of its own: what hangs is ended with all its children.
    child = subprocess.Popen(test["command"], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        passed = child.wait(limit_s) == 0
    except subprocess.TimeoutExpired:
        passed = False
    finally:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
    return passed, time.monotonic() - start


def control(patches):
    """Runs every named test without a patch; returns the seconds that each took."""
    took = {}
    for patch in {patch.test: patch for patch in patches}.values():
        for test in tests_named(patch):
            passed, took[test["name"]] = passes(test, 300)
            if not passed:
                raise Broken(f"the control: {test['name']} fails without a patch")
    return took


def find(patch, took):
    """Returns the test that failed under the patch."""
    tests = tests_named(patch)
    with Applied(patch):
        build(targets_of(patch, tests))
        for test in tests:
            passed, seconds = passes(test, 20 + 3 * took[test["name"]])
            if not passed:
                return f"{test['name']} in {seconds:.1f} s"
    raise Broken(f"not found by {patch.test}")


def main(kind, names):
    start = time.monotonic()
    folder = PATCHES / kind
    paths = [folder / f"{name}.patch" for name in names] or sorted(folder.glob("*.patch"))
    if kind not in PROGRAMS or not all(path.is_file() for path in paths):
        print(__doc__)
        return 2
    # By file: what one patch has rebuilt, the next one needs not, put back.
    patches = sorted((Patch(path) for path in paths), key=lambda patch: (patch.files, patch.name))
    TREE.mkdir(parents=True, exist_ok=True)
    copy_tree()
    checked("cmake", ["cmake", "-S", TREE, "-B", BUILD, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=RelWithDebInfo",
                      "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -DNDEBUG", "-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O1 -DNDEBUG"])
    build(PROGRAMS[kind])
    took = control(patches)
    print(f"control: {len(took)} tests pass without a patch ({time.monotonic() - start:.0f} s)", flush=True)
    wrong = 0
    for patch in patches:
        try:
            outcome = "found by " + find(patch, took)
        except Broken as sentence:
            outcome = f"WRONG: {sentence}"
            wrong += 1
        print(f"{patch.name:<36} {outcome}", flush=True)
    print(f"{len(patches) - wrong} of {len(patches)} found ({time.monotonic() - start:.0f} s)")
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) < 2 or any(argument.startswith("-") for argument in sys.argv[1:]):
        print(__doc__)
        sys.exit(0 if sys.argv[1:] in (["-h"], ["--help"]) else 2)
    try:
        sys.exit(main(sys.argv[1], sys.argv[2:]))
    except Broken as sentence:
        sys.exit(f"program_mutants: {sentence}")
