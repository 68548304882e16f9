#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""swaps.py - Changes the page lock's policy at random moments under load and checks every body.

usage: swaps.py SERVER [--seconds 600] [--swaps 1000] [--users 250] [--seed 1]

Starts SERVER on a free port of 127.0.0.1, asks for its files over `users` keep-alive connections and compares each
body with the file; meanwhile PUTs /config/page-lock, each time another policy. Passes when every body was right, no
request and no swap failed, every swap was made, and the server's memory did not grow by more than 16 MiB after the
first tenth of the time. Exit status: 0 passed, 1 not, 2 usage.
"""
import argparse
import asyncio
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

GROWTH_ALLOWED_KIB = 16 * 1024
DRAIN_S = 20


class Failure(Exception):
    pass


async def read_answer(reader):
    """Reads one answer with a Content-Length; returns (status, body)."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = re.search(rb"\r\ncontent-length: *(\d+)\r\n", head, re.IGNORECASE)
    if length is None:
        raise Failure(f"an answer without a length: {head[:80]!r}")
    return int(head[9:12]), await reader.readexactly(int(length[1]))


class Load:
    def __init__(self, port, docroot, seed):
        self.port = port
        self.random = random.Random(seed)
        self.files = {f"/{name}": (docroot / name).read_bytes() for name in ("hot.bin", "hot.html", "index.html")}
        self.files.update({f"/many/{i}": (docroot / "many" / str(i)).read_bytes() for i in range(1, 65)})
        # Half of the requests are for the one hot file.
        self.paths = ["/hot.bin"] * len(self.files) + sorted(self.files)
        self.answers = 0
        self.swaps = []
        self.stop = False

    async def user(self):
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        while not self.stop:
            path = self.random.choice(self.paths)
            writer.write(f"GET {path} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
            status, body = await asyncio.wait_for(read_answer(reader), 30)
            if status != 200 or body != self.files[path]:
                raise Failure(f"{path}: status {status}, {len(body)} bytes that are not the file's")
            self.answers += 1
        writer.close()

    async def swapper(self, moments, start):
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(b"GET /config/page-lock HTTP/1.1\r\nHost: a\r\n\r\n")
        _, body = await read_answer(reader)
        allowed = json.loads(body)["allowed"]
        policies = [name.strip() for name in allowed.split("one of ")[-1].split(",")]
        policy = json.loads(body)["value"]
        for moment in moments:
            await asyncio.sleep(max(0.0, start + moment - time.monotonic()))
            policy = self.random.choice([name for name in policies if name != policy])
            writer.write(
                f"PUT /config/page-lock HTTP/1.1\r\nHost: a\r\nContent-Length: {len(policy)}\r\n\r\n{policy}".encode())
            status, body = await asyncio.wait_for(read_answer(reader), 30)
            mark = json.loads(body) if status == 200 else None
            if mark is None or mark["to"] != policy:
                raise Failure(f"swap to {policy}: {status} {body[:300]!r}")
            self.swaps.append(mark["done_s"] - mark["asked_s"])
        writer.close()


def first_line(log, server):
    for _ in range(200):
        log.seek(0)
        line = log.readline()
        if line.endswith("\n"):
            return line
        if server.poll() is not None:
            break
        time.sleep(0.05)
    raise Failure("the server does not start")


def rss_kib(pid):
    return int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text())[1])


async def drive(load, pid, options):
    start = time.monotonic()
    moments = sorted(load.random.uniform(0, options.seconds) for _ in range(options.swaps))
    users = [asyncio.create_task(load.user()) for _ in range(options.users)]
    swapper = asyncio.create_task(load.swapper(moments, start))
    memory = []
    while time.monotonic() - start < options.seconds or (not swapper.done() and
                                                         time.monotonic() - start < options.seconds + DRAIN_S):
        await asyncio.sleep(min(1.0, options.seconds / 10))
        memory.append(rss_kib(pid))
        for task in (*users, swapper):
            if task.done() and task.exception():
                raise task.exception()
        if sys.stderr.isatty():
            print(f"\r{time.monotonic() - start:.0f} s, {load.answers} answers, {len(load.swaps)} swaps", end="",
                  file=sys.stderr)
    load.stop = True
    await asyncio.gather(*users, swapper)
    return memory


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("server")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--swaps", type=int, default=1000)
    parser.add_argument("--users", type=int, default=250)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    # A file, not a pipe: a server that says much must not wait for a reader.
    with tempfile.TemporaryFile("a+") as log, subprocess.Popen([options.server, "--http", "127.0.0.1:0"],
                                                               stderr=log) as server:
        try:
            ready = first_line(log, server)
            port = int(re.search(r" http=[^ ]*:(\d+)", ready)[1])
            docroot = pathlib.Path(re.search(r" docroot=(\S+)", ready)[1])
            load = Load(port, docroot, options.seed)
            memory = asyncio.run(drive(load, server.pid, options))
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(timeout=10)
    after_start = memory[len(memory) // 10:]
    growth = max(after_start) - after_start[0]
    swaps = sorted(load.swaps)
    print(f"{load.answers} bodies right, {len(swaps)} swaps (median {1e3 * swaps[len(swaps) // 2]:.2f} ms, longest "
          f"{1e3 * swaps[-1]:.1f} ms), memory {after_start[0]} KiB, grew by {growth} KiB; exit code {server.returncode}")
    passed = len(swaps) == options.swaps and growth <= GROWTH_ALLOWED_KIB and server.returncode == 0
    return 0 if passed else 1


if __name__ == "__main__":
    os.environ.setdefault("PYTHONUNBUFFERED", "1")
    try:
        sys.exit(main())
    except (Failure, asyncio.IncompleteReadError, asyncio.TimeoutError, OSError, TypeError) as error:
        print(f"swaps.py: {error!r}", file=sys.stderr)
        sys.exit(1)
