#!/usr/bin/env python3
# labels_test.py - Goal: the "Synchronizes-with" tables of locks/ and cache/ say what happens. Method: compares them and the
# label comments with the pairs of operations that the explorer saw synchronise, over all cells.
# SPDX-License-Identifier: MIT
"""usage: labels_test.py DIRECTORY | --static | --self-test   (from anywhere; prints each breach, exits 1 if there is one)

DIRECTORY holds one file a cell, as `explore --pairs` writes it; ctest fills it. --static looks at the sources only.

  label     a capital letter and a digit in a comment at an atomic operation: // A1
  table     after "Synchronizes-with" in the head of a file: A: A1 what releases → A0 what acquires, A2 what else does
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LABEL = re.compile(r"\b[A-HJ-Z]\d\b")  # I1 is an invariant
CALL = re.compile(r"(?:\.|->)(?:load|store|exchange|compare_exchange|fetch_\w+)\s*\(|\bW::(?:await|await_exchange|spin_for)\s*(?:<[^()]*>)?\(")
ORDERED = {"acquire", "release", "acq_rel", "seq_cst", "order"}  # `order` is a parameter of the function
NOT_LOCKS = re.compile(r"^locks/(world|world_real|std_\w+|annotations)\.h$")


def blank_comments(text):
    """The code alone, every character at its place."""
    return re.sub(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\])*\"", lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.S)


def arguments(code, start):
    """The arguments of the call whose parenthesis opens before start, and where it ends."""
    depth, begin, found = 0, start, []
    for i in range(start, len(code)):
        if code[i] in "([{":
            depth += 1
        elif code[i] in ")]}":
            if depth == 0:
                return [*found, code[begin:i].strip()], i
            depth -= 1
        elif code[i] == "," and depth == 0:
            found.append(code[begin:i].strip())
            begin = i + 1
    return found, len(code)


class Operation:
    def __init__(self, path, first, last, labels):
        self.path, self.first, self.last, self.labels = path, first, last, labels

    def __str__(self):
        return f"{self.path}:{self.first}"


class Header:
    def __init__(self, path, text):
        self.path = path
        self.includes = [pathlib.PurePosixPath(name).name for name in re.findall(r'^#include "([^"]+)"', text, re.M)]
        self.operations = list(self.find_operations(text))
        self.pairs, self.breaches = [], []
        self.read_table(text)

    def find_operations(self, text):
        code, lines = blank_comments(text), text.split("\n")
        for call in CALL.finditer(code):
            found, end = arguments(code, call.end())
            if not ORDERED & set(found):
                continue
            rest = re.compile(r"[;{]").search(code, end)
            first, last = code.count("\n", 0, call.start()) + 1, code.count("\n", 0, rest.end() if rest else end) + 1
            comments = " ".join(line.split("//", 1)[1] for line in lines[first - 1:last] if "//" in line)
            yield Operation(self.path, first, last, set(LABEL.findall(comments)))

    def read_table(self, text):
        head = text.split("#pragma once")[0]
        table = re.search(r"Synchronizes-with:?(.*?)(?:\n//\s*\n|\Z)", head, re.S)
        if not table:
            return
        entries = re.sub(r"\([^()]*\)", "", re.sub(r"\n//", "\n", table.group(1)))
        for entry in re.split(r"(?:^|\n)\s*(?=[A-Z]:\s)", entries):
            sides = re.split(r"→|->", entry)
            if len(sides) == 2:
                left, right = (LABEL.findall(side) for side in sides)
                self.pairs += [(release, acquire) for release in left for acquire in right]
                if not left or not right:
                    self.breaches.append(f"{self.path}: no labels on both sides: {' '.join(entry.split())}")
            elif len(sides) > 2:
                self.breaches.append(f"{self.path}: more than one arrow: {' '.join(entry.split())}")

    def labels(self):
        return {label for pair in self.pairs for label in pair}


def reachable(header, headers):
    """The header and what it includes, directly or not."""
    found, todo = {}, [header]
    while todo:
        one = todo.pop()
        if one.path not in found:
            found[one.path] = one
            todo += [other for other in headers if other.path.split("/")[-1] in one.includes]
    return list(found.values())


def holders(header, label, headers):
    """The files whose operations a label of this file's table means: itself, else who includes it, else what it includes."""
    def has(other):
        return any(label in operation.labels for operation in other.operations)

    includers = [other for other in headers if has(other) and header in reachable(other, headers)]
    return [header] if has(header) else includers or [other for other in reachable(header, headers) if has(other)]


def check_sources(headers):
    for header in headers:
        yield from header.breaches
        known = set().union(*(other.labels() for other in reachable(header, headers)))
        for operation in header.operations:
            if not operation.labels:
                yield f"{operation}: an ordered operation without a label"
            for label in sorted(operation.labels - known):
                yield f"{operation}: {label} stands in no table of this file or of what it includes"
        for label in sorted(header.labels()):
            if not holders(header, label, headers):
                yield f"{header.path}: {label} of the table stands at no operation"


def check_pairs(headers, observed):
    """observed: pairs of (path, line), release first."""
    def operation_at(path, line):
        return [o for header in headers if header.path == path for o in header.operations if o.first <= line <= o.last]

    seen = set()
    for release, acquire in observed:
        for first in operation_at(*release):
            for second in operation_at(*acquire):
                seen |= {(first.path, a, second.path, b) for a in first.labels for b in second.labels}
    for header in headers:
        for release, acquire in header.pairs:
            if not any((first.path, release, second.path, acquire) in seen
                       for first in holders(header, release, headers) for second in holders(header, acquire, headers)):
                yield f"{header.path}: {release} → {acquire} was observed in no cell"


def read_headers():
    for path in sorted([*ROOT.glob("locks/*.h"), *ROOT.glob("cache/*.h")]):
        name = path.relative_to(ROOT).as_posix()
        if not NOT_LOCKS.match(name):
            yield Header(name, path.read_text(encoding="utf-8"))


def read_pairs(directory):
    places = re.compile(r"(?:^|\s)(?:\S*/)?((?:locks|cache)/[\w.]+):(\d+)")
    for path in sorted(pathlib.Path(directory).iterdir()):
        for line in set(path.read_text(encoding="utf-8").splitlines()):
            ends = places.findall(line)
            if len(ends) == 2:
                yield tuple((name, int(number)) for name, number in ends)


SELF_TEST_HEADER = """// a.h — A lock.
// Synchronizes-with
//   A: A1 unlock → A0 lock, A2 try (critical section, not A9)
//
#pragma once
void lock() { W::await(word_, acquire, [](int w) { return w == 0; }); }  // A0
bool try_lock() {
  return word_.compare_exchange(free,
                                1, acquire);  // A2
}
void unlock() { word_.store(0, release); }  // A1
bool is_locked() { return word_.load(relaxed) != 0; }
"""


def self_test():
    def breaches(text, *observed):
        headers = [Header("locks/a.h", text)]
        return list(check_sources(headers)) + list(check_pairs(headers, observed))

    unlock, lock, try_lock = ("locks/a.h", 11), ("locks/a.h", 6), ("locks/a.h", 9)
    both = [(unlock, lock), (unlock, try_lock)]
    cases = [
        ("a clean file", SELF_TEST_HEADER, both, 0),
        ("a pair that no cell shows", SELF_TEST_HEADER, both[:1], 1),
        ("an operation without a label", SELF_TEST_HEADER.replace("  // A0", ""), both, 3),
        ("a label that no table has", SELF_TEST_HEADER.replace("// A2", "// A2, B0"), both, 1),
        ("a label of the table at no operation", SELF_TEST_HEADER.replace("A2 try", "A2 try, A3 more"), both, 2),
        ("a label at an operation that is relaxed", SELF_TEST_HEADER.replace("release)", "relaxed)"), both, 3),
    ]
    failed = 0
    for name, text, observed, expected in cases:
        found = breaches(text, *observed)
        if len(found) != expected:
            failed += 1
            print(f"self-test: {name}: {len(found)} breaches instead of {expected}: {found}")
    return failed


def main(arguments):
    if arguments == ["--self-test"]:
        failed = self_test()
        print(f"labels self-test: {failed} cases fail")
        return 1 if failed else 0
    if len(arguments) != 1:
        sys.exit(__doc__)
    headers = list(read_headers())
    breaches = list(check_sources(headers))
    observed = []
    if arguments != ["--static"]:
        observed = list(read_pairs(arguments[0]))
        breaches += check_pairs(headers, observed)
    print("\n".join(breaches))
    operations = sum(len(header.operations) for header in headers)
    print(f"labels: {len(breaches)} breaches; {operations} ordered operations, "
          f"{sum(len(header.pairs) for header in headers)} pairs in tables, {len(set(observed))} observed")
    return 1 if breaches or operations < 20 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
