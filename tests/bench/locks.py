#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""locks.py - the lock policies against pthread_mutex, std::shared_mutex, absl::Mutex, Concurrency Kit and TBB.

usage: locks.py LOCKS_BENCH [--runs 21] [--min-time 0.05] [--filter REGEX] [--json FILE]

Runs every row of the bench `runs` times in random order in one process, so that whatever the machine does meanwhile
meets all rows alike, and prints medians with their quartiles, and ratios to a peer. A row with a limit must be at most
1.10 of its peer's time, or else at most 1.05 of its peer's instructions, which callgrind counts and which repeat
exactly. The row `none` prices the loop: it is part of the times, and taken off the instructions. Exit status: 0 all
limits held, 1 a limit missed, 2 usage or a tool that is missing.
"""
import argparse
import json
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

MOST_TIME = 1.10
MOST_INSTRUCTIONS = 1.05
HOLD_ASKED_NS = 1000
MOST_HOLD_ERROR = 0.05

# The rows with a limit, and the peer of each.
LIMITED = {
    "exclusive/bounded": "pthread_mutex",
    "exclusive/barging": "pthread_mutex",
    "exclusive/handoff": "pthread_mutex",
    "exclusive/mutex": "pthread_mutex",
    "exclusive/ticket": "ck_ticket",
    "exclusive/mcs": "ck_mcs",
    "exclusive/qrwlock": "std-shared-mutex",
    "exclusive/rwsem": "std-shared-mutex",
    "shared/qrwlock": "std-shared-mutex",
    "shared/rwsem": "std-shared-mutex",
}
# What a row without a limit is compared with, by its group.
COMPARED = {"exclusive": "pthread_mutex", "shared": "std-shared-mutex"}


class Row:
    """The runs of one benchmark."""

    def __init__(self, name):
        self.name = name
        self.group, self.subject = name.split("/")
        self.times = []
        self.counters = {}

    def add(self, run):
        timed_by_hand = "hold_ns" in run  # wall time of a round with threads; else the thread's own time
        self.times.append(run["real_time" if timed_by_hand else "cpu_time"])
        for key in ("rmw", "hold_ns", "overlap", "jain"):
            if key in run:
                self.counters.setdefault(key, []).append(run[key])

    def median(self):
        return statistics.median(self.times)

    def quartiles(self):
        if len(self.times) < 2:
            return self.times[0], self.times[0]
        low, _, high = statistics.quantiles(self.times, n=4, method="inclusive")
        return low, high

    def counter(self, key):
        return statistics.median(self.counters[key]) if key in self.counters else None


def measure(program, runs, min_time, pattern, keep):
    with tempfile.TemporaryDirectory() as folder:
        out = keep or pathlib.Path(folder) / "locks.json"
        command = [program, f"--benchmark_repetitions={runs}", "--benchmark_enable_random_interleaving=true", f"--benchmark_min_time={min_time}",
                   f"--benchmark_out={out}", "--benchmark_out_format=json", "--benchmark_filter=" + pattern]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"locks.py: {program} failed:\n{done.stderr}")
        result = json.loads(pathlib.Path(out).read_text(encoding="utf-8"))
    rows = {}
    for run in result["benchmarks"]:
        if run["run_type"] != "iteration":
            continue
        name = "/".join(run["run_name"].split("/")[:2])
        rows.setdefault(name, Row(name)).add(run)
    return result["context"], rows


class Callgrind:
    """Instructions per lock + unlock of uncontended rows: the difference of two runs, so that only the loop counts."""

    FEW, MANY = 1000, 11000

    def __init__(self, program):
        self.program = program
        self.known = {}

    def instructions(self, name):
        if name not in self.known:
            self.known[name] = (self.total(name, self.MANY) - self.total(name, self.FEW)) / (self.MANY - self.FEW)
        return self.known[name]

    def total(self, name, times):
        done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", self.program, "--loop", name, str(times)],
                              capture_output=True, text=True)
        collected = re.search(r"Collected : (\d+)", done.stderr)
        if done.returncode != 0 or collected is None:
            sys.exit(f"locks.py: callgrind did not count {name}:\n{done.stderr}")
        return int(collected.group(1))

    def ratio(self, row, peer, loop):
        return (self.instructions(row) - self.instructions(loop)) / (self.instructions(peer) - self.instructions(loop))


def of_group(rows, group):
    return sorted((row for row in rows.values() if row.group == group), key=Row.median)


def number(value, digits=2):
    return "-" if value is None else f"{value:.{digits}f}"


def print_table(head, lines):
    widths = [max(len(line[i]) for line in [head, *lines]) for i in range(len(head))]
    for line in [head, *lines]:
        print("  ".join(cell.ljust(width) if i == 0 else cell.rjust(width) for i, (cell, width) in enumerate(zip(line, widths))).rstrip())
    print()


def uncontended(rows, group, counter):
    """Prints the rows of a group with their ratios; returns the limits that were missed."""
    lines, missed = [], []
    loop = f"{group}/none"
    for row in of_group(rows, group):
        peer_name = LIMITED.get(row.name, COMPARED[group])
        peer = rows.get(f"{group}/{peer_name}")
        low, high = row.quartiles()
        line = [row.subject, number(row.median()), f"{low:.2f}-{high:.2f}", number(row.counter("rmw"), 0)]
        if peer is None or row is peer or row.name == loop:
            lines.append(line + ["", "", "", "", ""])
            continue
        base = peer.median()
        ratio = row.median() / base
        line += [f"{ratio:.2f}", f"{low / base:.2f}-{high / base:.2f}", peer_name]
        if row.name in LIMITED:
            by_instructions = counter.ratio(row.name, peer.name, loop)
            held = ratio <= MOST_TIME or by_instructions <= MOST_INSTRUCTIONS
            line += [f"{by_instructions:.2f}", "held" if held else "MISSED"]
            if not held:
                missed.append(row.name)
        else:
            line += ["", ""]
        lines.append(line)
    print(f"{group} lock + unlock, one thread: ns (median, quartiles), read-modify-writes; ratio to the peer")
    print(f"limit: {MOST_TIME} of the peer's time or {MOST_INSTRUCTIONS} of its instructions")
    print_table([group, "ns", "quartiles", "rmw", "ratio", "quartiles", "peer", "instr.", ""], lines)
    return missed


def event_counting(rows):
    counted, uncounted = rows.get("exclusive/bounded"), rows.get("exclusive/bounded_uncounted")
    if counted and uncounted:
        difference = counted.median() - uncounted.median()
        print(f"event counting: bounded {counted.median():.2f} ns with its counters, {uncounted.median():.2f} without: {difference:+.2f} ns, ratio {counted.median() / uncounted.median():.2f}\n")


def contended(rows, group, peer, title):
    chosen = of_group(rows, group)
    if not chosen:
        return
    base = rows.get(f"{group}/{peer}")
    lines = []
    for row in chosen:
        low, high = row.quartiles()
        ratio = f"{row.median() / base.median():.2f}" if base else ""
        lines.append([row.subject, f"{row.median():.0f}", f"{low:.0f}-{high:.0f}", ratio, number(row.counter("hold_ns"), 0), number(row.counter("overlap")), number(row.counter("jain"))])
    print(f"{title}: wall ns per operation (median, quartiles), ratio to {peer}, measured hold, overlap, Jain")
    print_table([group, "ns", "quartiles", "ratio", "hold ns", "overlap", "Jain"], lines)


def holds(rows):
    """The rows of one thread that asks for holds of 1 us; returns those whose hold is something else."""
    missed = []
    for row in of_group(rows, f"alone_{HOLD_ASKED_NS}"):
        error = row.counter("hold_ns") / HOLD_ASKED_NS - 1
        print(f"hold {HOLD_ASKED_NS} ns, think {HOLD_ASKED_NS} ns, 1 thread, {row.subject}: measured hold {row.counter('hold_ns'):.0f} ns ({error:+.1%}), cycle {row.median():.0f} ns")
        if abs(error) > MOST_HOLD_ERROR:
            missed.append(row.name)
    print()
    return missed


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1][7:])
    parser.add_argument("program")
    parser.add_argument("--runs", type=int, default=21)
    parser.add_argument("--min-time", type=float, default=0.05)
    parser.add_argument("--filter", default=".")
    parser.add_argument("--json")
    options = parser.parse_args()
    if options.runs < 2:
        parser.error("--runs: at least 2")
    if shutil.which("valgrind") is None:
        print("locks.py: valgrind is missing", file=sys.stderr)
        return 2
    print("locks.py: measuring, some minutes", file=sys.stderr, flush=True)
    context, rows = measure(options.program, options.runs, options.min_time, options.filter, options.json)
    print(f"{context['num_cpus']} cores, load {context['load_avg'][0]:.2f} at the start; {options.runs} runs a row, in random order\n")
    counter = Callgrind(options.program)
    missed = []
    for group in ("exclusive", "shared"):
        if f"{group}/none" in rows:
            missed += uncontended(rows, group, counter)
    event_counting(rows)
    for hold in (0, 100, 1000):
        contended(rows, f"contended_{hold}", "pthread_mutex", f"2 threads, hold {hold} ns, think {hold} ns")
    for hold in (0, 100, 1000):
        contended(rows, f"shared_{hold}", "std-shared-mutex", f"2 threads, both shared, hold {hold} ns, think {hold} ns")
    for threads in (8, 64):
        contended(rows, f"oversubscribed_{threads}", "pthread_mutex", f"{threads} threads, hold 1000 ns, think 1000 ns")
    missed += holds(rows)
    missed += [f"{name} (no such row)" for name in LIMITED if name not in rows and re.search(options.filter, name)]
    print("limits missed: " + ", ".join(missed) if missed else "all limits held")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
