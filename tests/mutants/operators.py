#!/usr/bin/env python3
# operators.py - Draws mutants of the lock headers mechanically: small changes by a list of operators at seeded places.
# SPDX-License-Identifier: MIT
"""usage: operators.py [--seed N] [FILE...]   (from anywhere; lists every possible mutant of locks/*.h in the order of the draw)

A place is a line of a function's body. It is drawn by a hash of the seed and of what stands there, not by its number,
so that a change elsewhere in the file leaves the draw as it is. Left alone is what only tells (panics, counters, traits,
check_invariants(), describe(), hints) and what only declares.
"""
import argparse
import collections
import hashlib
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Not of a lock's algorithm: specifications, baselines, the operating system, texts, checks.
NOT_MUTATED = re.compile(
    r"^(world|world_real|std_\w+|annotations|traits|knobs|events|policies|none|lock|lock_class|lock_order|lockable)\.h$")

Operator = collections.namedtuple("Operator", "name pattern replacement order_only", defaults=(False,))


def one_more(match):
    return str(int(match.group()) + 1)


# Each match of the pattern in a line's code is a place. `order_only`: it does nothing but weaken a memory order.
OPERATORS = [
    Operator("acquire_to_relaxed", r"(?<=[(, ])acquire(?=[,)])", "relaxed", True),
    Operator("release_to_relaxed", r"(?<=[(, ])release(?=[,)])", "relaxed", True),
    Operator("acq_rel_to_acquire", r"(?<=[(, ])acq_rel(?=[,)])", "acquire", True),
    Operator("acq_rel_to_release", r"(?<=[(, ])acq_rel(?=[,)])", "release", True),
    Operator("seq_cst_load_to_acquire", r"(?<=load\()seq_cst(?=[,)])", "acquire", True),
    Operator("seq_cst_to_acq_rel", r"(?<=, )seq_cst(?=[,)])", "acq_rel", True),
    Operator("one_more", r"(?<=[ (,{])\d+(?=[;,)} ])", one_more),
    Operator("equal_to_unequal", r" == ", " != "),
    Operator("unequal_to_equal", r" != ", " == "),
    Operator("less_to_at_most", r" < ", " <= "),
    Operator("at_least_to_more", r" >= ", " > "),
    Operator("more_to_at_least", r" > ", " >= "),
    Operator("and_to_or", r" && ", " || "),
    Operator("or_to_and", r" \|\| ", " && "),
    Operator("bit_and_to_or", r" & ", " | "),
    Operator("bit_or_to_and", r" \| ", " & "),
    Operator("plus_to_minus", r" \+ ", " - "),
    Operator("minus_to_plus", r" - ", " + "),
    Operator("fetch_or_to_and", r"\bfetch_or\(", "fetch_and("),
    Operator("fetch_and_to_or", r"\bfetch_and\(", "fetch_or("),
    Operator("fetch_add_to_sub", r"\bfetch_add\(", "fetch_sub("),
    Operator("fetch_sub_to_add", r"\bfetch_sub\(", "fetch_add("),
    Operator("true_to_false", r"\btrue\b", "false"),
    Operator("false_to_true", r"\bfalse\b", "true"),
    Operator("granted_to_woken", r"\bVerdict::kGranted\b", "Verdict::kWoken"),
    Operator("woken_to_granted", r"\bVerdict::kWoken\b", "Verdict::kGranted"),
    Operator("stop_to_continue", r"\bWalk::kStop\b", "Walk::kContinue"),
    Operator("continue_to_stop", r"\bWalk::kContinue\b", "Walk::kStop"),
    Operator("break_to_continue", r"\bbreak;", "continue;"),
    Operator("continue_to_break", r"\bcontinue;", "break;"),
    Operator("condition_negated", r"\b(if|while) \((?=[^;{]*\)[^;{]*[;{]?$)(?!.*\blet\b)", None),
    Operator("result_negated", r"\breturn (?=[\w.]+\([^;]*\);)", "return !"),
    Operator("never_done_if", r"\bif \((?!constexpr)", "if (false && "),
    Operator("unpark_dropped", r"\bW::unpark\([^;]*?\);", ";"),
    Operator("statement_deleted", r"^(?!return\b|if\b|for\b|while\b|else\b|const\b|auto\b|using\b|static\b|friend\b|case\b)"
                                  r"[\w.>*+\[\]-]+(?:::\w+)*(?:<[\w, ]*>)?(?:\(.*\)| = .*|\+\+|--);$", ";"),
]

Mutant = collections.namedtuple("Mutant", "id file number operator before after order_only")

TELLS = re.compile(r"panic|snprintf|static_assert|count\(|count<|kTraits|witness|\bassert|describe|W::warn|report\.|require\(|W::at\(|if constexpr|operator==")
DECLARES = re.compile(r"^\s*(#|template\b|class\b|struct\b|using\b|friend\b|enum\b|public:|private:|protected:|static constexpr|"
                      r"(const )?(Atomic|Plain)<|namespace\b|explicit\b|requires\b|typename\b|\[\[no_unique_address|~?\w+\(const )")
SKIPPED_FUNCTION = re.compile(r"\b(describe\w*|panic\w*|check_invariants|say_\w+|is_locked|name_of|is_running)\(")


def body_lines(text):
    """Yields (number, line, code) of what may be mutated: `code` is the line without indent and comment."""
    skip_until = None
    for number, line in enumerate(text.split("\n"), 1):
        indent = len(line) - len(line.lstrip())
        if skip_until is not None:
            if line.startswith(" " * skip_until + "}"):
                skip_until = None
            continue
        if line.rstrip().endswith("{") and (SKIPPED_FUNCTION.search(line) and "if (" not in line or "kTraits{" in line):
            skip_until = indent
            continue
        code = re.sub(r"\s*//.*$", "", line).strip()
        if indent < 4 and not (code.endswith("}") and "{ " in code):
            continue  # of a class or a namespace; a function's body stands at four at least, or in its line
        if not code or code.startswith("//") or TELLS.search(code) or DECLARES.search(code) or SKIPPED_FUNCTION.search(code):
            continue
        yield number, line, code


def negate(line, match):
    """The line with the condition of the if or while at `match` negated; None when it goes on in the next line."""
    start = match.end() - 1
    depth = 0
    for i in range(start, len(line)):
        depth += {"(": 1, ")": -1}.get(line[i], 0)
        if depth == 0:
            inner = line[start + 1:i]
            return None if ";" in inner else line[:start] + "(!(" + inner + "))" + line[i + 1:]
    return None


def mutants_of(path):
    """All mutants of one header."""
    found = []
    twins = collections.Counter()
    for number, line, code in body_lines(path.read_text(encoding="utf-8")):
        twins[code] += 1
        at = line.index(code)
        annotations = [match.span() for match in re.finditer(r"CONVOY_\w+\([^)]*\)", code)]
        for operator in OPERATORS:
            for match in re.finditer(operator.pattern, code):
                if any(start <= match.start() < end for start, end in annotations):
                    continue
                if operator.replacement is None:
                    after = negate(code, match)
                else:
                    text = operator.replacement(match) if callable(operator.replacement) else operator.replacement
                    after = code[:match.start()] + text + code[match.end():]
                if after is None or after == code:
                    continue
                key = f"{path.name}|{operator.name}|{code}|{match.start()}|{twins[code]}"
                name = f"{path.stem}:{operator.name}:{hashlib.sha1(key.encode()).hexdigest()[:6]}"
                found.append(Mutant(name, path.name, number, operator.name, line, line[:at] + after + line[at + len(code):],
                                    operator.order_only))
    return found


def headers():
    return [path for path in sorted((ROOT / "locks").glob("*.h")) if not NOT_MUTATED.match(path.name)]


def draw_order(path, seed):
    """The mutants of a header in the order of the draw: one a line, operators by turns."""
    def rank(mutant):
        return hashlib.sha1(f"{seed}|{mutant.id}".encode()).hexdigest()
    queue = []
    lines, uses = set(), collections.Counter()
    left = sorted(mutants_of(path), key=rank)
    while left:
        least = min(uses[m.operator] for m in left)
        chosen = next(m for m in left if uses[m.operator] == least)
        uses[chosen.operator] += 1
        lines.add(chosen.number)
        queue.append(chosen)
        left = [m for m in left if m.number not in lines]
    return queue


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("files", nargs="*", help="names of headers; all when none is given")
    options = parser.parse_args()
    total = 0
    for path in headers():
        if options.files and path.name not in options.files:
            continue
        for mutant in draw_order(path, options.seed):
            total += 1
            print(f"{mutant.id}\n  {mutant.file}:{mutant.number}\n  - {mutant.before.strip()}\n  + {mutant.after.strip()}")
    print(f"{total} mutants")
    return 0 if total else 1


if __name__ == "__main__":
    raise SystemExit(main())
