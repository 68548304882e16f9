#!/usr/bin/env python3
# expect_defect.py - Runs a busted twin: the explorer must find the defect that the patch names, and its replay must repeat it.
# SPDX-License-Identifier: MIT
"""usage: expect_defect.py PATCH PROGRAM   (from the repository's root)"""
import os
import re
import subprocess
import sys


def main(patch, program):
    text = open(patch, encoding="utf-8").read()
    header = {key: re.search(rf"^{key}: (.+)$", text, re.M).group(1) for key in ("Breaks", "Cell", "Defect")}
    run = subprocess.run([os.path.relpath(program), *header["Cell"].split()], capture_output=True, text=True)
    print(header["Breaks"])
    print(run.stdout, end="")
    if run.returncode != 1:
        sys.exit(f"expect_defect: the explorer found nothing (exit {run.returncode}) {run.stderr}")
    if not re.search(rf"^{header['Defect']}: ", run.stdout, re.M):
        sys.exit(f"expect_defect: not the defect that the patch names: {header['Defect']}")
    replay_line = re.search(r"^replay: (.+)$", run.stdout, re.M).group(1)
    replay = subprocess.run(replay_line.split(), capture_output=True, text=True)
    if replay.returncode != 1 or not re.search(rf"^{header['Defect']}: ", replay.stdout, re.M):
        sys.exit(f"expect_defect: the replay line does not repeat it (exit {replay.returncode})\n{replay.stdout}{replay.stderr}")
    print("the replay line repeats it")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
