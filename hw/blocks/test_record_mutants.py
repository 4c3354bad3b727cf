# SPDX-License-Identifier: MIT OR Apache-2.0
"""Tests of tables, and of the list of mutants that survive: python3 hw/blocks/test_record_mutants.py."""

import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import blocks
import markdown
import record_mutants
from inputs import BadInput

LIST = """| block and place | why nothing finds it |
|---|---|
| first: a.sv:1: const0 of $1 | nobody asks |
| first: a.sv:2: const0 of $2 | it is slow |
| second: b.sv:3: inv of $3 | nobody looks |
"""
REPORT = """| block | mutants |
|---|---|

- survived in first: a.sv:2: const0 of $2
- survived in first: a.sv:7: const1 of A[2] of $7
- survived in first: a.sv:2: const0 of $2
"""
TABLE = """| block | mutants | killed | unproven | survived | equivalent | unasked | digest |
|---|---|---|---|---|---|---|---|
| first | 40 | 37 | 0 | 3 | 0 | 0 | 0123 |
| second | 40 | 40 | 0 | 0 | 0 | 0 | 4567 |
"""


class Survivors(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        for name, text in (("SURVIVORS", LIST), ("TABLE", TABLE)):
            path = Path(folder.name) / name
            path.write_text(text, encoding="utf-8")
            patch = mock.patch.object(record_mutants, name, path)
            patch.start()
            self.addCleanup(patch.stop)

    def test_a_reason_stays_with_its_mutant(self):
        record_mutants.renew_survivors(REPORT, {"first"}, ["second", "first"])
        self.assertEqual(
            list(record_mutants.read_survivors().items()),
            [
                (("second", "b.sv:3: inv of $3"), "nobody looks"),
                (("first", "a.sv:2: const0 of $2"), "it is slow"),
                (("first", "a.sv:7: const1 of A[2] of $7"), ""),
                (("first", "a.sv:2: const0 of $2 (2)"), ""),
            ],
        )

    def test_what_is_not_explained_or_not_counted_is_complained_of(self):
        record_mutants.renew_survivors(REPORT, {"first"}, ["first", "second"])
        self.assertEqual(
            list(record_mutants.complaints_about_survivors()),
            [
                "second: 0 mutants survive by table.md, and survivors.md lists 1",
                "first: a.sv:7: const1 of A[2] of $7: survivors.md gives no reason",
                "first: a.sv:2: const0 of $2 (2): survivors.md gives no reason",
            ],
        )

    def test_mutants_of_what_is_not_in_the_table_are_complained_of(self):
        with open(record_mutants.SURVIVORS, "a", encoding="utf-8") as file:
            file.write("| third: c.sv:1: inv of $1 | a \\|\\| b |\n| first: c.sv:4: inv of $1 | it is slow |\n")
        self.assertIn(
            "third: survivors.md lists mutants of it, and table.md has no row of it",
            list(record_mutants.complaints_about_survivors()),
        )
        self.assertEqual(record_mutants.read_survivors()["third", "c.sv:1: inv of $1"], "a \\|\\| b")

    def test_a_row_that_names_no_place_is_told(self):
        with open(record_mutants.SURVIVORS, "a", encoding="utf-8") as file:
            file.write("| third | a reason |\n")
        self.assertRaisesRegex(BadInput, "a row is of 'third', expected block: place", record_mutants.read_survivors)

    def test_nothing_is_written_where_one_of_both_cannot_be_read(self):
        report = TABLE.replace(" digest |", " found of the rest |").replace("first", "take_turns")
        record_mutants.SURVIVORS.write_text(LIST + "| first: a | a || b |\n", encoding="utf-8")
        with self.assertRaisesRegex(BadInput, "SURVIVORS:6: .* has 4 cells, expected 2"):
            record_mutants.record(report.replace("| second | 40 | 40 | 0 | 0 | 0 | 0 | 4567 |\n", ""))
        self.assertEqual(record_mutants.TABLE.read_text(encoding="utf-8"), TABLE)


class Tables(unittest.TestCase):
    def read(self, text, *, encoding="utf-8"):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "table.md"
            path.write_bytes(text if isinstance(text, bytes) else text.encode(encoding))
            return markdown.read(path, ("killed",), ("killed",))

    def test_what_is_wrong_is_told_with_its_line(self):
        head = "# A title\n\n| block | killed |\n|---|---|\n"
        wrongs = {
            head + "| one | 3 | 4 |\n": "table.md:5: the row of one has 3 cells, expected 2",
            head + "| one |\n": "table.md:5: the row of one has 1 cells",
            head + "| one | many |\n": "table.md:5: killed of one is 'many', expected a number",
            head + "| one | 3 |\n| two | 3 |\n| one | 4 |\n": "table.md:7: a second row of one",
            head + "<<<<<<< HEAD\n| one | 3 |\n": "table.md:5: found the mark of a merge",
            head + "\n| one | 3 |\n| two | 3 |\n": "table.md:6: the columns are 3; expected killed among them",
            head.replace("killed", "found"): "table.md:3: the columns are found; expected killed",
            head.replace("|---|---|\n", "| one | 3 |\n"): "table.md:4: found .*, expected |---|",
            head.encode() + b"| \xff | 3 |\n": "table.md:5: found the byte 0xff, expected UTF-8",
        }
        for text, told in wrongs.items():
            with self.subTest(told), self.assertRaisesRegex(BadInput, told):
                self.read(text)
        self.assertEqual(self.read(head + "| `one` | 3,000 |\n"), {"one": {"killed": "3,000"}})
        with tempfile.TemporaryDirectory() as folder:
            self.assertRaisesRegex(BadInput, "Is a directory", markdown.read, Path(folder))

    def test_a_row_that_goes_is_named(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()) as said:
            path = Path(folder) / "table.md"
            columns = ("block", "killed")
            markdown.renew(path, "", columns, ["lut_rmm"], {"lut_rmm": {"killed": "3"}})
            markdown.renew(path, "", columns, ["lut_ram"], {"lut_ram": {"killed": "4"}})
            self.assertEqual(markdown.read(path), {"lut_ram": {"killed": "4"}})
        self.assertIn("table.md: the row of lut_rmm goes", said.getvalue())

    def test_one_of_check_and_write(self):
        with mock.patch.object(sys, "argv", ["blocks.py", "--check", "--write"]), mock.patch("sys.stderr"):
            with self.assertRaises(SystemExit) as ended:
                blocks.main()
        self.assertEqual(ended.exception.code, 2)


if __name__ == "__main__":
    unittest.main()
