# SPDX-License-Identifier: MIT OR Apache-2.0
"""Tests of what compares and chooses, without Yosys: python3 hw/area/test_synth.py."""

import contextlib
import io
import json
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import area
import synth
import table

ROW = {column: 0 for column in table.NUMBERS} | {"LUT": 1000, "BRAM": 0.5, "levels": 9}
ROW |= {"deepest path": "a_q → b_q (enable)", "digest": "0123456789ab"}


def cell(kind, **connections):
    outputs = {"O", "Q", "CO"}
    directions = {port: "output" if port in outputs else "input" for port in connections}
    return {"type": kind, "port_directions": directions, "connections": connections}


def net(*bits):
    return {"hide_name": 0, "bits": list(bits)}


class Table(unittest.TestCase):
    def test_a_table_is_read_as_it_was_written(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "table.md"
            table.write(path, {"one A=1": ROW, "two": ROW | {"LUT": 123456}})
            self.assertEqual(table.read(path), {"one A=1": ROW, "two": ROW | {"LUT": 123456}})

    def test_five_per_cent_are_allowed(self):
        self.assertEqual(table.compare({"one": ROW}, {"one": ROW | {"LUT": 1050}}), ([], ["one: LUT 1000 → 1050"]))

    def test_more_is_named_with_block_column_and_both_values(self):
        worse, _ = table.compare({"one": ROW}, {"one": ROW | {"LUT": 1051, "levels": 10, "latch": 1}})
        self.assertEqual(
            worse,
            [
                "one: LUT 1000 → 1051, more than 5 % more",
                "one: latch 0 → 1, more than 5 % more",
                "one: levels 9 → 10, more than 5 % more",
            ],
        )

    def test_less_is_only_told(self):
        self.assertEqual(table.compare({"one": ROW}, {"one": ROW | {"levels": 8}}), ([], ["one: levels 9 → 8"]))

    def test_new_and_removed_blocks_are_named(self):
        worse, _ = table.compare({"old": ROW}, {"new": ROW}, gone=["old"])
        self.assertEqual(worse, ["old: in the table, but not among the blocks", "new: not in the table"])


class Choice(unittest.TestCase):
    known = (synth.Block("one", ("A=1",)), synth.Block("one", ("A=2",)), synth.Block("two"))

    def chosen(self, *arguments):
        return [str(one) for one in synth.chosen(arguments, self.known, {"one", "two", "three"})]

    def test_a_block_comes_with_the_parameters_of_the_list_or_with_its_own(self):
        self.assertEqual(self.chosen("one", "two"), ["one A=1", "one A=2", "two"])
        self.assertEqual(self.chosen("one", "A=3", "B=4", "three"), ["one A=3 B=4", "three"])

    def test_what_is_no_block_or_parameter_is_named(self):
        for wrong in ("four", "A=1", "one A=", "one A=1;", "one A=x", "one A=1 A=2"):
            with self.assertRaisesRegex(synth.BadInput, wrong.split()[-1].partition("=")[0]):
                self.chosen(*wrong.split())

    def test_a_parameter_that_the_block_does_not_have_is_named(self):
        synth.check_parameters(synth.listed())
        with self.assertRaisesRegex(synth.BadInput, "no parameter Depth; lut_ram has AddressWidth, DataWidth"):
            synth.check_parameters([synth.Block("lut_ram", ("AddressWidth=3", "Depth=2"))])

    def test_each_block_is_in_the_list_and_nothing_else(self):
        self.assertEqual({one.name for one in synth.listed()}, synth.modules())


class List(unittest.TestCase):
    def test_what_is_wrong_is_named_with_its_line(self):
        wrongs = {
            "blok lut_ram": "expected top or block", "block lut_rom": "no block lut_rom .is it lut_ram",
            "block lut_ram AddressWidth": "AddressWidth: expected a parameter as NAME=NUMBER",
            "block lut_ram =3": "=3: expected", "block lut_ram A=1 A=2": "A is given twice",
            "block lut_ram A=1\nblock lut_ram A=1": "lut_ram A=1 stands there twice",
        }  # fmt: skip
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "blocks.txt"
            for text, told in wrongs.items():
                path.write_text(f"# A comment.\n{text}\n", encoding="utf-8")
                with self.subTest(text), self.assertRaisesRegex(synth.BadInput, f"blocks.txt:[23].*{told}"):
                    synth.listed(path)
            path.unlink()
            self.assertRaisesRegex(synth.BadInput, "blocks.txt: No such file", synth.listed, path)

    def test_what_was_kept_counts_only_whole(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "kept.json"
            self.assertIsNone(synth.kept_row(path))
            for text in ("", "5", "{}", '{"LUT": 3}'):
                path.write_text(text)
                self.assertIsNone(synth.kept_row(path))
            path.write_text(json.dumps(ROW))
            self.assertEqual(synth.kept_row(path), ROW)

    def test_an_environment_without_yosys_is_named_once(self):
        with mock.patch.object(synth, "find_spec", lambda _: None), tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(synth.BadInput, "pyosys is missing; remove .kit/area"):
                synth.counts_of([synth.Block("lut_ram")], Path(folder), 1)


class Arguments(unittest.TestCase):
    def test_what_contradicts_itself_is_refused(self):
        wrongs = ("--check --write", "--changed", "--changed --write", "--wri")
        for wrong in wrongs:
            argv = ["synth.py", "--cache", "kept", *wrong.split(), "lut_ram"]
            with self.subTest(wrong), mock.patch.object(sys, "argv", argv), contextlib.redirect_stderr(io.StringIO()) as said:
                with self.assertRaises(SystemExit) as ended:
                    synth.arguments()
                self.assertEqual(ended.exception.code, 2)
                self.assertNotIn("--cache", said.getvalue())


class Depth(unittest.TestCase):
    """Ports i (1) and o; a register q (2); tables 3 and 4; carries 5 to 8."""

    def module(self, **cells):
        ports = {"i": {"direction": "input", "bits": [1]}, "o": {"direction": "output", "bits": [9]}}
        nets = {"i": net(1), "o": net(9), "q": net(2)}
        return area.Netlist({"cells": cells, "ports": ports, "netnames": nets})

    def test_a_path_has_ends_with_names(self):
        netlist = self.module(
            first=cell("LUT1", I0=[1], O=[3]),
            second=cell("LUT2", I0=[3], I1=["0"], O=[4]),
            register=cell("FDRE", C=[7], CE=[4], D=[1], R=["0"], Q=[2]),
            third=cell("LUT1", I0=[2], O=[9]),
        )
        self.assertEqual(netlist.deepest(with_carries=False), (2, "i", "q (enable)"))

    def test_a_chain_of_carries_is_one_level_more(self):
        netlist = self.module(
            first=cell("LUT1", I0=[1], O=[3]),
            low=cell("CARRY4", CI=["0"], S=[3], DI=["0"], CO=[5]),
            high=cell("CARRY4", CI=[5], S=["0"], DI=["0"], CO=[6], O=[9]),
        )
        self.assertEqual(netlist.deepest(with_carries=False)[0], 1)
        self.assertEqual(netlist.deepest(with_carries=True)[0], 2)

    def test_a_loop_is_told(self):
        netlist = self.module(a=cell("LUT1", I0=[4], O=[3]), b=cell("LUT1", I0=[3], O=[4]))
        with self.assertRaisesRegex(SystemExit, "loop without a register"):
            netlist.deepest(with_carries=False)


if __name__ == "__main__":
    unittest.main()
