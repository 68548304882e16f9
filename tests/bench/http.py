#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""http.py - convoy-server against nginx and httpd, side by side.

usage: http.py CONVOY_SERVER [--rounds 5] [--seconds 3] [--connections 50] [--json FILE]

Each round drives every server in turn with `wrk -t1` and one 10 KiB file, in an order that turns from round to round.
Prints requests per second and server CPU microseconds per request, then the medians of the rounds' ratios with their
spread. Exit status: 0 measured, 1 a server failed a request, 2 usage or a peer that is missing.
"""
import argparse
import grp
import json
import os
import pathlib
import pwd
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

FILE_BYTES = 10 * 1024
# httpd closes a connection now and then while it ends a process that it has too many of.
MOST_ERRORS = 0.001
HERE = pathlib.Path(__file__).resolve().parent


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def descendants(pid):
    """The process and all below it."""
    found = [pid]
    for task in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            found += descendants(int(child))
    return found


def cpu_seconds(pid):
    """User and system time of the process and all below it."""
    ticks = 0
    for one in descendants(pid):
        fields = pathlib.Path(f"/proc/{one}/stat").read_text().rsplit(")", 1)[1].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


class Server:
    """One server that runs from start() to stop()."""

    def __init__(self, name, command):
        self.name = name
        self.command = command  # of (folder, docroot, port)
        self.process = None

    def start(self, folder, docroot):
        self.port = free_port()
        with open(folder / f"{self.name}.err", "wb") as log:
            self.process = subprocess.Popen(self.command(folder, docroot, self.port), stdout=log, stderr=log)
        for _ in range(100):
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                if self.process.poll() is not None:
                    break
                time.sleep(0.05)
        raise RuntimeError(f"{self.name} does not serve: {(folder / f'{self.name}.err').read_text()[-500:]}")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=20)


def filled_in(name, folder, docroot, port):
    # httpd serves nothing as root; both then change to the user that Debian gives to such servers.
    user = "www-data" if os.getuid() == 0 else pwd.getpwuid(os.getuid()).pw_name
    group = grp.getgrgid(pwd.getpwnam(user).pw_gid).gr_name
    values = {"FOLDER": folder, "DOCROOT": docroot, "PORT": port, "MODULES": "/usr/lib/apache2/modules",
              "USER": user, "GROUP": group}
    text = (HERE / "peers" / name).read_text()
    for key, value in values.items():
        text = text.replace(f"@{key}@", str(value))
    path = folder / name
    path.write_text(text)
    return str(path)


def wrk(port, options):
    out = subprocess.run(
        ["wrk", "-t1", f"-c{options.connections}", f"-d{options.seconds}s", f"http://127.0.0.1:{port}/10k.bin"],
        check=True, capture_output=True, text=True, timeout=options.seconds + 30).stdout
    count = int(re.search(r"(\d+) requests in", out)[1])
    errors = sum(int(n) for line in re.findall(r"(?:Non-2xx|Socket errors).*", out) for n in re.findall(r" (\d+)", line))
    if count == 0 or errors > MOST_ERRORS * count:
        raise RuntimeError(f"failed requests: {out}")
    return count, float(re.search(r"Requests/sec: +([\d.]+)", out)[1]), errors


def measure(server, folder, docroot, options):
    server.start(folder, docroot)
    try:
        wrk(server.port, argparse.Namespace(connections=options.connections, seconds=1))
        before = cpu_seconds(server.process.pid)
        count, rate, errors = wrk(server.port, options)
        cpu = cpu_seconds(server.process.pid) - before
    finally:
        server.stop()
    return {"server": server.name, "requests_per_second": rate, "cpu_us_per_request": 1e6 * cpu / count,
            "errors": errors}


def summary(rows, base, other, key):
    pairs = zip([r[key] for r in rows if r["server"] == base], [r[key] for r in rows if r["server"] == other])
    ratios = [a / b for a, b in pairs]
    return (f"{base} / {other}, {key}: median {statistics.median(ratios):.2f} "
            f"[{min(ratios):.2f}-{max(ratios):.2f}], {len(ratios)} rounds")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("convoy_server")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--connections", type=int, default=50)
    parser.add_argument("--json")
    options = parser.parse_args()
    for program in ("wrk", "nginx", "apache2"):
        if shutil.which(program) is None:
            print(f"http.py: {program} is missing", file=sys.stderr)
            return 2
    servers = [
        Server("convoy", lambda folder, docroot, port: [
            options.convoy_server, "--http", f"127.0.0.1:{port}", "--docroot", str(docroot), "--threading", "apache",
            "--workers", "256", "--page-lock-unfairness", "1000"]),
        Server("nginx", lambda folder, docroot, port: ["nginx", "-c", filled_in("nginx.conf", folder, docroot, port)]),
        Server("httpd", lambda folder, docroot, port: [
            "apache2", "-D", "FOREGROUND", "-f", filled_in("httpd.conf", folder, docroot, port)]),
    ]
    rows = []
    with tempfile.TemporaryDirectory(prefix="convoy-bench-") as name:
        folder = pathlib.Path(name)
        docroot = folder / "docroot"
        docroot.mkdir()
        (docroot / "10k.bin").write_bytes(os.urandom(FILE_BYTES))
        folder.chmod(0o755)
        print(f"wrk -t1 -c{options.connections} -d{options.seconds}s, one file of {FILE_BYTES} bytes, keep-alive")
        print(f"{'round':>5} {'server':<8} {'requests/s':>12} {'CPU us/request':>15} {'errors':>7}")
        for turn in range(options.rounds):
            for server in servers[turn % 3:] + servers[:turn % 3]:
                row = measure(server, folder, docroot, options)
                rows.append(row)
                print(f"{turn + 1:>5} {row['server']:<8} {row['requests_per_second']:>12.0f} "
                      f"{row['cpu_us_per_request']:>15.1f} {row['errors']:>7}", flush=True)
    for peer in ("nginx", "httpd"):
        for key in ("requests_per_second", "cpu_us_per_request"):
            print(summary(rows, "convoy", peer, key))
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(rows, indent=2) + "\n")
    failed = sum(row["errors"] for row in rows if row["server"] == "convoy")
    if failed:
        print(f"http.py: convoy failed {failed} requests", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (RuntimeError, subprocess.SubprocessError, OSError) as error:
        print(f"http.py: {error}", file=sys.stderr)
        sys.exit(1)
