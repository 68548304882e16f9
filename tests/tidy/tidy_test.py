#!/usr/bin/env python3
# tidy_test.py - Goal: the rules of the house that a program can check. Method: reads every tracked source file.
# SPDX-License-Identifier: MIT
"""usage: tidy_test.py [--self-test]   (from anywhere; prints each breach with the rule, exits 1 if there is one)

--self-test feeds each rule a text that breaks it: a rule that lets it pass is itself broken.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Which folders a folder may include from.
LAYERS = {
    "locks": {"locks"},
    "common": {"common", "generated"},
    "sim": {"sim", "locks", "common"},
    "cache": {"cache", "locks", "common"},
    "server": {"server", "locks", "cache", "common"},
    "loadgen": {"loadgen", "locks", "cache", "sim", "common"},
    "tests": {"tests", "locks", "cache", "sim", "common", "server", "loadgen"},
}

# Nothing of these is reachable from a lock: what it may observe is a member of its World. Of real threads only are the
# world of that name with their records, the library's locks, and what makes a policy a standard lock.
PAST_THE_WORLD = re.compile(
    r"std::atomic|<atomic>|__atomic_|__sync_|\basm\b|syscall\(|std::thread|<thread>|<chrono>|thread_local|sched_yield|\brand\(")
FOR_HOSTS = re.compile(r"\bW::(run|stopped|work|now_ns|touch|require|witness)\(")  # of Host and WorkloadHost
BEYOND_WORLD = re.compile(r"locks/(world_real|std_\w+)\.h$")

# Libraries that cost much to compile stay out of our headers, or in one folder.
HEAVY = [
    (re.compile(r"<CLI/"), re.compile(r"^common/\w+\.cc$"), "CLI11 is included by common/*.cc only"),
    (re.compile(r"<toml\+\+/"), re.compile(r"^common/\w+\.cc$"), "toml++ is included by common/*.cc only"),
    (re.compile(r"<nlohmann/json\.hpp>"), re.compile(r"\.cc$|^tests/|^common/described_json\.h$"), "json.hpp is included by .cc files; headers take json_fwd.hpp"),
    (re.compile(r"<asio"), re.compile(r"^server/|^tests/server/"), "asio stays in server/"),
]

OPEN_END = re.compile(r"\b(TO[D]O|FIX[M]E|XX[X]|HA[C]K)\b")

BANNED = [
    (re.compile(r"std::(format|expected|views)\b|<(format|expected|source_location)>"), "clang 14 on libstdc++ 12 lacks it: fmt, tl::expected"),
    (re.compile(r"\bstrcpy\(|\bsprintf\(|\batoi\("), "use fmt, or the readers of common/parse.h"),
    (re.compile(r"#pragma GCC diagnostic"), "mend the code instead of silencing the warning"),
]

MAX_FILE_LINES = 400
MAX_LINE = 120
FREE_LENGTH = re.compile(r"^tests/")


def without_comments(text):
    text = re.sub(r"/\*.*?\*/", lambda m: "\n" * m.group().count("\n"), text, flags=re.S)
    return re.sub(r"//[^\n]*", "", text)


def check_source(path, text):
    """Yields (line number, sentence) for each breach of a rule by C++ source."""
    folder = path.split("/")[0]
    lines = text.split("\n")
    code = without_comments(text).split("\n")
    if not re.match(rf"// {re.escape(pathlib.Path(path).name)} — \S", lines[0]):
        yield 1, "the first line is `// name — What it is.`"
    if "// SPDX-License-Identifier: MIT" not in lines[1:3]:
        yield 2, "the second line is `// SPDX-License-Identifier: MIT`"
    if path.endswith(".h") and "#pragma once" not in text:
        yield 1, "a header says #pragma once"
    if len(lines) > MAX_FILE_LINES + 1 and not FREE_LENGTH.match(path):
        yield len(lines), f"a file has at most {MAX_FILE_LINES} lines: what relatives share is a file of its own"
    for number, line in enumerate(lines, 1):
        if len(line) > MAX_LINE and 'R"(' not in line:
            yield number, f"a line has at most {MAX_LINE} columns"
        if OPEN_END.search(line):
            yield number, "say what must happen for it to be done, or do it"
    for number, line in enumerate(code, 1):
        for pattern, advice in BANNED if folder != "tests" else BANNED[:1]:
            if pattern.search(line):
                yield number, f"'{pattern.search(line).group()}': {advice}"
        for header, allowed, advice in HEAVY:
            if re.match(r"\s*#include", line) and header.search(line) and not allowed.search(path):
                yield number, advice
        if folder == "locks" and not BEYOND_WORLD.search(path) and PAST_THE_WORLD.search(line):
            yield number, f"a lock that looks past its World: {PAST_THE_WORLD.search(line).group()}"
        if folder == "locks" and path != "locks/world.h" and FOR_HOSTS.search(line):
            yield number, f"tests and workloads may ask for this, a lock may not: {FOR_HOSTS.search(line).group()}"
        include = re.match(r'\s*#include "([^"]+)"', line)
        if include and folder == "locks" and "/" in include.group(1):
            yield number, "headers in locks/ include each other by bare name"
        if include and folder != "locks":
            target = include.group(1).split("/")[0]
            if "/" not in include.group(1):
                yield number, "an include starts at the root"
            elif target not in LAYERS.get(folder, set()):
                yield number, f"{folder}/ may not include {target}/"


def tracked(*patterns):
    out = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-co", "--exclude-standard", *patterns], capture_output=True, text=True, check=True)
    return [name for name in out.stdout.splitlines() if (ROOT / name).is_file()]


def check_tree():
    sources = [name for name in tracked("*.h", "*.cc") if name.split("/")[0] in LAYERS]
    texts = {name: (ROOT / name).read_text(encoding="utf-8") for name in sources}
    if len(sources) < 50:
        yield ".", 0, f"only {len(sources)} source files found: the test does not see the tree"
    for name, text in texts.items():
        for number, sentence in check_source(name, text):
            yield name, number, sentence
    included = "\n".join(texts.values())
    for name in sources:
        if name.endswith(".h") and f'"{name}"' not in included and f'"{pathlib.Path(name).name}"' not in included:
            yield name, 1, "no file includes it: delete what is no longer needed"
    for folder in [*LAYERS, "configs", "tests/mutants", "tests/explore", "tests/contract"]:
        if not (ROOT / folder / "README.md").is_file():
            yield folder, 0, "each folder has a README.md that says what lives there and what may be touched"
    for name in tracked("configs/*.toml", "configs/**/*.toml"):
        if not (ROOT / name).read_text(encoding="utf-8").lstrip().startswith("#"):
            yield name, 1, "a configuration opens with its question and its command"


    for name in tracked("tests/mutants/*.patch"):
        if not applies((ROOT / name).read_text(encoding="utf-8")):
            yield name, 1, "a mutant that no longer applies tests nothing: draw it anew"


def applies(patch):
    return subprocess.run(["git", "-C", str(ROOT), "apply", "--unidiff-zero", "--check", "-"], input=patch, text=True,
                          capture_output=True).returncode == 0


SELF_TEST = {
    "locks/a.h": ["std::atomic<int> x;", "W::work(1);", '#include "locks/b.h"', "thread_local int y;", 'asm("pause");'],
    "server/a.cc": ['#include "loadgen/x.h"', "#include <CLI/CLI.hpp>", '#include "x.h"', "// FIX" + "ME later"],
    "loadgen/a.h": ["#include <nlohmann/json.hpp>", "#include <asio.hpp>", "int x = 1;" + " " * MAX_LINE, "\n" * MAX_FILE_LINES],
}


def self_test():
    failed = 0
    for path, lines in SELF_TEST.items():
        head = f"// {pathlib.Path(path).name} — A file.\n// SPDX-License-Identifier: MIT\n#pragma once\n"
        if list(check_source(path, head)):
            failed += 1
            print(f"self-test: a clean file is refused: {list(check_source(path, head))}")
        for line in lines:
            if not list(check_source(path, head + line + "\n")):
                failed += 1
                print(f"self-test: {path} may contain {line.strip()[:60]!r}")
    if applies("--- a/run\n+++ b/run\n@@ -1 +1 @@\n-no line of run\n+none\n"):
        failed += 1
        print("self-test: a patch of lines that there are not is said to apply")
    return failed


def main():
    if sys.argv[1:] == ["--self-test"]:
        failed = self_test()
        print(f"tidy self-test: {failed} rules let a breach pass")
        return 1 if failed else 0
    breaches = list(check_tree())
    for name, number, sentence in breaches:
        print(f"{name}:{number}: {sentence}")
    print(f"tidy: {len(breaches)} breaches in {len(tracked('*.h', '*.cc'))} files")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
