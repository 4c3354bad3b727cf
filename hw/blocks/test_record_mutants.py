# SPDX-License-Identifier: MIT OR Apache-2.0
"""Tests of the list of mutants that survive: python3 hw/blocks/test_record_mutants.py."""

import tempfile
import unittest
from pathlib import Path
from unittest import mock

import record_mutants

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
TABLE = """| block | mutants | survived |
|---|---|---|
| first | 40 | 3 |
| second | 40 | 0 |
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


if __name__ == "__main__":
    unittest.main()
