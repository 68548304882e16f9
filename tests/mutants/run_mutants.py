#!/usr/bin/env python3
# run_mutants.py - Applies each mutant to a copy of the sources and asks the explore and contract cells to find it.
# SPDX-License-Identifier: MIT
"""usage: run_mutants.py [--drawn N] [--seed N] [--jobs N] [--out DIR] [TEXT...]   (./run mutants)

Mutants: the patches of tests/mutants/more/, and N drawn by operators.py. With TEXT: only those whose name contains one.
The table goes to stdout, progress to stderr. Exit status: 0 when at least 90 % are found (those that only weaken a memory
order are counted apart) and tests/mutants/survivors.md lists exactly those that are not, 1 otherwise, 2 usage.
"""
import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import operators  # noqa: E402

ROOT = operators.ROOT
HERE = ROOT / "tests/mutants"
TARGET = 0.90
FLAGS = ["-std=c++20", "-O1", "-DNDEBUG", "-w", "-pthread"]
# A cell that ends neither way counts as a find: a schedule, or real threads, that hang. Seconds of CPU time; of sleep.
EXPLORE_LIMIT, CONTRACT_LIMIT, IDLE_LIMIT = 120, 30, 20

Result = collections.namedtuple("Result", "name place verdict by order_only seconds")


class DoesNotCompile(Exception):
    pass


def compiler():
    command = os.environ.get("CXX", "g++").split()
    return (["ccache"] if shutil.which("ccache") else []) + command


def cpu_seconds(pid):
    """(seconds of CPU time so far, whether the process waits for something); None when it has ended."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), fields[0] == "S"


def run_logged(command, log, limit=None):
    """(exit status, output); the status is None when it used `limit` seconds of CPU time, or slept for IDLE_LIMIT without using any.

    CPU time, because a machine that is busy with something else must not make a find.
    """
    with open(log, "w+", encoding="utf-8", errors="replace") as out:
        process = subprocess.Popen(command, cwd=ROOT, stdout=out, stderr=subprocess.STDOUT, start_new_session=True)
        used, asleep_since = 0.0, time.monotonic()
        while True:
            try:
                status = process.wait(0.5 if limit else None)
                break
            except subprocess.TimeoutExpired:
                now = cpu_seconds(process.pid)
                if now is None:
                    continue
                if now[0] > used or not now[1]:
                    used, asleep_since = now[0], time.monotonic()
                if used > limit or time.monotonic() - asleep_since > IDLE_LIMIT:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
                    status = None
                    break
        out.seek(0)
        return status, out.read()


class Tree:
    """What includes what in locks/, and which policy is whose."""

    def __init__(self):
        self.texts = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "locks").glob("*.h")}
        listed = re.search(r"using WorldPolicies = PolicyList<(.*?)>;", self.texts["policies.h"], re.S).group(1)
        # A policy has a file of its own, whose name is the policy's.
        self.policies = [next(pathlib.Path(name).stem for name, text in self.texts.items()
                              if re.search(rf"^(?:class|struct) (?:CONVOY_\w+\(.*?\) )?{policy}\b(?!.*;$)", text, re.M))
                         for policy in re.findall(r"(\w+)<W>", listed)]
        # Those whose knob makes other cells of them: qrwlock_waiting_bit of qrwlock.
        knobs = (ROOT / "tests/knob_policies.h").read_text(encoding="utf-8")
        self.variants = [re.sub(r"\W", "_", name) for name in re.findall(r'renamed\(.*?"(.+?)"\)', knobs)]

    def closure(self, header):
        """The headers that `header` is made of. What a lock class has inside is everybody's, and so nobody's."""
        seen, todo = set(), [header]
        while todo:
            name = todo.pop()
            if name in seen or name not in self.texts:
                continue
            seen.add(name)
            if name != "lock_class.h":
                todo += re.findall(r'^#include "(\w+\.h)"', self.texts[name], re.M)
        return seen

    def takes_nodes(self, header):
        return any("take_spare" in self.texts[name] for name in self.closure(header) - {"world.h"})

    def users(self, header):
        """The policies that a change of `header` may break; some that use it, when it is in all of them or in none."""
        if header == "spare_nodes.h":
            users = [p for p in self.policies if self.takes_nodes(p + ".h")]
        else:
            users = [p for p in self.policies if header in self.closure(p + ".h")]
        if not users or len(users) == len(self.policies):
            shared = [p for p in self.policies if "lock_shared" in self.texts[p + ".h"]]
            users = self.policies[:1] + shared[:1]
        # The one that is named as the header first.
        users.sort(key=lambda p: p + ".h" != header)
        return users + [v for v in self.variants if any(v.startswith(p + "_") for p in users)]

    def seen_by_explorer(self, header):
        text = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "sim").glob("*.h"))
        return any(header in self.closure(name) for name in re.findall(r'#include "locks/(\w+\.h)"', text))


class Bench:
    """Builds and runs the programs of one mutant in a folder of its own."""

    def __init__(self, tree, base, folder, header):
        self.tree, self.base, self.folder, self.header = tree, base, folder, header

    def copy_sources(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        for name in ("locks", "cache"):
            shutil.copytree(ROOT / name, self.folder / name)

    def compile(self, source, defines=()):
        output = self.folder / (re.sub(r"\W", "_", f"{source}{defines}") + ".o")
        status, text = run_logged([*compiler(), *FLAGS, *defines, "-I", str(self.folder), "-I", str(ROOT), "-c", str(ROOT / source),
                                   "-o", str(output)], self.folder / "compile.log")
        if status != 0:
            raise DoesNotCompile(text)
        return output

    def link(self, objects, name, libraries):
        program = self.folder / name
        status, text = run_logged([*compiler()[-1:], *FLAGS, *map(str, objects), "-o", str(program), *libraries],
                                  self.folder / "link.log")
        if status != 0:
            raise DoesNotCompile(text)
        return program

    def explorer(self):
        """What each explore program is linked with: shared by all mutants that it does not see."""
        if not self.tree.seen_by_explorer(self.header):
            return self.base
        return [self.compile(path) for path in explorer_sources()]

    def explore(self, cells, policies=()):
        only = [f'-DCONVOY_ONLY=",{",".join(policies)},"'] if policies else []
        return self.link([self.compile(f"tests/explore/{cells}_cells.cc", tuple(only)), *self.explorer()], "explore", EXPLORE_LIBRARIES)

    def contract(self, cells, policies=()):
        only = [f'-DCONVOY_ONLY=",{",".join(policies)},"'] if policies else []
        return self.link([self.compile("tests/contract/contract.cc"), self.compile(f"tests/contract/{cells}_cells.cc", tuple(only))],
                         "contract", [])

    def unit_test(self, path, with_explorer):
        objects = [self.compile(path), self.compile("tests/test_main.cc"), *(self.explorer()[1:] if with_explorer else [])]
        return self.link(objects, pathlib.Path(path).stem, [*EXPLORE_LIBRARIES, "-lgtest", "-lgmock"])

    def stages(self):
        """(label, program's maker, kind) in the order of what is asked first: what is most likely to find it, then what is dear."""
        def test(label, name):
            return label, lambda: self.unit_test(f"tests/{label}/{name}.cc", label == "explore"), "test"

        def group(name, policies=()):
            return "explore", lambda: self.explore(name, policies), "cells"
        users = self.tree.users(self.header)
        first, rest = group("lock", users[:2]), [group("lock", users[2:])] if users[2:] else []
        contract = "contract", lambda: self.contract("lock", users), "cells"
        if self.header in ("lock_order.h", "lockable.h", "lock_class.h"):
            return [test("explore", "lock_order_test"), test("contract", "lock_order_test"), first, contract]
        if self.header == "any_lock.h":
            return [test("contract", "any_lock_test"), group("quiescence"), group("cache")]
        if self.header == "quiescence.h":
            return [group("quiescence"), ("contract", lambda: self.contract("other"), "cells")]
        if self.header.startswith("cache/"):
            return [group("cache")]
        families = [group(family) for family in ("mutex", "rwsem") if any(re.split("_", user)[0] == family for user in users[:2])]
        if self.header == "osq.h":
            return [*families, first, *rest, contract]
        stages = [first, *families, *rest, contract, group("quiescence"), group("cache")]
        if self.header == "spare_nodes.h":
            stages.insert(1, test("contract", "world_real_test"))
        return stages

    def find(self):
        """(verdict, cell): found by which cell and how, or survived."""
        for label, make, kind in self.stages():
            program = make()
            limit = EXPLORE_LIMIT if label == "explore" else CONTRACT_LIMIT
            cells = [[]]
            if kind == "cells":
                status, text = run_logged([str(program), "--list"], self.folder / "list.log", limit)
                if status != 0:
                    return f"found ({label} --list, exit {status})", label
                cells = [line.split() for line in text.splitlines()]
            if not cells:
                raise SystemExit(f"mutants: {program} has no cells")
            for cell in cells:
                status, text = run_logged([str(program), *cell], self.folder / "cell.log", limit)
                if status != 0:
                    where = " ".join(cell) if cell else program.name
                    return "found", f"{label} {where}: {how(status, text)}"
        return "survived", ""


EXPLORE_LIBRARIES = ["-lfmt", "-lboost_context"]


def explorer_sources():
    return ["tests/explore/explore.cc", *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "sim").glob("*.cc"))]


def how(status, text):
    """What a failed program says of the find, in a word or two."""
    if status is None:
        return "timeout"
    defect = re.search(r"^(deadlock|race|claim|panic|dead_object|no_progress|[a-z_]+): ", text, re.M)
    if defect and status == 1 and "replay:" in text:
        return defect.group(1)
    if "never seen in any schedule" in text:
        return "never seen: " + re.search(r"never seen in any schedule: (.*)", text).group(1)
    if "[  FAILED  ]" in text:
        return "test fails"
    if "panic:" in text:
        return "panic"
    return f"signal {-status}" if status < 0 else f"exit {status}"


def header_of_patch(path):
    """What a patch file says on its first lines, and which header it changes."""
    text = path.read_text(encoding="utf-8")
    fields = dict(re.findall(r"^(Breaks|Only): (.+)$", text, re.M))
    if "Breaks" not in fields or fields.get("Only", "order") != "order":
        raise SystemExit(f"mutants: {path.name}: the first line is 'Breaks: one sentence.'; 'Only: order' may follow")
    target = re.search(r"^\+\+\+ b/(\S+)", text, re.M).group(1)
    return fields, target


def apply_patch(bench, path):
    environment = dict(os.environ, GIT_CEILING_DIRECTORIES=str(bench.folder.parent))
    done = subprocess.run(["git", "apply", "--unidiff-zero", str(path)], cwd=bench.folder, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"mutants: {path.name} does not apply: {done.stderr.strip()}")


class Session:
    def __init__(self, options):
        self.options = options
        self.tree = Tree()
        self.folder = ROOT / "build/mutants" if options.out is None else pathlib.Path(options.out).resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        self.lock = threading.Lock()
        self.done = 0
        self.total = 0
        self.start = time.monotonic()
        self.base = []

    def wanted(self, name):
        return not self.options.names or any(text in name for text in self.options.names)

    def build_base(self):
        base = self.folder / "base"
        base.mkdir(exist_ok=True)
        bench = Bench(self.tree, [], base, "")
        bench.copy_sources()
        self.base = [bench.compile(path) for path in explorer_sources()]

    def bench_for(self, name, header):
        return Bench(self.tree, self.base, self.folder / name.replace(":", "_"), header)

    def note(self, result):
        with self.lock:
            self.done += 1
            minutes = (time.monotonic() - self.start) / 60
            print(f"[{self.done}/{self.total}, {minutes:.1f} min] {result.name}: {result.verdict}"
                  f"{' by ' + result.by if result.by else ''} ({result.seconds:.0f} s)", file=sys.stderr, flush=True)
        return result

    def run_patch(self, path):
        fields, target = header_of_patch(path)
        began = time.monotonic()
        bench = self.bench_for(path.stem, target.removeprefix("locks/"))
        bench.copy_sources()
        apply_patch(bench, path)
        try:
            verdict, by = bench.find()
        except DoesNotCompile as error:
            raise SystemExit(f"mutants: {path.name} does not compile:\n{str(error)[:2000]}") from None
        shutil.rmtree(bench.folder)
        return [self.note(Result(path.stem, target, verdict, by, "Only" in fields, time.monotonic() - began))]

    def run_drawn(self, header, count):
        """`count` mutants of a header: those that do not compile are drawn anew."""
        results = []
        queue = operators.draw_order(ROOT / "locks" / header, self.options.seed)
        for mutant in queue:
            if len(results) == count:
                break
            if not self.wanted(mutant.id):
                continue
            began = time.monotonic()
            bench = self.bench_for(mutant.id, header)
            bench.copy_sources()
            copy = bench.folder / "locks" / header
            lines = copy.read_text(encoding="utf-8").split("\n")
            lines[mutant.number - 1] = mutant.after
            copy.write_text("\n".join(lines), encoding="utf-8")
            try:
                verdict, by = bench.find()
            except DoesNotCompile:
                shutil.rmtree(bench.folder)
                continue
            shutil.rmtree(bench.folder)
            place = f"locks/{header}:{mutant.number}"
            results.append(self.note(Result(mutant.id, place, verdict, by, mutant.order_only, time.monotonic() - began)))
        if len(results) < count and not self.options.names:
            raise SystemExit(f"mutants: only {len(results)} of {count} mutants of {header} compile: do the tests themselves?")
        return results

    def shares(self):
        """How many are drawn from each header: one after the other, each as many as it has places."""
        queues = {path.name: len(operators.draw_order(path, self.options.seed)) for path in operators.headers()}
        shares = collections.Counter()
        while sum(shares.values()) < min(self.options.drawn, sum(queues.values())):
            for header, size in queues.items():
                if shares[header] < size and sum(shares.values()) < self.options.drawn:
                    shares[header] += 1
        return shares

    def run(self):
        patches = [path for path in sorted((HERE / "more").glob("*.patch")) if self.wanted(path.stem)]
        shares = self.shares()
        if self.options.names:
            named = {h: sum(self.wanted(m.id) for m in operators.draw_order(ROOT / "locks" / h, self.options.seed)) for h in shares}
            shares = collections.Counter({h: n for h, n in named.items() if n})
        self.total = len(patches) + sum(shares.values())
        if self.total == 0:
            print(f"mutants: no mutant's name contains {' or '.join(self.options.names)}", file=sys.stderr)
            raise SystemExit(2)
        print(f"mutants: {len(patches)} by hand, {sum(shares.values())} drawn with seed {self.options.seed}", file=sys.stderr, flush=True)
        self.build_base()
        results = []
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            work = [pool.submit(self.run_drawn, header, count) for header, count in shares.items()]
            work += [pool.submit(self.run_patch, path) for path in patches]
            for future in concurrent.futures.as_completed(work):
                results += future.result()
        return sorted(results, key=lambda r: (r.place, r.name))


def listed_survivors():
    path = HERE / "survivors.md"
    if not path.is_file():
        return {}
    return dict(re.findall(r"^\| `([^`]+)` \| (.+?) \|$", path.read_text(encoding="utf-8"), re.M))


def report(results, listed, whole, minutes):
    """Prints the table; returns the exit status."""
    width = max(len(r.name) for r in results)
    places = max(len(r.place) for r in results)
    for result in results:
        order = " (order only)" if result.order_only else ""
        print(f"{result.name:<{width}}  {result.place:<{places}}  {result.verdict}{order}{': ' + result.by if result.by else ''}")
    failed = 0
    for order_only, what in ((False, "mutants"), (True, "of those that only weaken a memory order")):
        some = [r for r in results if r.order_only == order_only]
        found = sum(r.verdict != "survived" for r in some)
        if some:
            print(f"{what}: {found} of {len(some)} found ({100 * found / len(some):.0f} %)")
        if not order_only and some and whole and found < TARGET * len(some):
            print(f"mutants: fewer than {100 * TARGET:.0f} % are found")
            failed = 1
    for result in results:
        if result.verdict == "survived":
            print(f"survivor {result.name}: {listed.get(result.name, 'NOT LISTED in survivors.md: say why it is equivalent or what would find it')}")
            failed |= result.name not in listed
        elif result.name in listed:
            print(f"mutants: {result.name} is listed as a survivor and was found: take it off survivors.md")
            failed = 1
    for name in listed.keys() - {r.name for r in results} if whole else ():
        print(f"mutants: {name} is listed as a survivor and is not drawn any more: take it off survivors.md")
        failed = 1
    print(f"{len(results)} mutants in {minutes:.1f} minutes")
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--drawn", type=int, default=36)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--out", help="where copies and programs go; build/mutants without it")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    if options.drawn < 0 or options.jobs < 1:
        parser.error("--drawn is 0 or more, --jobs 1 or more")
    began = time.monotonic()
    results = Session(options).run()
    return report(results, listed_survivors(), not options.names, (time.monotonic() - began) / 60)


if __name__ == "__main__":
    sys.exit(main())
