#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""same_hash.py - A simulated run is a function of workload, machine and seed, whoever compiled it; seeds matter little.

usage: same_hash.py LOADGEN... [--duration 1s] [--seeds 10] [--threads 96]
       same_hash.py --build FOLDER [--jobs N] [...]

Runs locktest on configs/machines/xeon-2s-96t.toml with each LOADGEN, with and without address randomisation
(setarch -R), for rwsem and rwsem-transfer, and for bounded, whose waiters are found by a hash of the lock's address.
--build makes the programs first, by g++ and clang++, at -O0 and -O2, in FOLDER. Passes when all trace hashes of a
policy are the same, when those of other seeds differ, and when the totals of the seeds lie within 3 % of their mean,
and are not all alike (of the rwsems: bounded draws nothing). Exit status: 0 passed, 1 not, 2 usage.
"""
import argparse
import json
import os
import pathlib
import platform
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
MACHINE = "configs/machines/xeon-2s-96t.toml"
READ_PERCENT = {"rwsem": 50, "rwsem-transfer": 50, "bounded": 0}
COMPILERS = (("gcc", "g++"), ("clang", "clang++"))
LEVELS = ("-O0", "-O2")
MOST_SPREAD = 0.03


def build(folder, jobs):
    """Builds convoy-loadgen four times; returns the programs."""
    programs = []
    for c, cxx in COMPILERS:
        for level in LEVELS:
            where = pathlib.Path(folder).resolve() / (c + level)
            print(f"building with {cxx} {level}", file=sys.stderr)
            subprocess.run(["cmake", "-S", str(ROOT), "-B", str(where), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=",
                            f"-DCMAKE_C_COMPILER={c}", f"-DCMAKE_CXX_COMPILER={cxx}", f"-DCMAKE_C_FLAGS={level}",
                            f"-DCMAKE_CXX_FLAGS={level}"], check=True, stdout=subprocess.DEVNULL)
            subprocess.run(["cmake", "--build", str(where), "--target", "convoy-loadgen", "-j", str(jobs)], check=True,
                           stdout=subprocess.DEVNULL)
            programs.append(str(where / "convoy-loadgen"))
    return programs


def run(program, options, policy, seed=1, randomised=True):
    """Returns the trace hash and the operations per second of one run."""
    command = [] if randomised else ["setarch", platform.machine(), "-R"]
    command += [program, "locktest", "--machine", MACHINE, "--lock", policy, "--threads", str(options.threads),
                "--read-percent", str(READ_PERCENT[policy]), "--load", "100", "--duration", options.duration, "--seed", str(seed), "--quiet",
                "--json", "-"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"same_hash: {' '.join(command)}: exit status {done.returncode}: {done.stderr.strip()}")
    result = json.loads(done.stdout)["runs"][0]
    return result["trace_hash"], result["transactions_per_second"]


def compare_builds(programs, options, policy):
    hashes = {}
    for program in programs:
        for randomised in (True, False):
            trace, _ = run(program, options, policy, randomised=randomised)
            print(f"{policy:<16} {trace}  {'' if randomised else 'setarch -R '}{program}")
            hashes[trace] = program
    return len(hashes) == 1


def compare_seeds(program, options, policy):
    runs = [run(program, options, policy, seed) for seed in range(1, options.seeds + 1)]
    rates = [rate for _, rate in runs]
    mean = sum(rates) / len(rates)
    spread = max(abs(rate / mean - 1) for rate in rates)
    print(f"{policy:<16} {len(rates)} seeds: {min(rates):.0f} to {max(rates):.0f} op/s, at most {spread:.2%} from the mean")
    return len({trace for trace, _ in runs}) == len(runs) and 0 < spread < MOST_SPREAD


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("loadgen", nargs="*")
    parser.add_argument("--build", metavar="FOLDER")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--duration", default="1s")
    parser.add_argument("--threads", type=int, default=96)
    parser.add_argument("--seeds", type=int, default=10)
    options = parser.parse_args()
    if bool(options.loadgen) == bool(options.build) or options.seeds < 2:
        parser.error("LOADGEN..., or --build FOLDER; --seeds: at least 2")
    programs = build(options.build, options.jobs) if options.build else [str(pathlib.Path(p).resolve())
                                                                         for p in options.loadgen]
    failures = []
    for policy, reads in READ_PERCENT.items():
        if not compare_builds(programs, options, policy):
            failures.append(f"{policy}: the trace hashes differ")
        if reads != 0 and not compare_seeds(programs[0], options, policy):
            failures.append(f"{policy}: the seeds' totals are alike, 3 % apart, or two runs are the same")
    for failure in failures:
        print(f"same_hash: {failure}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
