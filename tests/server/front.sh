#!/bin/bash
# front.sh — Other people's clients against the server: answered in time, and counted right.
# SPDX-License-Identifier: MIT
# Usage: tests/server/front.sh [BUILD_DIR [clients|errors|all]]; needs ab, siege, wrk, curl and strace. Exit 0: everything held.
set -euo pipefail
build=$(realpath "${1:-build/release}")
part=${2:-all}
work=$(mktemp -d)
server=
log=
cleanup() {
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  rm -rf "$work"
}
trap cleanup EXIT

fail() {
  echo "front.sh: $*" >&2
  [ -z "$log" ] || cat "$log" >&2
  exit 1
}

for tool in ab siege wrk curl strace; do
  command -v "$tool" >/dev/null || fail "$tool is missing: ./run test installs it"
done
# siege keeps its settings in the home folder, and writes a log there. With -q alone it says nothing, and ends with 0
# whatever happened.
export HOME=$work
mkdir "$work/.siege"
printf 'logging = false\ncolor = off\njson_output = true\n' >"$work/.siege/siege.conf"

# start COMMAND...: runs a command that becomes the server; sets server, port and url.
start() {
  log=$work/log
  : >"$log"  # here, not by the process below, which may be late: else the port of the server before is read
  "$@" 2>"$log" &
  server=$!
  local tries=0
  until port=$(sed -n 's/^convoy-server ready http=127\.0\.0\.1:\([0-9]*\) .*/\1/p' "$log") && [ -n "$port" ]; do
    tries=$((tries + 1))
    [ "$tries" -lt 300 ] || fail "the server does not start: $*"
    sleep 0.1
  done
  url=http://127.0.0.1:$port
}

stop() {
  kill "$server"
  wait "$server" || fail "the server did not end with 0"
  server=
}

# A number of /server-status?auto. Asking for it is not counted.
number() { curl -sS --max-time 10 "$url/server-status?auto" | sed -n "s/^$1: //p"; }

# expect WHAT WANTED GOT
expect() {
  [ "$2" = "$3" ] || fail "$1: wanted $2, got $3"
  echo "ok: $1: $3"
}

server_command=("$build/convoy-server" --http 127.0.0.1:0)

# Load generators, and more clients than descriptors.
clients() {
  start "${server_command[@]}"

  # HTTP/1.0 without keep-alive: a connection a request, closed by the server at once.
  timeout 60 ab -q -c 10 -n 2000 "$url/hot.html" >"$work/ab" 2>&1 || fail "ab: $(cat "$work/ab")"
  expect "ab: complete" 2000 "$(awk '/^Complete requests:/ { print $3 }' "$work/ab")"
  expect "ab: failed" 0 "$(awk '/^Failed requests:/ { print $3 }' "$work/ab")"
  counted=$(number 'Total Accesses')
  # ab opens up to 10 connections more than it needs, and sends requests over those that are established in time.
  [ "$counted" -ge 2000 ] && [ "$counted" -le 2010 ] || fail "ab: 2000 requests, $counted counted"
  echo "ok: ab: counted: $counted"
  # H2: a server that kept the connection open would make each request as long as its time-out.
  longest=$(awk '$1 == "100%" { print $2 }' "$work/ab")
  [ "$longest" -lt 1000 ] || fail "ab: the longest request took $longest ms"

  # H1: HTTP/1.0 with keep-alive; ab waits for a time-out where it is not told that the connection stays open.
  before=$counted
  began=$(date +%s%N)
  timeout 60 ab -q -k -c 1 -n 100 "$url/hot.html" >"$work/ab" 2>&1 || fail "ab -k: $(cat "$work/ab")"
  took_ms=$((($(date +%s%N) - began) / 1000000))
  expect "ab -k: kept alive" 100 "$(awk '/^Keep-Alive requests:/ { print $3 }' "$work/ab")"
  expect "ab -k: counted" 100 $(($(number 'Total Accesses') - before))
  [ "$took_ms" -lt 1000 ] || fail "ab -k: 100 requests took $took_ms ms"

  before=$(number 'Total Accesses')
  timeout 120 siege -q -b -c 100 -r 100 "$url/hot.html" >"$work/siege" 2>&1 || fail "siege: $(cat "$work/siege")"
  hit() { awk -F '[:,]' -v key="\"$1\"" 'index($1, key) { print $2 + 0 }' "$work/siege"; }
  expect "siege: transactions" 10000 "$(hit transactions)"
  expect "siege: failed" 0 "$(hit failed_transactions)"
  expect "siege: counted" 10000 $(($(number 'Total Accesses') - before))

  # S3: a rush of clients that connect anew for each request has no latencies of 1 s and 3 s, those of a SYN sent again.
  loadgen() { timeout 120 "$build/convoy-loadgen" http "$url/hot.html" "$@" --quiet --json "$work/result" >/dev/null 2>"$work/loadgen"; }
  before=$(number 'Total Accesses')
  loadgen -c 250 -n 50000 --connection close || fail "convoy-loadgen: $(cat "$work/loadgen")"
  expect "50,000 connections: counted" 50000 $(($(number 'Total Accesses') - before))
  expect "50,000 connections: SYN sent again" 0 "$(grep -c 'SYN was dropped' "$work/loadgen" || true)"

  # L9: more users than select() knows descriptors.
  before=$(number 'Total Accesses')
  loadgen -c 2000 -n 20000 || fail "convoy-loadgen: $(cat "$work/loadgen")"
  expect "2,000 users: counted" 20000 $(($(number 'Total Accesses') - before))
  stop

  # More clients than descriptors: those who are in are served, the others wait, and the next one finds the server well.
  start bash -c 'ulimit -n 1024; exec "$@"' - "${server_command[@]}"
  (ulimit -Sn "$(ulimit -Hn)"; timeout 60 wrk -t2 -c5000 -d5s "$url/hot.html") >"$work/wrk" 2>&1 || fail "wrk: $(cat "$work/wrk")"
  requests=$(sed -n 's/^ *\([0-9]*\) requests in .*/\1/p' "$work/wrk")
  answers=$(number 'Total Accesses')
  [ "${requests:-0}" -gt 1000 ] || fail "wrk: ${requests:-no} requests: $(cat "$work/wrk")"
  ! grep -q 'Non-2xx' "$work/wrk" || fail "wrk: $(cat "$work/wrk")"
  # wrk ends in the midst of its requests: one of each connection may be counted and not taken.
  [ "$answers" -ge "$requests" ] && [ "$answers" -le $((requests + 5000)) ] || fail "wrk: $requests requests, $answers counted"
  echo "ok: wrk -c5000 under ulimit -n 1024: $requests requests, $answers counted"
  errors=$(number AcceptErrors)
  [ "$errors" -gt 0 ] || fail "5000 clients fitted into 1024 descriptors"
  echo "ok: accepts that had to wait: $errors"
  expect "curl afterwards" 200 "$(curl -sS --max-time 5 -o /dev/null -w '%{http_code}' "$url/hot.html")"
  stop
}

# Errors of accept.
errors() {
  # Under strace a sanitized server cannot look for leaks at its end.
  export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
  # The loop goes on whatever accept says. Each run fails the first three calls.
  for error in ECONNABORTED EPROTO EINTR EPERM ENETDOWN EHOSTUNREACH EOPNOTSUPP EMFILE ENFILE ENOBUFS ENOMEM EIO EINVAL EBADF; do
    start strace -D -qq -f -o /dev/null -e trace=accept4 -e inject=accept4:error=$error:when=1..3 "${server_command[@]}" --workers 2
    expect "accept fails with $error" 200 "$(curl -sS --max-time 10 -o /dev/null -w '%{http_code}' "$url/hot.html")"
    failed=$(number AcceptErrors)
    [ "$failed" -ge 1 ] && [ "$failed" -le 3 ] || fail "accept fails with $error: $failed counted"
    stop
  done

  # An error that stays must not become a busy loop, whatever it is.
  ticks() { awk '{ print $14 + $15 }' "/proc/$server/stat"; }
  for error in EMFILE EPERM; do
    start strace -D -qq -f -o /dev/null -e trace=accept4 -e inject=accept4:error=$error:when=1+ "${server_command[@]}" --workers 2
    exec 3<>"/dev/tcp/127.0.0.1/$port"
    sleep 0.3
    before=$(ticks)
    sleep 2
    used=$(($(ticks) - before))
    [ "$used" -le 10 ] || fail "the loop used $used ticks of 10 ms in 2 s while accept failed with $error"
    echo "ok: CPU while accept fails with $error: $used ticks of 10 ms in 2 s"
    exec 3>&-
    stop
  done
}

case $part in
  clients|errors) "$part" ;;
  all) clients; errors ;;
  *) fail "no part '$part'; allowed: clients, errors, all" ;;
esac
echo "front.sh: all well"
