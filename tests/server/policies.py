#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""policies.py - Every policy that a role takes, under load: the page lock's one after the other on a server that runs,
those of the page index and of the page lists each on a server of its own.

usage: policies.py BUILD_DIR [--seconds 2] [--users 100] [--requests N]   (./run soak policies)

Passes when no request failed, none is missing (started = completed + in flight), every swap was made and left its mark, and
result and server name the policy that was asked for. Which policies a role takes, the server says.
`seconds` is the time of each. The page lists are worked by a cache with room for half of what is asked for, which is more than the users can pin.
Exit status: 0 passed, 1 not, 2 usage.
"""
import argparse
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

FILES, FILE_BYTES = 512, 12 * 1024  # a folio each
HALF = f"{FILES // 2 * 16}KiB"


class Failure(Exception):
    pass


class Server:
    def __init__(self, options, *more):
        self.log = tempfile.TemporaryFile("a+")
        command = [options.build / "convoy-server", "--http", "127.0.0.1:0", "--docroot", options.docroot, *more]
        self.process = subprocess.Popen(command, stderr=self.log)

    def __enter__(self):
        for _ in range(400):
            self.log.seek(0)
            if ready := re.search(r"^convoy-server ready http=(\S+)", self.log.read(), re.M):
                self.url = f"http://{ready[1]}"
                return self
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        raise Failure(f"the server does not start: {self.text()}")

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(timeout=20)
        if status != 0:
            raise Failure(f"the server ended with {status}: {self.text()}")

    def text(self):
        self.log.seek(0)
        return self.log.read()[-2000:]

    def setting(self, name):
        with urllib.request.urlopen(f"{self.url}/config/{name}", timeout=10) as answer:
            return json.load(answer)

    def allowed(self, name):
        return [policy.strip() for policy in self.setting(name)["allowed"].split("one of ")[-1].split(",")]


def load(build, url, options):
    """One run of the generator; returns it when nothing failed and nothing is missing."""
    run = subprocess.run([build / "convoy-loadgen", "http", url, *options, "--quiet", "--json", "-"], capture_output=True,
                         text=True, timeout=600)
    if run.returncode != 0:
        raise Failure(f"the generator ended with {run.returncode}: {run.stderr[-2000:]}")
    result = json.loads(run.stdout)["runs"][0]
    if result["errors"] or set(result["status"]) != {"200"}:
        raise Failure(f"errors {result['errors']}, status {result['status']}")
    if result["started"] != result["transactions"] + result["in_flight_at_end"]:
        raise Failure(f"{result['started']} started, {result['transactions']} completed, {result['in_flight_at_end']} in flight")
    return result


def swap_the_page_lock(options):
    with Server(options) as server:
        first = server.setting("page-lock")["value"]
        order = [policy for policy in server.allowed("page-lock") if policy != first] + [first]
        at = [f"--at={(i + 1) * options.seconds}s:page-lock={policy}" for i, policy in enumerate(order)]
        length = (len(order) + 1) * options.seconds
        run = load(options.build, server.url + "/hot.bin",
                   ["--users", str(options.users), "--duration", f"{length}s", "--warmup", "500ms", *at])
        marks = [mark["to"] for mark in run["marks"]]
        if marks != order:
            raise Failure(f"swaps asked for: {order}; made: {marks}")
        longest = max(mark["done_s"] - mark["asked_s"] for mark in run["marks"])
        print(f"page-lock: {', '.join([first, *order])}: {run['transactions']} transactions, none failed; "
              f"{len(marks)} swaps, the longest {1e3 * longest:.1f} ms")


def start_with_each(role, options):
    with Server(options) as server:
        policies = server.allowed(role)
    for policy in policies:
        with Server(options, f"--{role}", policy, "--capacity", HALF) as server:
            if (value := server.setting(role)["value"]) != policy:
                raise Failure(f"started with --{role} {policy}, and it says {value}")
            length = ["--requests", str(options.requests)] if options.requests else ["--duration", f"{options.seconds}s"]
            users = ["--users", str(options.users), *length]
            hot = load(options.build, server.url + "/hot.bin", users)
            many = load(options.build, server.url + f"/many/{{1..{FILES}}}", users)
            for run in (hot, many):
                if run["policy"][role.split("-")[0]] != policy:
                    raise Failure(f"{role} {policy}: the result says {run['policy']}")
            print(f"{role}: {policy}: {hot['transactions_per_second']:.0f} a second of one file, "
                  f"{many['transactions_per_second']:.0f} of {FILES} files with room for half, none failed", flush=True)


def make_files(docroot):
    (docroot / "many").mkdir()
    for name in ("hot.bin", *(f"many/{i + 1}" for i in range(FILES))):
        (docroot / name).write_bytes(os.urandom(FILE_BYTES))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--users", type=int, default=100)
    parser.add_argument("--requests", type=int, help="so many of each server instead of a time")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as docroot:
        options.docroot = pathlib.Path(docroot)
        make_files(options.docroot)
        swap_the_page_lock(options)
        for role in ("mapping-lock", "lru-lock"):
            start_with_each(role, options)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Failure, OSError, subprocess.SubprocessError) as error:
        print(f"policies.py: {error}", file=sys.stderr)
        sys.exit(1)
