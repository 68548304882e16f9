#!/bin/sh
# timers.sh — No timer in the request path: counts timer and sleep calls of the server under load with strace.
# SPDX-License-Identifier: MIT
# Usage: tests/server/timers.sh [BUILD_DIR]; needs strace and ab. Exit 0: under 1 call per 1,000 requests.
set -eu
build=${1:-build/release}
requests=20000
work=$(mktemp -d)
server=
cleanup() {
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  rm -rf "$work"
}
trap cleanup EXIT

# strace starts the server, so that every thread is traced from its start; -D keeps the server our own child.
strace -D -f -c -U name,calls -o "$work/calls" "$build/convoy-server" --http 127.0.0.1:0 2>"$work/log" &
server=$!
tries=0
until port=$(sed -n 's/^convoy-server ready http=127\.0\.0\.1:\([0-9]*\) .*/\1/p' "$work/log") && [ -n "$port" ]; do
  tries=$((tries + 1))
  [ "$tries" -lt 200 ] || { echo "timers.sh: the server does not start" >&2; cat "$work/log" >&2; exit 1; }
  sleep 0.1
done
timeout 120 ab -q -k -c 50 -n "$requests" "http://127.0.0.1:$port/hot.bin" >"$work/ab"
grep -q '^Failed requests: *0$' "$work/ab" || { cat "$work/ab" >&2; exit 1; }
kill "$server"
wait "$server" || true
server=
tries=0
until grep -q total "$work/calls" 2>/dev/null; do  # strace writes its table after the server has ended
  tries=$((tries + 1))
  [ "$tries" -lt 100 ] || { echo "timers.sh: strace wrote no table" >&2; exit 1; }
  sleep 0.1
done
timers=$(awk '$1 ~ /^(nanosleep|clock_nanosleep|timerfd_settime|timer_settime|setitimer)$/ { sum += $2 } END { print sum + 0 }' "$work/calls")
echo "$timers timer and sleep calls in $requests requests (allowed: under $((requests / 1000)))"
[ "$timers" -lt $((requests / 1000)) ]
