#!/usr/bin/env python3
# pressure.py - Goal: a cache a quarter of what is asked of it, files that change all the time: every body is one version.
# SPDX-License-Identifier: MIT
"""usage: pressure.py [SECONDS [BUILD_DIR [ROOM_MIB]]]   (600 s, build/release, 64; exits 1 and says why when a claim fails)

Method: 250 keep-alive users ask for 100 files a second of the run, 20,000 at most, of 100 bytes to 1 MiB, two of three
times one of the hot twentieth. Meanwhile another process changes about 200 files a second: a quarter of the files is
replaced by renaming, a quarter is rewritten in place and cut short, a quarter is removed and made anew, a quarter stays.
What a file holds follows from its number and its version, so that each body can be compared byte by byte.

Claims: a body is one version whole, or of a file that is cut short a prefix of one. 404 comes for files that are removed
only; 503, or an end before the promised length, only for those rewritten in place. In the end no page is pinned, there
are no more folios than the capacity, what was filled and not reclaimed fits in, and the server's memory never was more
than the capacity and ROOM_MIB.
"""
import json
import os
import random
import re
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

USERS = 250
ROOM_MIB = 64  # 256 workers' stacks and connections, 20,000 known files, the libraries
BLOCK = random.Random(1).randbytes(6 << 20)
STAYS, REPLACED, REWRITTEN, REMOVED = range(4)


def size_of(number, version):
    draw = random.Random(number * 1000003 + (0 if number % 4 == REWRITTEN else version))
    return draw.choice((100, 3000, 4096, 9000, 12288, 16384, 20000, 40000, 70000)) if draw.random() < 0.98 else draw.randrange(300000, 1 << 20)


def content(number, version):
    size = size_of(number, version)
    start = (number * 7919 + version * 104729) % (len(BLOCK) - (1 << 20))
    return f"{number:08} {version:08} ".encode() + BLOCK[start:start + size - 18]


def change_files(folder, count, seed):
    """Until it is killed: a step every 5 ms."""
    draw = random.Random(seed)
    version = 1
    while True:
        number = draw.randrange(count // 20 if draw.random() < 0.5 else count)
        kind = number % 4
        path = f"{folder}/{number}"
        version += 1
        if kind == REPLACED or (kind == REMOVED and not os.path.exists(path)):
            with open(f"{folder}/new", "wb") as file:
                file.write(content(number, version))
            os.replace(f"{folder}/new", path)
        elif kind == REMOVED:
            os.unlink(path)
        elif kind == REWRITTEN:
            descriptor = os.open(path, os.O_RDWR)
            if draw.random() < 0.3:
                os.ftruncate(descriptor, draw.randrange(18, os.fstat(descriptor).st_size + 1))
            else:
                os.pwrite(descriptor, content(number, version), 0)
            os.close(descriptor)
        time.sleep(0.005)


class Failed(Exception):
    pass


class User:
    def __init__(self, port, draw, count, counts):
        self.port, self.draw, self.count, self.counts = port, draw, count, counts
        self.socket = None

    def ask(self, selector):
        if self.socket is None:
            self.socket = socket.create_connection(("127.0.0.1", self.port))
            self.socket.setblocking(False)
            selector.register(self.socket, selectors.EVENT_READ, self)
        self.number = self.draw.randrange(self.count // 20 if self.draw.random() < 0.66 else self.count)
        self.input = bytearray()
        self.end = None
        self.asked = time.monotonic()
        self.socket.send(f"GET /{self.number} HTTP/1.1\r\nHost: a\r\n\r\n".encode())

    def receive(self, selector):
        """Returns whether the answer is over."""
        try:
            data = self.socket.recv(1 << 18)
        except BlockingIOError:
            return False
        except ConnectionResetError:
            data = b""
        if not data:
            selector.unregister(self.socket)
            self.socket.close()
            self.socket = None
            if self.number % 4 != REWRITTEN:
                raise Failed(f"file {self.number}: the connection ended after {len(self.input)} bytes of an answer")
            self.counts["cut"] += 1
            return True
        self.input += data
        if self.end is None:
            head = self.input.find(b"\r\n\r\n")
            if head < 0:
                return False
            self.body = head + 4
            self.end = self.body + int(re.search(rb"Content-Length: (\d+)", self.input).group(1))
        if len(self.input) < self.end:
            return False
        self.check(int(self.input[9:12]), bytes(self.input[self.body:]))
        return True

    def check(self, status, body):
        kind = self.number % 4
        self.counts[status] = self.counts.get(status, 0) + 1
        if status != 200:
            if (status, kind) not in ((404, REMOVED), (503, REWRITTEN)):
                raise Failed(f"file {self.number}: status {status}: {body[:200]}")
            return
        number, version = int(body[:8]), int(body[9:17])
        whole = content(number, version)
        if number != self.number or not (body == whole or (kind == REWRITTEN and whole.startswith(body))):
            differs = next((i for i, (a, b) in enumerate(zip(body, whole)) if a != b), min(len(body), len(whole)))
            raise Failed(f"file {self.number}: {len(body)} bytes are no version; not {version} from byte {differs} on")


def run_users(port, count, seconds, counts):
    selector = selectors.DefaultSelector()
    draw = random.Random(2)
    end = time.monotonic() + seconds
    busy = [User(port, draw, count, counts) for _ in range(USERS)]
    for user in busy:
        user.ask(selector)
    left = len(busy)
    while left > 0:
        for key, _ in selector.select(1):
            user = key.data
            if user.receive(selector):
                if time.monotonic() < end:
                    user.ask(selector)
                else:
                    left -= 1
        late = [user for user in busy if time.monotonic() - user.asked > 30 and time.monotonic() < end]
        if late or time.monotonic() > end + 30:
            raise Failed(f"no answer for 30 s, file {late[0].number if late else '?'}")


def memory_of(pid):
    """The most that was ever resident, in bytes."""
    with open(f"/proc/{pid}/status", encoding="utf-8") as status:
        return int(re.search(r"VmHWM:\s+(\d+) kB", status.read()).group(1)) * 1024


def claim(holds, text):
    if not holds:
        raise Failed(text)


def run(folder, seconds, build, room):
    count = min(20000, max(400, int(100 * seconds)))
    total = 0
    for number in range(count):
        with open(f"{folder}/{number}", "wb") as file:
            total += file.write(content(number, 1))
    capacity = max(1, total // 4 >> 20) << 20
    server = subprocess.Popen([f"{build}/convoy-server", "--http", "127.0.0.1:0", "--docroot", folder, "--capacity", f"{capacity >> 20}MiB"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    changer = 0
    counts = {"cut": 0}
    try:
        ready = server.stdout.readline()
        found = re.search(r"http=127\.0\.0\.1:(\d+)", ready)
        claim(found, f"the server does not start: {ready}")
        port = int(found.group(1))
        changer = os.fork()
        if changer == 0:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            change_files(folder, count, 3)
        run_users(port, count, seconds, counts)
        deadline = time.monotonic() + 5
        while True:  # a connection that was cut may be let go a moment later
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/locks", timeout=10) as answer:
                cache = json.load(answer)["cache"]
            if cache["pins"] == 0 or time.monotonic() > deadline:
                break
            time.sleep(0.05)
        memory = memory_of(server.pid)
        print(f"{count} files, {total >> 20} MiB; capacity {capacity >> 20} MiB; {seconds:g} s; answers: {counts}")
        print(f"cache: {cache}; memory: capacity and {(memory - capacity) / (1 << 20):.1f} MiB at most")
        claim(cache["pins"] == 0, "pages are pinned, and no request runs")
        claim(cache["folios"] <= cache["capacity"], "there are more folios than the capacity")
        claim(cache["fills"] - cache["reclaims"] <= cache["folios"], "folios were filled that are nowhere")
        claim(cache["reclaims"] > 0 and cache["failed_fills"] >= 0, "nothing was reclaimed: no pressure")
        claim(memory <= capacity + room, f"memory: {memory >> 20} MiB, allowed {capacity + room >> 20}")
        claim(counts.get(200, 0) > 10 * USERS, "too few answers to mean anything")
        claim(server.poll() is None, "the server has ended")
    finally:
        if changer:
            os.kill(changer, signal.SIGKILL)
            os.waitpid(changer, 0)
        server.terminate()
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            server.kill()


def main(arguments):
    numbers = arguments[:1] + arguments[2:]
    if len(arguments) > 3 or not all(re.fullmatch(r"[0-9]+", number) for number in numbers):
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory(prefix="convoy-pressure-") as folder:
        try:
            run(folder, int(arguments[0]) if arguments else 600, arguments[1] if len(arguments) > 1 else "build/release",
                (int(arguments[2]) if len(arguments) > 2 else ROOM_MIB) << 20)
        except Failed as failure:
            sys.exit(f"pressure: {failure}")


if __name__ == "__main__":
    main(sys.argv[1:])
