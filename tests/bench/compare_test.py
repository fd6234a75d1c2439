# SPDX-License-Identifier: MIT OR Apache-2.0
"""Tests bench/compare.py: its statistics, and its pairs on programs that only print times."""

import json
import math
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "bench" / "compare.py"
sys.path.insert(0, str(SCRIPT.parent))
sys.dont_write_bytecode = True
import compare  # noqa: E402

# What a fake andiron_bench does: it knows its names, counts its runs and prints the rows of ROWS.
FAKE = """#!/bin/sh
for last; do :; done
case $1 in
  --no-memory) {understands_no_memory}; exit ;;
  --list)
    if [ $# = 1 ]; then cat '{folder}/list'; exit; fi
    for name in {names}; do [ "$name" = "$last" ] && exit 0; done
    exit 4 ;;
esac
echo "{side} $*" >>'{log}'
[ ! -d "$XDG_CACHE_HOME" ] || exit 9
n=$(cat '{folder}/count'); n=$((n + 1)); echo $n >'{folder}/count'
{body}
"""


def row(job, program, microseconds, amount=1000, unit="tensors"):
    return (f'{{"job":"{job}","program":"{program}","unit":"{unit}","amount":{amount},'
            f'"best_seconds":{microseconds}e-6}}')


def printing(*rows):
    """Shell text that prints rows; $n in them is the number of the run, from 1."""
    text = ",".join(rows).replace('"', '\\"')
    return f'echo "[{text}]"'


class Statistics(unittest.TestCase):
    def ranks(self, count, level):
        bounds = compare.interval(range(1, count + 1), level)
        return bounds and tuple(bounds)

    def test_intervals_have_the_ranks_of_the_tables(self):
        self.assertEqual(self.ranks(30, 0.95), (10, 21))
        self.assertEqual(self.ranks(30, 0.99), (8, 23))
        self.assertEqual(self.ranks(100, 0.95), (40, 61))
        self.assertEqual(self.ranks(6, 0.95), (1, 6))

    def test_too_few_values_have_no_interval(self):
        self.assertIsNone(self.ranks(0, 0.95))
        self.assertIsNone(self.ranks(5, 0.95))
        self.assertEqual(compare.verdict(None), "unclear")

    def test_intervals_cover_the_median_as_often_as_they_say_and_are_the_shortest_that_do(self):
        def coverage(count, low, high):
            return sum(math.comb(count, i) for i in range(low, high)) / 2**count
        for count in range(10, 200):
            low, high = self.ranks(count, compare.LOOK_LEVEL)
            self.assertEqual(low + high, count + 1)
            self.assertGreaterEqual(coverage(count, low, high), compare.LOOK_LEVEL)
            self.assertLess(coverage(count, low + 1, high - 1), compare.LOOK_LEVEL)

    def test_all_looks_together_are_as_sure_as_promised(self):
        self.assertAlmostEqual(compare.LOOKS * (1 - compare.LOOK_LEVEL), 1 - compare.LEVEL)

    def test_order_does_not_matter(self):
        values = [random.Random(7).random() for _ in range(50)]
        self.assertEqual(compare.interval(values, 0.99), compare.interval(sorted(values), 0.99))

    def test_a_thousand_comparisons_of_equals_hold_the_level(self):
        source = random.Random(3)
        missed = 0
        for _ in range(1000):
            # Skewed, as times are.
            times = [[1 + source.expovariate(5) for _ in range(30)] for _ in range(2)]
            low, high = compare.interval([a / b for a, b in zip(*times)], compare.LOOK_LEVEL)
            missed += not low <= 1 <= high
        self.assertLessEqual(missed, 8)

    def test_verdicts(self):
        for bounds, expected in (((0.8, 0.94), "slower"), ((0.8, 0.95), "unclear"),
                                 ((0.95, 1.0), "unclear"), ((0.8, 1.3), "unclear"),
                                 ((0.951, 1.0), "same"), ((0.96, 1.3), "same"),
                                 ((1.04, 1.3), "same"), ((1.06, 1.3), "faster")):
            self.assertEqual(compare.verdict(bounds), expected, bounds)

    def test_each_goes_first_in_half_of_the_pairs(self):
        orders = compare.old_goes_first(30, random.Random(1))
        self.assertEqual(sum(orders), 15)
        self.assertNotEqual(orders, sorted(orders))
        self.assertNotEqual(orders, compare.old_goes_first(30, random.Random(2)))


class Pairs(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        self.log = self.folder / "log"

    def fake(self, side, body, names=("first",), listed=None, no_memory=False):
        folder = self.folder / side
        folder.mkdir()
        (folder / "list").write_text(listed or "".join(f"{name} does things\n" for name in names))
        (folder / "count").write_text("0\n")
        path = folder / "andiron_bench"
        path.write_text(FAKE.format(folder=folder, log=self.log, side=side, body=body,
                                    names=" ".join(names),
                                    understands_no_memory="true" if no_memory else "exit 4"))
        path.chmod(0o755)
        return path

    def runs(self):
        """What was run after the trials: (side, arguments)."""
        runs = [tuple(line.split(" ", 1)) for line in self.log.read_text().splitlines()]
        trials = len({arguments.split()[-1] for _, arguments in runs})
        self.assertEqual({side for side, _ in runs[:trials]}, {"new"})
        return runs[trials:]

    def compare(self, old, new, *arguments, status=0):
        temporary = self.folder / "tmp"
        temporary.mkdir(exist_ok=True)
        run = subprocess.run([sys.executable, SCRIPT, old, new, *arguments], encoding="utf-8",
                             env={**os.environ, "TMPDIR": str(temporary), "XDG_CACHE_HOME": "/"},
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        self.assertEqual(run.returncode, status, run.stderr + run.stdout)
        self.assertEqual(list(temporary.iterdir()), [])
        self.errors = run.stderr
        return json.loads(run.stdout) if "--json" in arguments else run.stdout

    def only_row(self, *arguments, **options):
        result = self.compare(*arguments, "--json", **options)
        self.assertEqual(len(result["rows"]), 1)
        return result["rows"][0]

    def test_builds_that_are_as_fast_are_the_same(self):
        old = self.fake("old", printing(row("first", "andiron", "$((1000 + n % 7))")))
        new = self.fake("new", printing(row("first", "andiron", "$((1003 + n % 5))")))
        found = self.only_row(old, new)
        self.assertEqual((found["verdict"], found["pairs"]), ("same", 30))
        self.assertTrue(0.99 < found["low"] <= found["ratio"] <= found["high"] < 1.01)
        self.assertAlmostEqual(found["old_seconds"], 1.003e-3)

    def test_a_row_that_takes_longer_is_slower(self):
        steady = row("first", "andiron", "$((1000 + n % 7))")
        old = self.fake("old", printing(steady, row("first", "zero_copy", "$((1000 + n % 7))")))
        new = self.fake("new", printing(steady, row("first", "zero_copy", "$((1200 + n % 7))")))
        printed = self.compare(old, new, status=1)
        self.assertRegex(printed, r"first +andiron .* 30 +same\n +zero_copy .* 0\.83\d .* 30 +slower\n")
        self.assertIn("2 rows: 1 slower, 0 unclear, 1 same, 0 faster", printed)

    def test_a_row_that_takes_less_time_is_faster(self):
        old = self.fake("old", printing(row("first", "andiron", "1100")))
        new = self.fake("new", printing(row("first", "andiron", "1000")))
        self.assertEqual(self.only_row(old, new)["verdict"], "faster")

    def test_a_machine_that_becomes_slower_does_not_matter(self):
        old = self.fake("old", printing(row("first", "andiron", "$((1000 + 100 * n))")))
        new = self.fake("new", printing(row("first", "andiron", "$((900 + 100 * n))")))  # one is a trial
        found = self.only_row(old, new)
        self.assertEqual((found["verdict"], found["low"], found["high"]), ("same", 1, 1))

    def test_unclear_rows_get_more_pairs_and_the_others_do_not(self):
        steady = row("first", "andiron", "1000")
        old = self.fake("old", printing(steady, row("first", "plan alone", "1000")))
        new = self.fake("new", printing(steady, row("first", "plan alone", "$((700 + n % 2 * 600))")))
        result = self.compare(old, new, "--json", "--pairs", "31")
        self.assertEqual([(r["verdict"], r["pairs"]) for r in result["rows"]],
                         [("same", 31), ("unclear", 93)])
        self.assertIn("look 3", self.errors)

    def test_cases_that_are_clear_are_not_run_again(self):
        names = ("first", "second")
        body = f'if [ "$last" = first ]; then {printing(row("first", "andiron", "1000"))}; else '
        old = self.fake("old", body + printing(row("second", "andiron", "1000")) + "; fi", names)
        new = self.fake("new", body + printing(row("second", "andiron", "$((700 + n / 2 % 2 * 600))")) +
                        "; fi", names)
        self.compare(old, new)
        runs = [arguments.split()[-1] for _, arguments in self.runs()]
        self.assertEqual((runs.count("first"), runs.count("second")), (60, 180))

    def test_old_and_new_alternate_and_take_turns_in_going_first(self):
        body = printing(row("first", "andiron", "1000"))
        self.compare(self.fake("old", body), self.fake("new", body), "--quick", "--repetitions", "2")
        runs = self.runs()
        self.assertEqual(len(runs), 60)
        pairs = [(a[0], b[0]) for a, b in zip(runs[::2], runs[1::2])]
        self.assertEqual(pairs.count(("old", "new")), 15)
        self.assertEqual(pairs.count(("new", "old")), 15)
        self.assertEqual({arguments for _, arguments in runs}, {"--json --repetitions 2 --quick first"})

    def test_long_rows_are_repeated_less_often(self):
        for side, microseconds, expected in (("short", "90000", 3), ("long", "110000", 1)):
            self.log.unlink(missing_ok=True)
            body = printing(row("first", "andiron", "1000"), row("first", "zero_copy", microseconds))
            self.compare(self.fake("old_" + side, body), self.fake("new_" + side, body))
            arguments = {line.split(" ", 1)[1] for line in self.log.read_text().splitlines()[1:]}
            self.assertEqual(arguments, {f"--json --repetitions {expected} first"})

    def test_memory_is_left_out_where_both_can(self):
        body = printing(row("first", "andiron", "1000"))
        for old_can, new_can in ((True, True), (True, False), (False, True)):
            self.log.unlink(missing_ok=True)
            name = f"{old_can}{new_can}"
            self.compare(self.fake("old" + name, body, no_memory=old_can),
                         self.fake("new" + name, body, no_memory=new_can))
            self.assertEqual({"--no-memory" in line for line in self.log.read_text().splitlines()},
                             {old_can and new_can})

    def test_cases_take_turns(self):
        names = ("first", "second")
        body = printing(row("$last", "andiron", "1000"))
        self.compare(self.fake("old", body, names), self.fake("new", body, names))
        cases = [arguments.split()[-1] for _, arguments in self.runs()]
        self.assertEqual(cases, ["first", "first", "second", "second"] * 30)

    def test_raw_programs_and_those_of_others_are_left_out(self):
        ours = ("andiron", "opened before", "PyTorch adapter")
        others = ("raw", "raw, 2 threads", "python safetensors 0.8.0", "python torch 2.15.0")
        old = self.fake("old", printing(*(row("first", name, "1000") for name in ours + others)))
        new = self.fake("new", printing(*(row("first", name, "1000") for name in ours),
                                        *(row("first", name, "9000") for name in others)))
        result = self.compare(old, new, "--json")
        self.assertEqual([r["program"] for r in result["rows"]], list(ours))
        self.assertEqual(result["only_old"] + result["only_new"] + result["notes"], [])

    def test_what_only_one_has_is_listed(self):
        both = row("first", "andiron", "1000")
        old = self.fake("old", printing(both, row("first", "removed", "1")), ("first", "gone"))
        new = self.fake("new", printing(both, row("first", "added", "1")), ("added", "first"))
        result = self.compare(old, new, "--json")
        self.assertEqual(len(result["rows"]), 1)
        self.assertEqual(result["only_old"], ["gone", "first, removed"])
        self.assertEqual(result["only_new"], ["added", "first, added"])

    def test_another_amount_of_work_is_not_compared_but_a_few_bytes_are(self):
        old = self.fake("old", printing(row("a", "andiron", "1000", 100), row("b", "andiron", "1000", 1000)))
        new = self.fake("new", printing(row("a", "andiron", "2000", 200), row("b", "andiron", "1001", 1001)))
        result = self.compare(old, new, "--json")
        self.assertEqual([(r["job"], r["ratio"]) for r in result["rows"]], [("b", 1.0)])
        self.assertEqual(result["notes"], ["a, andiron: not the same work: 100 tensors, 200 tensors"])

    def test_a_name_that_runs_into_its_description_is_found(self):
        names = ("save", "burnpack_index_100k")
        body = printing(row("$last", "andiron", "1000"))
        old = self.fake("old", body, names, "save    writes\nburnpack_index_100kBurnpack metadata\n")
        new = self.fake("new", body, names)
        result = self.compare(old, new, "--json")
        self.assertEqual([r["job"] for r in result["rows"]], list(names))

    def test_one_case_of_several(self):
        names = ("first", "second")
        body = printing(row("$last", "andiron", "1000"))
        old, new = self.fake("old", body, names), self.fake("new", body, names)
        self.assertEqual(self.only_row(old, new, "--quick", "second")["job"], "second")
        self.compare(old, new, "third", status=2)
        self.assertIn("neither build has a case third", self.errors)

    def test_a_case_that_fails_is_told_and_the_others_go_on(self):
        names = ("first", "second")
        body = printing(row("$last", "andiron", "1000"))
        failing = f'[ "$last" = second ] || {{ echo "the disk is full" >&2; exit 1; }}; {body}'
        printed = self.compare(self.fake("old", body, names), self.fake("new", failing, names), status=2)
        self.assertIn("FAILED: first: new: exit status 1: the disk is full\n", printed)
        self.assertRegex(printed, r"second +andiron .* same\n")

    def test_output_that_is_not_understood_is_a_failure(self):
        body = printing(row("first", "andiron", "1000"))
        printed = self.compare(self.fake("old", body), self.fake("new", "echo surprise"), status=2)
        self.assertIn("FAILED: first: new: does not print what was expected", printed)

    def test_a_program_that_is_not_there_is_a_failure(self):
        self.compare(self.folder / "nothing", self.fake("new", ""), status=2)
        self.assertIn("old: ", self.errors)

    def test_when_stopped_it_tells_what_there_is(self):
        steady = printing(row("first", "andiron", "1000"))
        for side, count, expected in (("few", 6, ("unclear", 4, None)), ("more", 22, ("same", 20, 1.0))):
            old = self.fake("old_" + side, steady)
            new = self.fake(side, f"[ $n -lt {count} ] || {{ kill -INT $PPID; sleep 5; }}; {steady}")
            result = self.compare(old, new, "--json", status=2)
            self.assertTrue(result["stopped"])
            found = result["rows"][0]
            self.assertEqual((found["verdict"], found["pairs"], found["low"]), expected)

    def test_fewer_than_thirty_pairs_are_refused(self):
        self.compare("old", "new", "--pairs", "29", status=2)
        self.assertIn("29 is less than 30", self.errors)


if __name__ == "__main__":
    unittest.main()
