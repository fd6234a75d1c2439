#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Compares the speed of two builds of andiron_bench, row by row.

usage: compare.py OLD NEW [--pairs N] [--repetitions N] [--quick] [--json] [CASE ...]

Runs OLD and NEW in pairs, one process after the other. A pair gives one ratio for each row: the time
of OLD divided by the time of NEW, so 1 is as fast and 0.5 takes twice as long. Prints the median of
the ratios with its confidence interval, and a verdict:

  slower   the whole interval lies below 0.95
  faster   the whole interval lies above 1/0.95
  unclear  0.95 lies in the interval; more pairs or a quieter machine would tell
  same     none of these: the row is not slower than 0.95

Exits with 1 if a row is slower; otherwise with 2 if something failed or was stopped; otherwise with 0.
"""

import argparse
import json
import math
import os
import pathlib
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

SLOWEST = 0.95
# The chance that the interval of a row holds the true median, whichever look was its last.
LEVEL = 0.99
# Rows that are unclear after the pairs asked for are looked at again after twice and three times as
# many. Each look gets its share of the error, so looking again does not make the result less sure.
LOOKS = 3
LOOK_LEVEL = 1 - (1 - LEVEL) / LOOKS
FEWEST_PAIRS = 30
# Amounts of work that differ by more are not the same job: a file may gain a few bytes of header.
MOST_OTHER_WORK = 0.01
LONGEST_RUN = 1800  # seconds
# Of each process the fastest repetition counts. What runs longer needs no second one to be steady.
REPETITIONS = 3
LONG_ROW = 0.1  # seconds
SIDES = ("old", "new")


def interval(values, level):
    """The confidence interval of the median: two of the values, or None if there are too few.

    It takes the values in order, the k-th from either end. Whatever their distribution, the median lies
    below the k-th with the chance that fewer than k of n coins show heads.
    """
    count = len(values)
    tail = (1 - level) / 2
    k = 0
    below = 0
    while k < count:
        below += math.comb(count, k)
        if below / 2**count > tail:
            break
        k += 1
    if k == 0:
        return None
    values = sorted(values)
    return values[k - 1], values[count - k]


def verdict(bounds):
    if bounds is None:
        return "unclear"
    low, high = bounds
    if high < SLOWEST:
        return "slower"
    if low > 1 / SLOWEST:
        return "faster"
    return "same" if low > SLOWEST else "unclear"


def old_goes_first(pairs, source):
    """For each pair, whether OLD goes first: in half of them, in random order."""
    orders = [i % 2 == 0 for i in range(pairs)]
    source.shuffle(orders)
    return orders


class Failure(Exception):
    pass


class Program:
    """One build of andiron_bench, which may be an older version."""

    def __init__(self, side, path, environment, options):
        self.side = side
        self.path = path
        self.environment = environment
        self.options = options

    def run(self, *arguments):
        try:
            return subprocess.run([self.path, *arguments], env=self.environment, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
                                  errors="replace", timeout=LONGEST_RUN, check=False)
        except subprocess.TimeoutExpired:
            raise Failure(f"{self.side}: took more than {LONGEST_RUN} s") from None
        except OSError as error:
            raise Failure(f"{self.side}: {error}") from None

    def understands(self, option):
        return self.run(option, "--list").returncode == 0

    def cases(self):
        """The names of its cases."""
        listed = self.run("--list")
        if listed.returncode != 0:
            raise Failure(f"{self.side}: --list failed: {last_line(listed)}")
        return [self.case_in(line.split()[0]) for line in listed.stdout.splitlines() if line.strip()]

    def case_in(self, word):
        # Older versions leave no space between a long name and what follows. They do know their names.
        for end in range(len(word), 0, -1):
            if self.run("--list", word[:end]).returncode == 0:
                return word[:end]
        raise Failure(f"{self.side}: lists {word}, but does not know it")

    def measure(self, case, repetitions):
        """{(job, program): (unit, amount, seconds)} of the library's rows, from a process of its own."""
        run = self.run("--json", "--repetitions", str(repetitions), *self.options, case)
        if run.returncode != 0:
            raise Failure(f"{self.side}: exit status {run.returncode}: {last_line(run)}")
        try:
            rows = {(row["job"], row["program"]): (row["unit"], row["amount"], float(row["best_seconds"]))
                    for row in json.loads(run.stdout) if is_ours(row["program"])}
        except (ValueError, TypeError, KeyError) as error:
            raise Failure(f"{self.side}: does not print what was expected: {error!r}") from None
        for (job, program), (_, amount, seconds) in rows.items():
            if not (amount > 0 and 0 < seconds < math.inf):
                raise Failure(f"{self.side}: {job}, {program}: no time")
        return rows


def is_ours(program):
    return not program.startswith(("raw", "python "))


def last_line(run):
    lines = run.stderr.split("\n") if run.stderr else []
    return next((line for line in reversed(lines) if line.strip()), "it says nothing")


class Row:
    def __init__(self, job, program, unit, amount):
        self.job = job
        self.program = program
        self.unit = unit
        self.amount = amount
        self.seconds = {side: [] for side in SIDES}  # for one unit of work
        self.bounds = None
        self.verdict = "unclear"

    def ratios(self):
        return [old / new for old, new in zip(self.seconds["old"], self.seconds["new"])]

    def add(self, old, new):
        """A row that has its verdict keeps it, and takes no more pairs."""
        if self.verdict == "unclear":
            self.seconds["old"].append(old)
            self.seconds["new"].append(new)

    def look(self):
        if self.verdict == "unclear":
            self.bounds = interval(self.ratios(), LOOK_LEVEL)
            self.verdict = verdict(self.bounds)

    def as_json(self):
        low, high = self.bounds or (None, None)
        return {"job": self.job, "program": self.program, "unit": self.unit, "amount": self.amount,
                "old_seconds": self.amount * statistics.median(self.seconds["old"]),
                "new_seconds": self.amount * statistics.median(self.seconds["new"]),
                "ratio": statistics.median(self.ratios()), "low": low, "high": high,
                "pairs": len(self.ratios()), "verdict": self.verdict, "ratios": self.ratios()}


class Comparison:
    def __init__(self, programs, pairs, repetitions=None):
        self.programs = programs
        self.pairs = pairs
        self.repetitions = repetitions  # None: as many as the case needs
        self.repetitions_of = {}
        self.cases = []
        self.rows = {}  # of each case: {(job, program): Row}
        self.only = {side: [] for side in SIDES}
        self.notes = []
        self.failures = {}  # of each case: why
        self.stopped = False
        self.random = random.Random(1)

    def choose(self, wanted):
        known = {side: program.cases() for side, program in self.programs.items()}
        for case in wanted:
            if case not in known["old"] and case not in known["new"]:
                raise Failure(f"neither build has a case {case}")
        for side, other in (("old", "new"), ("new", "old")):
            self.only[side] = [case for case in known[side]
                               if case not in known[other] and (not wanted or case in wanted)]
        self.cases = [case for case in known["new"]
                      if case in known["old"] and (not wanted or case in wanted)]
        if not self.cases:
            raise Failure("the builds have no case in common")

    def run(self):
        try:
            say(f"trying {len(self.cases)} cases once")
            for case in self.cases:
                self.try_out(case)
            for look in range(1, LOOKS + 1):
                cases = self.open_cases()
                if not cases:
                    break
                self.run_pairs(cases, look)
                self.look()
        except KeyboardInterrupt:
            self.stopped = True
            self.look()

    def try_out(self, case):
        """Both do a case in the same way, which NEW alone decides on, before anything counts."""
        try:
            rows = self.programs["new"].measure(case, 1)
        except Failure as failure:
            self.fail(case, failure)
            return
        longest = max((seconds for _, _, seconds in rows.values()), default=0)
        self.repetitions_of[case] = self.repetitions or (1 if longest > LONG_ROW else REPETITIONS)

    def fail(self, case, failure):
        self.failures[case] = str(failure)
        say(f"{case}: {failure}")

    def open_cases(self):
        """Those that have not been measured, and those with an unclear row."""
        return [case for case in self.cases if case not in self.failures and
                (case not in self.rows or
                 any(row.verdict == "unclear" for row in self.rows[case].values()))]

    def run_pairs(self, cases, look):
        # A pair of each case, then the next of each: a disturbance spoils a few pairs of many rows, and
        # not all pairs of one.
        orders = {case: old_goes_first(self.pairs, self.random) for case in cases}
        begin = time.monotonic()
        for pair in range(self.pairs):
            passed = time.monotonic() - begin
            left = f", about {passed / pair * (self.pairs - pair) / 60:.0f} min left" if pair else ""
            again = f", look {look}" if look > 1 else ""
            say(f"pair {pair + 1} of {self.pairs}{again}, {len(cases)} cases{left}")
            for case in cases:
                if case not in self.failures:
                    self.run_pair(case, orders[case][pair])

    def run_pair(self, case, old_first):
        measured = {}
        try:
            for side in SIDES if old_first else reversed(SIDES):
                measured[side] = self.programs[side].measure(case, self.repetitions_of[case])
            if case not in self.rows:
                self.rows[case] = self.common_rows(case, measured)
            for key, row in self.rows[case].items():
                try:
                    old, new = (measured[side][key] for side in SIDES)
                except KeyError:
                    raise Failure(f"{row.job}, {row.program}: was measured before, is not now") from None
                row.add(*(seconds / amount for _, amount, seconds in (old, new)))
        except Failure as failure:
            self.fail(case, failure)

    def common_rows(self, case, measured):
        rows = {}
        for key, (unit, amount, _) in measured["new"].items():
            name = ", ".join(key)
            if key not in measured["old"]:
                self.only["new"].append(name)
                continue
            old_unit, old_amount, _ = measured["old"][key]
            if unit != old_unit or abs(amount - old_amount) > MOST_OTHER_WORK * old_amount:
                self.notes.append(f"{name}: not the same work: {old_amount} {old_unit}, {amount} {unit}")
                continue
            rows[key] = Row(*key, unit, amount)
        self.only["old"] += [", ".join(key) for key in measured["old"] if key not in measured["new"]]
        if not rows:
            self.notes.append(f"{case}: has no row that both builds measure")
        return rows

    def look(self):
        for row in self.all_rows():
            row.look()

    def all_rows(self):
        return [row for case in self.cases for row in self.rows.get(case, {}).values() if row.ratios()]

    def exit_status(self):
        if any(row.verdict == "slower" for row in self.all_rows()):
            return 1
        return 2 if self.failures or self.stopped else 0

    def as_json(self):
        return {"slowest": SLOWEST, "level": LEVEL, "looks": LOOKS, "stopped": self.stopped,
                "rows": [row.as_json() for row in self.all_rows()],
                "only_old": self.only["old"], "only_new": self.only["new"], "notes": self.notes,
                "failures": [{"case": case, "why": why} for case, why in self.failures.items()]}

    def table(self):
        lines = [["job", "program", "old", "new", "ratio", "interval", "pairs", "verdict"]]
        last_job = None
        for row in self.all_rows():
            ratios = row.ratios()
            bounds = f"[{row.bounds[0]:.3f}, {row.bounds[1]:.3f}]" if row.bounds else "-"
            lines.append(["" if row.job == last_job else row.job, row.program,
                          *(speed(row.unit, statistics.median(row.seconds[side])) for side in SIDES),
                          f"{statistics.median(ratios):.3f}", bounds, str(len(ratios)), row.verdict])
            last_job = row.job
        widths = [max(map(len, column)) for column in zip(*lines)]
        text = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip()
                for line in lines]
        return "\n".join(text + [""] + self.summary())

    def summary(self):
        verdicts = [row.verdict for row in self.all_rows()]
        counts = ", ".join(f"{verdicts.count(name)} {name}"
                           for name in ("slower", "unclear", "same", "faster"))
        lines = [f"{len(verdicts)} rows: {counts}",
                 f"ratio: old time / new time; intervals of the median, {LEVEL:.0%} for each row"]
        if "unclear" in verdicts:
            lines.append(f"unclear rows may be slower than {SLOWEST}: take more pairs or a quieter machine")
        for side in SIDES:
            lines += [f"only in {side}: {name}" for name in self.only[side]]
        lines += self.notes
        lines += [f"FAILED: {case}: {why}" for case, why in self.failures.items()]
        if self.stopped:
            lines.append("STOPPED before the end")
        return lines


def speed(unit, seconds):
    if unit == "bytes":
        return f"{1 / seconds / 1e9:.2f} GB/s"
    if unit == "tensors":
        return f"{seconds * 1e9:.1f} ns/tensor"
    return f"{seconds * 1e6:.1f} us each"


def say(text):
    print(f"compare: {text}", file=sys.stderr, flush=True)


def count_from(least):
    def parse(text):
        value = int(text)
        if value < least:
            raise argparse.ArgumentTypeError(f"{value} is less than {least}")
        return value
    parse.__name__ = "number"
    return parse


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0], allow_abbrev=False)
    parser.add_argument("old", metavar="OLD", help="andiron_bench before the change")
    parser.add_argument("new", metavar="NEW", help="andiron_bench after the change")
    parser.add_argument("cases", metavar="CASE", nargs="*", help="what to compare; everything by default")
    parser.add_argument("--pairs", type=count_from(FEWEST_PAIRS), default=FEWEST_PAIRS,
                        help="pairs for each row, %(default)s or more; unclear rows take up to "
                        f"{LOOKS} times as many")
    parser.add_argument("--repetitions", type=count_from(1),
                        help="in each process, of which the fastest counts (1 for long rows, "
                        f"{REPETITIONS} for others)")
    parser.add_argument("--quick", action="store_true", help="smaller data")
    parser.add_argument("--json", action="store_true", help="for programs")
    return parser.parse_intermixed_args(arguments)


def prepare(arguments, folder):
    """Both programs under paths of the same length, which a rebuild does not touch: the length of its
    path alone can make a program faster or slower."""
    data = folder / "data"
    data.mkdir()
    # Programs of other projects are looked for in the cache, and none are there.
    environment = {**os.environ, "TMPDIR": str(data), "XDG_CACHE_HOME": str(folder / "cache")}
    options = ["--quick"] if arguments.quick else []
    programs = {}
    for side in SIDES:
        path = folder / side / "andiron_bench"
        path.parent.mkdir()
        try:
            shutil.copy(getattr(arguments, side), path)
        except OSError as error:
            raise Failure(f"{side}: {error}") from None
        programs[side] = Program(side, str(path), environment, options)
    # Measuring memory takes long, and older versions always do it. What one does, both do.
    if all(program.understands("--no-memory") for program in programs.values()):
        options.append("--no-memory")
    return programs


def interrupt(*_):
    raise KeyboardInterrupt


def main(arguments):
    arguments = parse_arguments(arguments)
    signal.signal(signal.SIGTERM, interrupt)
    # What a stopped process leaves goes with the folder.
    folder = pathlib.Path(tempfile.mkdtemp(prefix="andiron-compare-"))
    try:
        comparison = Comparison(prepare(arguments, folder), arguments.pairs, arguments.repetitions)
        comparison.choose(arguments.cases)
        comparison.run()
    except Failure as failure:
        say(str(failure))
        return 2
    except KeyboardInterrupt:
        say("stopped")
        return 2
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(json.dumps(comparison.as_json(), indent=2) if arguments.json else comparison.table())
    return comparison.exit_status()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
