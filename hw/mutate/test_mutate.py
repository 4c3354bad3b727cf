# SPDX-License-Identifier: MIT OR Apache-2.0
"""Tests of what needs neither Yosys nor a solver: python3 hw/mutate/test_mutate.py."""

import json
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import aiger
import mutate
import children
from children import Broken, Children

# Inputs 2 (the mutant), 4 and 6 (how the two registers begin); bad is that they differ while the mutant is chosen.
TEXT = """aag 7 3 2 0 2 1
2
4
6
8 4
10 6
14
12 8 11
14 12 2
"""
NAMES = """input 0 0 in_mutant
init 1 0 gold.i_block.count_q
init 2 0 gate.i_block.count_q
latch 0 0 gold.i_block.count_q
ninitff 0 0
"""


class Miter(unittest.TestCase):
    def test_a_mutant_is_chosen_and_both_copies_begin_alike(self):
        circuit = aiger.with_mutant(aiger.read(TEXT), aiger.names(NAMES), 1)
        self.assertEqual(circuit.latches, [(8, 4), (10, 4)])
        self.assertEqual(circuit.gates, [(12, 8, 11), (14, 12, 1)])

    def test_no_mutant_is_chosen_by_0(self):
        self.assertEqual(aiger.with_mutant(aiger.read(TEXT), aiger.names(NAMES), 0).gates[1], (14, 12, 0))

    def test_the_first_clock_does_not_count(self):
        for within in ("", "g_reset."):
            named = aiger.names(NAMES + f"latch 1 0 gold.{within}i_power_up.started_q\n")
            circuit = aiger.with_mutant(aiger.read(TEXT), named, 1)
            self.assertEqual((circuit.bad, circuit.gates[-1]), ([16], (16, 14, 10)))

    def test_the_binary_form_has_differences(self):
        head = b"aig 7 3 2 0 2 1 0\n4\n6\n14\n"
        self.assertEqual(aiger.read(TEXT).binary(), head + bytes([1, 3, 2, 10]))

    def test_what_is_assumed_is_kept(self):
        text = TEXT.replace("2 0 2 1\n", "2 0 2 1 1\n").replace("14\n12 8", "14\n3\n12 8")
        circuit = aiger.with_mutant(aiger.read(text), aiger.names(NAMES), 1)
        self.assertEqual((circuit.bad, circuit.constraints), ([14], [0]))
        self.assertIn(b" 1 1\n4\n4\n14\n0\n", circuit.binary())

    def test_large_differences_take_several_bytes(self):
        self.assertEqual(aiger.delta(300), bytes([0xAC, 2]))


class Report(unittest.TestCase):
    def test_equivalent_and_unasked_mutants_do_not_count(self):
        verdicts = [{"verdict": one} for one in ("killed", "killed", "killed", "survived", "equivalent", "unasked", "unproven")]
        self.assertEqual(mutate.row("one", verdicts), ("| `one` | 7 | 3 | 1 | 1 | 1 | 1 | 80 % |", 80.0))

    def test_a_mutant_has_a_place(self):
        line = f"mutate -mode inv -cell $14 -port Y -portbit 2 -wire i_block.a -wirebit 2 -src {mutate.prove.ROOT}/hw/a.sv:68.11"
        self.assertEqual(mutate.place(line, Path("/")), "hw/a.sv:68: inv of i_block.a")

    def test_the_ports_of_a_block_are_found(self):
        text = "  output logic [Blocks-1:0][7:0] valid_o,\n  input logic a_i,\n  output logic [1:0] b_o[Blocks]\n);"
        self.assertEqual(mutate.outputs(text), ["valid_o", "b_o?[0-9]*"])

    def test_outputs_are_found_as_the_bluespec_compiler_writes_them(self):
        text = "module one (clk_i, valid_o, data_o);\n  output valid_o;\n  output [7 : 0] data_o;\n  wire [7 : 0] data_o;\n"
        self.assertEqual(mutate.outputs(text), ["valid_o", "data_o"])

    def test_a_block_without_outputs_is_not_judged(self):
        self.assertRaisesRegex(mutate.Undecided, "no output", mutate.outputs, "module one (input logic clk_i);\n")


class Asked(unittest.TestCase):
    def test_what_counts_of_the_outputs_names_all_of_them(self):
        with tempfile.TemporaryDirectory() as folder:
            wrapper = Path(folder) / "wrapper.sv"
            plan = SimpleNamespace(job=SimpleNamespace(title="one"), files=[wrapper])
            block = "    output logic valid_o,\n    output logic [3:0] data_o\n);"
            wrapper.write_text("    assign seen = {valid_o,\n        valid_o ? data_o : '0};\n")
            self.assertTrue(mutate.Plan.seen(plan, block))
            wrapper.write_text("    assign seen = {valid_o, 4'd0};  // data_o\n")
            self.assertRaises(mutate.Undecided, mutate.Plan.seen, plan, block)
            wrapper.write_text("    assign sees = valid_o;\n")
            self.assertFalse(mutate.Plan.seen(plan, block))

    def test_the_wrapper_has_the_instance_whose_outputs_are_compared(self):
        with tempfile.TemporaryDirectory() as folder:
            wrapper = Path(folder) / "one_formal.sv"
            wrapper.write_text("one #(.Width(Width)) i_block (.*);\n")
            mutate.check_instance(wrapper)
            wrapper.write_text("one i_one (.*);  // i_block (\n")
            self.assertRaisesRegex(mutate.Undecided, "no instance is called i_block", mutate.check_instance, wrapper)

    def test_what_a_stand_in_gets_is_compared(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "any_one.sv"
            plan = SimpleNamespace(job=SimpleNamespace(title="one"))
            ports = "    input  logic clk_i,\n    input  logic push_i,\n    input  logic [3:0] data_i,\n    output logic valid_o\n);\n"
            inputs = ["push_i", "data_i"]
            path.write_text(ports)
            self.assertEqual(mutate.Plan.gets(plan, path), {"inputs": inputs, "seen": False})
            path.write_text(f"{ports}    assign seen = {{push_i, push_i ? data_i : '0}};\n")
            self.assertEqual(mutate.Plan.gets(plan, path), {"inputs": inputs, "seen": True})
            path.write_text(f"{ports}    assign seen = push_i;\n")
            self.assertRaisesRegex(mutate.Undecided, "does not name data_i", mutate.Plan.gets, plan, path)

    def test_the_solver_is_told_of_one_mutant_as_of_many(self):
        self.assertEqual(mutate.choice(3, 40), "(= [mutant] #b000011)")
        self.assertEqual([mutate.choice(number, 1) for number in (0, 1)], ["(not [mutant])", "[mutant]"])

    def test_a_property_has_as_many_clocks_as_covers_have(self):
        depths = [mutate.clocks(SimpleNamespace(cover_depth=depth)) for depth in (12, 24)]
        self.assertEqual(depths, [(6, 16), (6, 24)])


class Tools(unittest.TestCase):
    """What a tool does instead of its work is no verdict."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        for end, text in (("aag", TEXT), ("aim", NAMES)):
            (self.folder / f"miter.{end}").write_text(text)
        self.plan = SimpleNamespace(folder=self.folder, job=SimpleNamespace(title="job"))
        self.addCleanup(mutate.model.cache_clear)

    def asked(self, script, children=None):
        abc = self.folder / "abc"
        abc.write_text(f"#!/bin/sh\n{script}\n")
        abc.chmod(0o755)
        with mock.patch.object(mutate.engines, "tools", lambda: {"abc": abc}):
            return mutate.tried(mutate.is_equivalent, self.plan, 1, children or Children({}), "miter", 5)

    def test_an_answer_counts(self):
        end = f"echo '{mutate.ASKED} '"
        self.assertTrue(self.asked(f"echo Property proved; {end}"))
        self.assertIs(self.asked(f"echo was asserted; {end}"), False)
        self.assertIsNone(self.asked(f"echo Reached timeout; {end}"))

    def test_a_tool_that_did_not_come_to_its_end_is_told(self):
        for script, told in (
            ("kill -9 $$", "ABC was ended by SIGKILL"), ("kill -6 $$", "ABC was ended by SIGABRT"),
            ("exit 0", "did not come to its end; .*: it printed nothing"), ("echo Property proved", "Property proved"),
        ):  # fmt: skip
            with self.subTest(script), self.assertRaisesRegex(Broken, told):
                self.asked(script)
        self.assertEqual(list(self.folder.glob("*.aig")), [])

    def test_a_tool_that_is_missing_is_told(self):
        with mock.patch.object(mutate.engines, "tools", lambda: {"abc": Path("/none/abc")}):
            with self.assertRaisesRegex(Broken, "ABC does not start: /none/abc: No such file"):
                mutate.tried(mutate.is_equivalent, self.plan, 1, Children({}), "miter", 5)

    def test_a_disk_that_is_full_is_told(self):
        full = mock.Mock(side_effect=OSError(28, "No space left on device"))
        with mock.patch.object(children.tempfile, "TemporaryFile", full):
            with self.assertRaisesRegex(Broken, "could not write to .*: No space left on device"):
                self.asked("exit 1")
            with self.assertRaisesRegex(Broken, "could not write"):
                self.asked("exit 0")

    def test_what_takes_too_long_is_not_decided(self):
        late = SimpleNamespace(run=mock.Mock(side_effect=mutate.TimedOut("late")))
        self.assertIsNone(self.asked("exit 0", late))

    def test_the_mutant_is_named_and_no_verdict_is_kept(self):
        plan = SimpleNamespace(
            job=SimpleNamespace(title="job", cover_depth=0), build=lambda _: None, results=self.folder / "results.jsonl",
            mutants=lambda: ["one"], known=lambda: {0: {"miters": [], "inductive": False}},
        )  # fmt: skip
        broken = mock.Mock(side_effect=Broken("ABC was ended by SIGKILL"))
        with mock.patch.object(mutate, "killer", broken), mock.patch.object(mutate.engines, "tools"):
            with self.assertRaisesRegex(Broken, "mutant 1: ABC was ended by SIGKILL"):
                mutate.run(plan, Children({}), 1)
        self.assertFalse(plan.results.exists())

    def test_children_go_on_after_a_task_that_failed(self):
        run = Children({})
        with self.assertRaises(Broken):
            run.run_all([mock.Mock(side_effect=Broken("once"))], lambda _, future: future.result())
        self.assertEqual(run.run(["true"], self.folder / "log", 5, "true"), (0, ""))


class Resume(unittest.TestCase):
    def test_a_line_that_was_cut_off_is_asked_for_again(self):
        with tempfile.TemporaryDirectory() as folder:
            plan = SimpleNamespace(results=Path(folder) / "results.jsonl", mutants=lambda: ["one"] * 4)
            mutate.keep(plan, {"mutant": 3, "verdict": "killed", "by": "a"})
            with open(plan.results, "a", encoding="utf-8") as file:
                file.write(json.dumps({"mutant": 4})[:-3])
            with mock.patch.object(mutate.prove, "say") as said:
                self.assertEqual(list(mutate.Plan.known(plan)), [3])
            said.assert_called_once()
            # What follows it is a line of its own.
            mutate.keep(plan, {"mutant": 4, "verdict": "survived", "by": ""})
            with mock.patch.object(mutate.prove, "say"):
                self.assertEqual(list(mutate.Plan.known(plan)), [3, 4])

    def test_a_line_that_is_no_verdict_counts_as_none(self):
        right = {"mutant": 3, "verdict": "killed", "by": "a"}
        first = {"mutant": 0, "verdict": "none", "by": "", "inductive": False, "miters": ["miter"]}
        wrongs = [
            5, [1], {}, "x", None, {**right, "verdict": "found"}, {**right, "verdict": ["killed"]}, {**right, "mutant": 300},
            {**right, "mutant": "3"}, {**right, "mutant": True}, {**right, "by": None}, {"mutant": 3}, {**right, "mutant": 0},
            {**first, "miters": None}, {**first, "miters": ["other"]}, {**first, "miters": 3}, {**first, "inductive": "no"},
        ]  # fmt: skip
        for wrong in [*(json.dumps(one).encode() for one in wrongs), b"\xff", b'{"mutant": 3, ', b""]:
            with self.subTest(wrong):
                self.assertIsNone(mutate.verdict_of(wrong, 40))
        for one in (right, first):
            self.assertEqual(mutate.verdict_of(json.dumps(one).encode(), 40), one)

    def test_models_that_are_not_what_was_built_are_built_again(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            for name in mutate.MODELS:
                (folder / name).write_text("a model")
            self.assertFalse(mutate.is_sealed(folder))
            (folder / "built").touch()
            self.assertFalse(mutate.is_sealed(folder))
            mutate.seal(folder, mutate.MODELS)
            self.assertTrue(mutate.is_sealed(folder))
            for harm in (lambda one: one.write_text("a mod"), Path.unlink):
                with self.subTest(harm):
                    harm(folder / "properties.aag")
                    self.assertFalse(mutate.is_sealed(folder))

    def test_the_seed_is_of_the_rtl(self):
        jobs = {job.title: job for job in mutate.prove.read_jobs()}
        plans = [mutate.Plan(jobs["lut_ram"], number, Path("kept")) for number in (40, 50)]
        self.assertEqual(plans[0].wish["seed"], plans[1].wish["seed"])
        self.assertNotEqual(plans[0].folder, plans[1].folder)


class Checks(unittest.TestCase):
    def checked(self, unproven):
        job = SimpleNamespace(title="job", engine="induction", cover_depth=0, depth=2)
        plan = SimpleNamespace(job=job, is_inductive=True)
        with mock.patch.object(mutate, "killer", lambda *_: None), mock.patch.object(mutate, "unproven", unproven):
            mutate.check(plan, None)
            return plan, mutate.found_by_properties(plan, 1, None)

    def test_what_induction_says_counts_where_it_proves_all_without_a_mutant(self):
        plan, found = self.checked(lambda _, number, *__: "rule" if number else mutate.PROVEN)
        self.assertEqual((plan.is_inductive, found), (True, ("unproven", "rule")))
        with self.assertRaisesRegex(mutate.Undecided, "rule fails without a mutant"):
            self.checked(lambda *_: "rule")

    def test_what_is_not_decided_without_a_mutant_finds_none(self):
        def unproven(_, number, *__):
            if not number:
                raise mutate.TimedOut("late")
            return "rule"

        plan, found = self.checked(unproven)
        self.assertEqual((plan.is_inductive, found), (False, None))


if __name__ == "__main__":
    unittest.main()
