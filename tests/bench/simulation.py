#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""simulation.py - is the simulated machine to be believed? locktest on real threads here against `host`, simulated.

usage: simulation.py CONVOY_LOADGEN [--machine HOST.toml] [--seconds 0.5] [--runs 5] [--threads 1,2,4,16,64] [--seed 1]
                     [--policies REGEX] [--json FILE]

Without --machine it calibrates first. Every cell (policy, read percent, threads) runs `runs` times on pinned real
threads, in an order that is drawn anew for every round, and once on the machine, which repeats itself exactly.
  order   of two policies in the same place, where their real ranges do not overlap: is the simulated order the same?
  error   of throughput, simulated to the median of the real runs.
  bimodal a cell whose real runs fall into two regimes (neighbours in order of throughput half as far again apart) is
          compared with the regime that is nearer, and counted.
A lone thread that did not have its core to itself says that the machine is not quiet: then the figures mean little.
Exit status: 0 order agrees in 90 % of the pairs and the median error is under 25 %, 1 not so, 2 usage.
"""
import argparse
import itertools
import json
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile

LEAST_AGREEMENT = 0.90
MOST_ERROR = 0.25
REGIME_GAP = 1.5
QUIET_SHARE = 0.95  # of a core, for a lone thread

# Name, options, read percents.
POLICIES = [
    ("bounded-0", ["--lock", "bounded", "--unfairness", "0"], [0]),
    ("bounded-5", ["--lock", "bounded", "--unfairness", "5"], [0]),
    ("bounded-1000", ["--lock", "bounded", "--unfairness", "1000"], [0]),
    ("barging", ["--lock", "barging"], [0]),
    ("mutex", ["--lock", "mutex"], [0]),
    ("ticket", ["--lock", "ticket"], [0]),
    ("rwsem", ["--lock", "rwsem"], [0, 50, 90]),
    ("rwsem-transfer", ["--lock", "rwsem-transfer"], [0, 50, 90]),
    ("rwlock-3.12", ["--lock", "rwlock-3.12"], [0, 50, 90]),
    ("qrwlock", ["--lock", "qrwlock"], [0, 50, 90]),
]


class Cell:
    def __init__(self, name, options, percent, threads):
        self.name, self.percent, self.threads = name, percent, threads
        self.options = options + ["--read-percent", str(percent), "--threads", str(threads)]
        self.real = []
        self.core_shares = []
        self.simulated = None

    def regimes(self):
        """The real runs in one group, or in two where a gap splits them."""
        runs = sorted(self.real)
        gaps = [(high / low if low > 0 else float("inf"), i + 1) for i, (low, high) in enumerate(zip(runs, runs[1:]))]
        widest, at = max(gaps, default=(1, 0))
        return [runs[:at], runs[at:]] if widest >= REGIME_GAP else [runs]

    def error(self):
        """Simulated to real, less 1, against the nearer regime."""
        ratios = [self.simulated / statistics.median(regime) - 1 for regime in self.regimes() if statistics.median(regime) > 0]
        return min(ratios, key=abs)

    def row(self):
        return {"policy": self.name, "read_percent": self.percent, "threads": self.threads, "real": self.real,
                "simulated": self.simulated, "error": self.error(), "bimodal": len(self.regimes()) > 1}


def run_of(loadgen, words):
    done = subprocess.run([loadgen, "locktest", "-q", "--json", "-", *words], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"simulation: {' '.join(words)} ended with {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)["runs"][0]


def measure(args, machine, cells):
    length = ["--duration", f"{args.seconds}s"]
    for number, cell in enumerate(cells, 1):
        cell.simulated = run_of(args.loadgen, cell.options + length + ["--machine", machine])["transactions_per_second"]
        print(f"\rsimulation: simulated {number} of {len(cells)}", end="", file=sys.stderr)
    print(file=sys.stderr)
    order = random.Random(args.seed)
    for turn in range(args.runs):
        for cell in order.sample(cells, len(cells)):
            run = run_of(args.loadgen, cell.options + length + ["--pin"])
            cell.real.append(run["transactions_per_second"])
            cell.core_shares.append((run["cpu"]["client_user_s"] + run["cpu"]["client_sys_s"]) / run["duration_s"])
        print(f"simulation: {turn + 1} of {args.runs} rounds on real threads", file=sys.stderr)


def compare_order(cells):
    """Pairs in the same place that can be told apart on real threads, and those of them whose order is the same."""
    told, same, wrong = 0, 0, []
    for one, other in itertools.combinations(cells, 2):
        if (one.percent, one.threads) != (other.percent, other.threads):
            continue
        if min(one.real) > max(other.real):
            low, high = other, one
        elif min(other.real) > max(one.real):
            low, high = one, other
        else:
            continue
        told += 1
        if high.simulated > low.simulated:
            same += 1
        else:
            wrong.append(f"{high.name} over {low.name} at r% = {one.percent}, {one.threads} threads")
    return told, same, wrong


def print_cells(cells):
    print(f"{'policy':<15} {'r%':>3} {'threads':>7} {'real op/s':>11} {'least':>11} {'most':>11} {'simulated':>11} {'error':>7}")
    for cell in cells:
        mark = " bimodal" if len(cell.regimes()) > 1 else ""
        print(f"{cell.name:<15} {cell.percent:>3} {cell.threads:>7} {statistics.median(cell.real):>11,.0f} {min(cell.real):>11,.0f} "
              f"{max(cell.real):>11,.0f} {cell.simulated:>11,.0f} {cell.error():>+7.0%}{mark}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("loadgen")
    parser.add_argument("--machine")
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--threads", default="1,2,4,16,64")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--policies", default=".")
    parser.add_argument("--json")
    args = parser.parse_args()
    args.loadgen = str(pathlib.Path(args.loadgen).resolve())
    cells = [Cell(name, options, percent, int(threads)) for name, options, percents in POLICIES
             if re.search(args.policies, name) for percent in percents for threads in args.threads.split(",")]
    if not cells or args.runs < 1:
        parser.error("no cell, or no run of one")
    with tempfile.TemporaryDirectory() as folder:
        machine = args.machine
        if machine is None:
            machine = str(pathlib.Path(folder) / "host.toml")
            subprocess.run([args.loadgen, "calibrate", "--out", machine], check=True)
        measure(args, machine, cells)
    print_cells(cells)
    told, same, wrong = compare_order(cells)
    errors = [abs(cell.error()) for cell in cells]
    bimodal = sum(len(cell.regimes()) > 1 for cell in cells)
    agreement = same / told if told else 0
    print(f"\nOrder: {same} of {told} pairs whose real ranges do not overlap ({agreement:.0%}, asked {LEAST_AGREEMENT:.0%})")
    for pair in wrong:
        print(f"  simulated the other way: {pair}")
    print(f"Error of throughput: median {statistics.median(errors):.0%} of {len(errors)} cells (asked under {MOST_ERROR:.0%}), "
          f"largest {max(errors):.0%}; {bimodal} bimodal cells, each against its nearer regime")
    alone = [share for cell in cells if cell.threads == 1 for share in cell.core_shares]
    if alone and statistics.median(alone) < QUIET_SHARE:
        print(f"Not quiet: a lone thread had {statistics.median(alone):.0%} of its core (median of {len(alone)} runs); run it again")
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps([cell.row() for cell in cells], indent=1) + "\n")
    return 0 if agreement >= LEAST_AGREEMENT and statistics.median(errors) < MOST_ERROR else 1


if __name__ == "__main__":
    sys.exit(main())
