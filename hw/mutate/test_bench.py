# SPDX-License-Identifier: MIT OR Apache-2.0
"""Tests of what needs neither Yosys nor a test of a model: python3 hw/mutate/test_bench.py."""

import json
import sys
import tempfile
import threading
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import bench
import benches
import clocks
import mutate
import proofs
import seen
import suite
from children import Children

with mock.patch.dict(sys.modules, {"pyosys": mock.MagicMock()}):
    import plant_bench
    import plant_proof

TEXT = """module one;
`ifndef SYNTHESIS
    holds: assert property (@(posedge clk_i)
        a || b);
    counts: assert property (@(posedge clk_i)
        words_q[place_q] == 3);
`endif
endmodule
"""


class Blocks(unittest.TestCase):
    def test_a_block_belongs_to_the_smallest_bench_that_has_it(self):
        inside = {
            "nic_lookup": {"nic_lookup", "probe_scan", "probe_lines", "lookup_walk", "lut_fifo"},
            "probe_scan": {"probe_scan", "probe_lines", "lut_fifo"},
        }
        found = [benches.Bench(top, "package") for top in inside]
        by_bench = benches.blocks_by_bench(found, inside.__getitem__)
        self.assertEqual(
            by_bench, {"nic_lookup": ["nic_lookup", "lookup_walk"], "probe_scan": ["probe_scan", "probe_lines"]}
        )

    def test_each_block_is_judged(self):
        judged = benches.blocks_by_bench(benches.read_benches()[0])
        names = sorted(name for names in judged.values() for name in names)
        self.assertEqual(names, sorted(set(names)), "some are judged twice")
        listed = {one.name for one in mutate.synth.listed()}
        by_properties = {job.block for job in benches.judged_by_properties(mutate.prove.read_jobs())}
        self.assertEqual(listed - set(names) - by_properties, set())
        self.assertEqual(by_properties & set(names), set(), "some are judged twice")

    def test_tests_judge_only_what_could_be_judged_by_properties(self):
        with mock.patch.object(benches, "read_toml", return_value={"by_tests": ["nothing"]}):
            with self.assertRaisesRegex(bench.BadInput, "by_tests: no job in hw/formal is of nothing"):
                benches.judged_by_properties(mutate.prove.read_jobs())

    def test_jobs_of_progress_judge_no_mutants(self):
        jobs = [job for job in mutate.prove.read_jobs() if job.progress]
        self.assertTrue(jobs)
        self.assertEqual({job.title for job in jobs} & bench.with_properties(), set())

    def test_a_top_leaves_to_smaller_benches_what_is_below_their_tops(self):
        modules = [
            SimpleNamespace(name=f"\\{one}") for one in
            ("top", "inner$top.i_inner", "leaf$top.i_inner.i_leaf", "leaf$top.i_inner_too", "other$top.i_other")
        ]  # fmt: skip
        below = [one.name for one in modules if plant_bench.is_below(modules, one.name[1:], ["inner"])]
        self.assertEqual(below, ["\\inner$top.i_inner", "\\leaf$top.i_inner.i_leaf"])
        self.assertFalse(plant_bench.is_below(modules, "top", []))
        found = next(one for one in benches.read_benches()[0] if one.top == "lockstep_device")
        rows = benches.Plan(found, [found.top, "lookup_unit"], {}, Path("kept")).wish["rows"]
        self.assertEqual([one["apart"] for one in rows], [["nic_index_cache", "nic_lookup", "probe_scan", "tuple_lock_unit"], []])

    def test_an_assertion_is_left_out_and_lines_keep_their_numbers(self):
        for line in (5, 6):
            text, name = benches.without_assertion(TEXT, line)
            self.assertEqual((name, text.count("\n")), ("counts", TEXT.count("\n")))
            self.assertIn("a || b);\n\n\n`endif", text)
        self.assertRaises(benches.Undecided, benches.without_assertion, TEXT, 1)

    def test_what_is_not_read_has_a_place(self):
        log = "../a/index.sv:226: \x1b[31mERROR: unsupported operation on a memory variable"
        self.assertEqual(benches.UNREAD.search(log).groups(), ("../a/index.sv", "226"))


class File(unittest.TestCase):
    """What benches.toml may say."""

    def read(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "benches.toml"
            path.write_text(text if "by_tests" in text else f"by_tests = []\n{text}", encoding="utf-8")
            return benches.read_benches(path)

    def test_what_is_wrong_is_named(self):
        one = '[[bench]]\ntop = "lut_ram"\npackage = "p"\n'
        wrongs = {
            "by_tests = 3\nbench = []\n": "by_tests is 3, expected an array of strings", "[[bench]\n": "line 2",
            "bench = []\na = 1\n": "there is no entry a", "# by_tests\n": "no `by_tests`", "[seen]\n": "no `bench`",
            "bench = 3\n": "bench is 3, expected an array", "bench = [3]\n": "1: found 3, expected a table",
            '[[bench]]\npackage = "p"\n': "1: no `top`", '[[bench]]\ntop = "lut_ram"\n': "1: no `package`",
            one.replace('"lut_ram"', "3"): "top is 3, expected a string", f"{one}tops = 1\n": "lut_ram: there is no entry tops",
            one + one: "2: a second bench of lut_ram", one.replace("ram", "rum"): "lut_rum: no such block in hw/rtl .is it lut_ram",
            f"{one}inputs = 3\n": "inputs is 3, expected a table", f"{one}inputs = {{a = 'x'}}\n": "inputs: a is 'x', expected a number",
            f"{one}parameters = {{Depth = 3}}\n": "no parameter Depth; lut_ram has AddressWidth",
            'bench = []\n[seen]\nlut_rom = "{a}"\n': "seen: no block lut_rom", "bench = []\n[seen]\nlut_ram = 3\n": "lut_ram is 3, expected a string",
        }  # fmt: skip
        for text, told in wrongs.items():
            with self.subTest(text), self.assertRaisesRegex(bench.BadInput, f"benches.toml: .*{told}"):
                self.read(text)
        self.assertEqual([found.top for found in self.read(one)[0]], ["lut_ram"])
        with tempfile.TemporaryDirectory() as folder:
            self.assertRaisesRegex(bench.BadInput, "No such file", benches.read_benches, Path(folder) / "benches.toml")


class Seen(unittest.TestCase):
    PORTS = (
        seen.Port("valid_i", 1, False), seen.Port("data_i", 8, False),
        seen.Port("valid_o", 1, True), seen.Port("result_o", 64, True),
    )  # fmt: skip

    def test_what_counts_is_a_module_with_the_ports_that_it_reads(self):
        text, read = seen.module_of(self.PORTS, "{valid_o, valid_o ? result_o : '0, valid_i}")
        self.assertEqual([one.name for one in read], ["valid_i", "valid_o", "result_o"])
        self.assertIn("(input logic [0:0] valid_i, input logic [0:0] valid_o, input logic [63:0] result_o);", text)

    def test_each_output_has_to_be_named(self):
        for expression in ("valid_o", "{valid_o, my_result_o}"):
            with self.assertRaisesRegex(RuntimeError, "does not name result_o$"):
                seen.module_of(self.PORTS, expression)


class Clocks(unittest.TestCase):
    def test_registers_with_one_clock_that_runs_can_be_compared(self):
        register, sum_of = ("CLK", ["clk_i[0]"]), ("A", ["a_i[0]", "count_q[0]"])
        for pins, inputs, expected in (
            ([register, sum_of, ("RD_CLK", [])], {"clk_i[0]", "a_i[0]"}, None),
            ([sum_of], {"a_i[0]"}, None),
            ([register, ("WR_CLK", ["slow[0]"])], {"clk_i[0]"}, "several clocks: clk_i.0., slow.0."),
            ([register], {"a_i[0]"}, "makes the clock"),
            ([register, ("S", ["clk_i[0]"])], {"clk_i[0]"}, "read as a signal"),
        ):
            with self.subTest(pins):
                found = clocks.fault(pins, inputs)
                self.assertRegex(found, expected) if expected else self.assertIsNone(found)


class Around(unittest.TestCase):
    def test_the_module_around_another_is_that_of_its_instance(self):
        text = "module \\a$top.i_a\n  cell \\b$top.i_a.i_b \\i_b\n  cell $and $1\nend\nmodule \\top\n  cell \\a$top.i_a \\i_a\nend\n"
        with tempfile.TemporaryDirectory() as folder:
            plan = SimpleNamespace(folder=Path(folder))
            (plan.folder / "sound.il").write_text(text)
            parents = benches.Plan.parents.func(plan)
        self.assertEqual(parents, {"b$top.i_a.i_b": "a$top.i_a", "a$top.i_a": "top"})

    def test_a_module_with_nothing_below_it_has_one_miter(self):
        plan = SimpleNamespace(parents={"b": "a", "a": "top"}, module=lambda _: "b", seen_of=lambda _: "")
        worth = [
            benches.Plan.is_worth_asking(plan, 1, module, kind)
            for module, kind in (("b", "cut"), ("b", "whole"), ("b", "asked"), ("a", "whole"))
        ]
        self.assertEqual(worth, [True, False, False, True])
        plan.module = lambda _: "a"
        self.assertTrue(benches.Plan.is_worth_asking(plan, 1, "a", "whole"))


class Miters(unittest.TestCase):
    def test_each_has_a_name_of_its_own(self):
        """That of a module and that of the one around it, which has as long a name and as many mutants, among them."""
        plan = SimpleNamespace(child=lambda *_: (0, ""), bench=benches.Bench("top", "package"))
        with mock.patch.object(mutate, "is_equivalent", lambda *_: True):
            names = [
                bench.miter(plan, None, module, numbers, kind)
                for kind in ("cut", "whole") for module in ("part$top.i_a", "around$top.i") for numbers in ([3, 5], [3, 9])
            ]  # fmt: skip
        self.assertEqual(len(set(names)), len(names), names)

    def test_one_that_proves_nothing_is_not_asked_for_all(self):
        plan = SimpleNamespace(bench=benches.Bench("top", "package"))
        for says, expected in ((None, bench.BARREN), (False, 20), (True, 20)):
            asked = []

            def is_equivalent(plan, number, children, name, seconds, says=says, asked=asked):
                asked.append(number)
                return says

            with mock.patch.object(bench, "miter", lambda *_: "name"), mock.patch.object(mutate, "is_equivalent", is_equivalent):
                bench.answers(plan, Children({}), "part", list(range(20)), "whole", 3, 5)
            self.assertEqual(sorted(asked), list(range(expected)), says)


class Chosen(unittest.TestCase):
    def chosen(self, blocks=(), tops=()):
        given = SimpleNamespace(blocks=list(blocks), bench=list(tops))
        judged = {"one": ["one", "part"], "two": ["two"]}
        known = [benches.Bench("one", "package"), benches.Bench("two", "package")]
        properties, tests = bench.chosen(given, judged, known, {"proven"})
        return properties, [(one.top, names) for one, names, _ in tests]

    def test_what_properties_judge_is_not_judged_by_tests(self):
        self.assertEqual(self.chosen(["part", "proven", "two"]), (["proven"], [("one", ["part"]), ("two", ["two"])]))

    def test_mutants_can_be_planted_in_all_that_properties_judge(self):
        names = bench.with_properties()
        for job in mutate.prove.read_jobs():
            if {job.block, job.title} & names:
                mutate.Plan(job, 40, Path("kept"))
        self.assertNotIn("lock_step", names)

    def test_a_bench_judges_all_that_it_has(self):
        self.assertEqual(self.chosen(tops=["two"]), ([], [("two", ["two"])]))
        self.assertEqual(self.chosen(), ([], [("one", ["one", "part"]), ("two", ["two"])]))

    def test_what_is_unknown_is_named(self):
        with self.assertRaisesRegex(bench.BadInput, "no block partly (.is it part..)? is judged"):
            self.chosen(["partly"])
        with self.assertRaisesRegex(bench.BadInput, "lock_step: there is such a block, but neither a job nor a bench"):
            self.chosen(["lock_step"])
        with self.assertRaisesRegex(bench.BadInput, "no bench part;"):
            self.chosen(tops=["part"])


class Command(unittest.TestCase):
    """What ./kit mutate does with its arguments."""

    def run_with(self, *words, check_tables=None):
        """What was judged, and what was recorded."""
        judged, recorded = [], []
        with (
            mock.patch.object(sys, "argv", ["bench.py", "--kept", "kept", *words]),
            mock.patch.object(mutate.engines, "environment", dict),
            mock.patch.object(mutate, "by_properties", lambda given, blocks, _: (judged.extend(blocks), (1, "report\n"))[1]),
            mock.patch.object(bench, "by_tests", lambda *_: (judged.append("by tests"), (0, "other\n"))[1]),
            mock.patch.object(bench.record_mutants, "check_tables", check_tables or dict),
            mock.patch.object(bench.record_mutants, "record", recorded.append),
            mock.patch("sys.stdout"),
        ):
            try:
                code = bench.main()
            finally:
                self.judged = judged
        return code, judged, recorded

    def test_rows_are_written_where_that_is_asked_for(self):
        self.assertEqual(self.run_with("lut_ram"), (1, ["lut_ram"], []))
        self.assertEqual(self.run_with("lut_ram", "--write"), (1, ["lut_ram"], ["report\n"]))

    def test_a_table_that_cannot_be_read_is_told_before_anything_is_judged(self):
        with self.assertRaises(bench.BadInput):
            self.run_with("--write", "lut_ram", check_tables=mock.Mock(side_effect=bench.BadInput("table.md:7")))
        self.assertEqual(self.judged, [])

    def test_what_is_no_block_judges_nothing(self):
        for words in (["--", "--write"], ["--", "lut_ram", "--write"], ["--wri"]):
            with self.subTest(words), self.assertRaises((bench.BadInput, SystemExit)), mock.patch("sys.stderr"):
                self.run_with(*words)
            self.assertEqual(self.judged, [])

    def test_two_runs_do_not_judge_one_block_at_once(self):
        told = threading.Event()
        judged = []
        with tempfile.TemporaryDirectory() as folder, mock.patch("children.say", lambda _: told.set()):
            plan = SimpleNamespace(folder=Path(folder))
            given = SimpleNamespace(kept=Path(folder), jobs=1)
            with (
                mock.patch.object(mutate, "Plan", lambda *_: plan),
                mock.patch.object(mutate, "run", lambda *_: judged.append("lut_ram") or []),
            ):
                thread = threading.Thread(target=mutate.by_properties, args=(given, ["lut_ram"], None))
                with mutate.alone(plan.folder, "one"):
                    thread.start()
                    self.assertTrue(told.wait(10))
                    self.assertEqual(judged, [])
                thread.join()
        self.assertEqual(judged, ["lut_ram"])


class Tests(unittest.TestCase):
    def test_few_cases_are_run_where_they_take_less_time(self):
        steps = [suite.Run("a::b", cases, seconds) for cases, seconds in ((3, 0.1), (60, 3.0), (None, 4.0))]
        self.assertEqual([one.cases for one in suite.worthwhile(steps)], [3, None])
        self.assertEqual(suite.worthwhile([]), [])

    def test_a_number_of_cases_between_that_takes_long_is_not_waited_for(self):
        with tempfile.TemporaryDirectory() as folder:
            tests = suite.Suite(SimpleNamespace(folder=Path(folder), bench=benches.Bench("top", "package")), None)
            tests.programs = Path(folder) / "tests"
            tests.programs.mkdir()
            (tests.programs / "model").touch()
            tests.digest = lambda: "digest"
            limits = []

            def call(run, mutant, seen):
                limits.append((run.cases, run.limit))
                seen.touch()
                if run.cases == 60:
                    raise suite.TimedOut("60")
                return False, ""

            tests.call = call
            with mock.patch.object(suite, "names_of", lambda program: ["a"]):
                tests.measure()
        self.assertEqual(limits, [(3, 3600), (None, 3600), (60, 20)])
        self.assertEqual([run.cases for run in tests.runs][-1], None)

    def test_the_test_that_kills_most_in_its_time_is_first(self):
        called = []
        tests = SimpleNamespace(lock=threading.Lock(), runs=[suite.Run("a::slow", None, 9.0), suite.Run("a::quick", 3, 0.1)])

        def call(run, mutant):
            called.append(run.name)
            if mutant == 3:
                raise suite.TimedOut
            return run.test == "a::slow" and mutant == 1, ""

        tests.call = call
        found = [suite.Suite.killer(tests, mutant, tests.runs) for mutant in (1, 2, 3)]
        self.assertEqual(found, ["a::slow", None, "a::quick (3 cases), which does not end"])
        self.assertEqual(called[:2], ["a::quick (3 cases)", "a::slow"])

    def test_a_test_that_was_not_run_or_was_ended_kills_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            tests = suite.Suite(SimpleNamespace(folder=Path(folder), bench=benches.Bench("top", "package")), Children({}))
            tests.package = {"manifest_path": f"{folder}/Cargo.toml"}
            tests.programs = Path(folder)
            run = suite.Run("model::a", None, 1.0)
            with self.assertRaisesRegex(suite.Broken, "model::a does not start"):
                tests.call(run, 1)
            program = tests.programs / "model"
            for script, failed in (("exit 101", True), ("kill -6 $$", True), ("kill -11 $$", True), ("kill -9 $$", None)):
                program.write_text(f"#!/bin/sh\n{script}\n")
                program.chmod(0o755)
                if failed is None:
                    with self.assertRaisesRegex(suite.Broken, "model::a was ended by SIGKILL"):
                        tests.call(run, 1)
                else:
                    self.assertEqual(tests.call(run, 1)[0], failed)

    def test_short_runs_take_a_tenth_of_the_time_of_all(self):
        tests = SimpleNamespace(runs=[suite.Run(f"a::{n}", None, n) for n in (20.0, 1.0, 2.0, 2.5, 15.0)])
        short, others = suite.Suite.parts(tests)
        self.assertEqual([one.seconds for one in short], [1.0, 2.0])
        self.assertEqual([one.seconds for one in others], [20.0, 2.5, 15.0])

    def test_runs_that_were_kept_count_only_whole(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "runs.json"
            self.assertEqual(suite.kept_runs(path), [])
            for text in ("", "[3]", "3", '[{"test": "a::b"}]', '[{"test": "a::b", "cases"'):
                path.write_text(text)
                self.assertEqual(suite.kept_runs(path), [])
            path.write_text('[{"test": "a::b", "cases": 3, "seconds": 0.5}]')
            self.assertEqual(suite.kept_runs(path), [suite.Run("a::b", 3, 0.5)])

    def test_only_test_programs_of_the_package_are_taken(self):
        lines = [
            '{"package_id": "one", "executable": "/x/model-1", "target": {"name": "model"}, "profile": {"test": true}}',
            '{"package_id": "one", "executable": null, "target": {"name": "lib"}, "profile": {"test": true}}',
            '{"package_id": "two", "executable": "/x/it-1", "target": {"name": "it"}, "profile": {"test": true}}',
            "warning: a line that is no message",
        ]
        self.assertEqual(list(suite.programs("\n".join(lines), "one")), [("model", "/x/model-1")])


class Shared(unittest.TestCase):
    def test_what_tests_share_is_part_of_their_digest(self):
        def package(name, folder, *needs):
            paths = [{"name": one, "path": str(suite.prove.ROOT / where)} for one, where in needs]
            manifest = str(suite.prove.ROOT / folder / "Cargo.toml")
            return {"name": name, "manifest_path": manifest, "dependencies": [*paths, {"name": "rand"}]}

        one, shared, store = ("one", "sim/models/one"), ("suites", "sim/models/suites"), ("lockdb", "lockdb")
        packages = {
            "one": package(*one, shared, store), "suites": package(*shared, ("sim", "sim"), store),
            "sim": package("sim", "sim"), "lockdb": package(*store, shared),
        }  # fmt: skip
        names = [found["name"] for found in suite.with_shared(packages["one"], packages)]
        self.assertEqual(names, ["one", "sim", "suites"])


class Known(unittest.TestCase):
    def test_what_survived_other_tests_or_was_asked_for_otherwise_is_judged_again(self):
        with tempfile.TemporaryDirectory() as folder:
            mutants = ["one"] * 10
            plan = SimpleNamespace(
                results=Path(folder) / "results.jsonl", asked_of=lambda number: "new", mutants=lambda: mutants
            )  # fmt: skip
            mutate.keep(plan, {"mutant": 1, "verdict": "killed", "by": "a"})
            for number, tests in ((2, "old"), (3, "new")):
                mutate.keep(plan, {"mutant": number, "verdict": "survived", "by": "", "tests": tests, "asked": "old"})
            for number, asked in ((4, "new"), (5, "old")):
                verdict = {"mutant": number, "verdict": "unasked", "by": "miter", "tests": "new", "asked": asked}
                mutate.keep(plan, verdict)
            early = {"mutant": 6, "verdict": "equivalent", "by": "miter", "tests": "new", "asked": "old", "early": True}
            mutate.keep(plan, early)
            for number, finder, asked in ((8, "job", "new"), (9, "job", "old"), (10, "gone", "new")):
                verdict = {"mutant": number, "verdict": "killed", "by": f"{finder}: rule", bench.BY_PROOF: True}
                mutate.keep(plan, {**verdict, "tests": "new", "asked": "new", bench.ANSWERS: {finder: asked, "other": "old"}})
            with mock.patch.object(proofs, "questions", lambda *_: [self.question("job"), self.question("other")]):
                found = bench.known(plan, "new")
        self.assertEqual(
            {number: one["verdict"] for number, one in found.items()},
            {1: "killed", 3: "survived", 4: "unasked", 5: "survived", 8: "killed", 9: "survived", 10: "survived"},
        )

    @staticmethod
    def question(title):
        return SimpleNamespace(job=SimpleNamespace(title=title), digest="new")


class Memories(unittest.TestCase):
    def test_a_bit_of_an_address_that_no_word_needs_is_beyond_its_memory(self):
        memory = "  cell $mem_v2 \\words_q\n    parameter \\OFFSET 0\n    parameter \\SIZE {}\n    parameter \\ABITS 32\n  end\n"
        line = "mutate -mode inv -module one$top.i_one -cell words_q -port {} -portbit {} -src one.sv:1.2"
        places = [("RD_ADDR", 2), ("RD_ADDR", 3), ("WR_ADDR", 34), ("WR_ADDR", 35), ("WR_DATA", 35)]
        for words, beyond in ((8, [False, True, False, True, False]), (7, [False] * 5)):
            with tempfile.TemporaryDirectory() as folder:
                plan = benches.Plan.__new__(benches.Plan)
                plan.folder = Path(folder)
                text = "module \\other\nend\nmodule \\one$top.i_one\n" + memory.format(words) + "end\n"
                (plan.folder / "sound.il").write_text(text, encoding="utf-8")
                lines = {"mutants": [line.format(*place) for place in places]}
                (plan.folder / "mutants.json").write_text(json.dumps(lines), encoding="utf-8")
                self.assertEqual([plan.is_beyond_memory(number) for number in range(1, 6)], beyond)


class Parameters(unittest.TestCase):
    """Whether a block has the same parameters in a job as in a bench."""

    @staticmethod
    def cell(place, kind="$lt", **constants):
        """One that says whether something is less than a constant."""
        ports = {"A": None, **constants, "Y": None}
        signals = {
            name: SimpleNamespace(is_fully_const=lambda text=text: text is not None, as_const=lambda text=text: mock.Mock(**{"as_string.return_value": text}))
            for name, text in ports.items()
        }  # fmt: skip
        return SimpleNamespace(
            type=kind, connections_=signals, output=lambda port: port == "Y", get_string_attribute=lambda _: place
        )

    def same(self, bench, job):
        job_cells, bench_cells = (SimpleNamespace(cells_=dict(enumerate(cells))) for cells in (job, bench))
        with mock.patch.object(plant_proof, "modules_of", return_value=[bench_cells]), mock.patch.object(plant_proof, "id_of"):
            return plant_proof.has_same_constants(None, None, job_cells, {})

    def test_a_block_is_another_where_a_constant_is(self):
        limits = [self.cell("one.sv:3.4-3.9", B=text) for text in ("0011", "0100")]
        beside = self.cell("two.sv:1.2-1.8", B="1")
        self.assertTrue(self.same([limits[0]], [limits[0], limits[0], beside]))
        self.assertFalse(self.same([limits[0]], [limits[1], beside]))
        self.assertFalse(self.same([limits[0]], [limits[0], limits[1]]))
        self.assertFalse(self.same([limits[0]], [beside]))

    def test_checks_and_memories_do_not_count(self):
        others = [self.cell("one.sv:3.4-3.9", kind, B="1") for kind in ("$check", "$memrd_v2", "two")]
        self.assertTrue(self.same([*others, self.cell("", B="1")], []))


class Proofs(unittest.TestCase):
    plan = SimpleNamespace(
        module=lambda number: {1: "vector_fill$top.i_queue.i_fill", 2: "dma_vectorizer", 3: "no_block"}[number],
        parents={"vector_fill$top.i_queue.i_fill": "vector_queue$top.i_queue", "vector_queue$top.i_queue": "dma_vectorizer"},
        folder=Path("kept"), wish={"files": []}, bench=benches.Bench("dma_vectorizer", "package"),
    )  # fmt: skip

    def test_the_jobs_of_a_block_and_of_those_around_it_are_asked(self):
        self.assertEqual([job.title for job in proofs.jobs_of(self.plan, 1)], ["vector_fill", "vector_queue", "vector_queue_of_reads"])
        self.assertEqual([job.title for job in proofs.jobs_of(self.plan, 2)], ["dma_vectorizer"])
        self.assertEqual(proofs.jobs_of(self.plan, 3), [])

    def test_miters_are_asked_of_the_own_block_where_no_function_is_another(self):
        jobs = {job.title: job for job in mutate.prove.read_jobs()}
        names = ("shell_registers", "lut_fifo", "lock_block", "page_checker")
        self.assertEqual([name for name in names if not proofs.can_compare(jobs[name])], ["page_checker"])
        compared, built = [], proofs.Proof.__init__

        def build(proof, job, plan, numbers, compares):
            built(proof, job, plan, numbers, compares)
            compared.append((job.title, compares, "outputs" in proof.wish))

        # The first is of the block of the mutant, the second of one around it.
        asked = [jobs["take_turns"], jobs["shell_registers"]]
        with (
            mock.patch.object(proofs.Proof, "__init__", build), mock.patch.object(proofs.Proof, "build", lambda *_: []),
        ):  # fmt: skip
            for these in (asked, asked[::-1]):
                with mock.patch.object(proofs, "jobs_of", lambda *_, these=these: these):
                    proofs.ask(self.plan, Children({}), {1: proofs.questions(self.plan, 1)}, lambda *_: None, 1)
        none, all_of_it = (False, False), (True, True)
        self.assertEqual(
            compared,
            [(name, *found) for name, found in (
                ("take_turns", all_of_it), ("shell_registers", none), ("shell_registers", all_of_it), ("take_turns", none),
            )],
        )  # fmt: skip

    def test_what_a_proof_finds_does_not_survive_and_what_it_does_not_is_asked_once(self):
        found = {number: {"mutant": number, "verdict": "survived", "by": ""} for number in (1, 2)}
        found[3] = {"mutant": 3, "verdict": "killed", "by": "a"}
        near, around = (SimpleNamespace(job=SimpleNamespace(title=title), digest="one") for title in ("near", "around"))
        asked = []

        def keep(verdict):
            found[verdict["mutant"]] = verdict

        def ask(plan, children, questions, done, jobs):
            asked.append({number: [one.job.title for one in those] for number, those in questions.items()})
            if len(asked) == 1:
                done(1, near, ("killed", "rule"))
                done(2, near, None)
                raise KeyboardInterrupt
            for number, those in questions.items():
                for one in those:
                    done(number, one, None)

        with mock.patch.object(proofs, "ask", ask), mock.patch.object(proofs, "questions", lambda *_: [near, around]):
            with self.assertRaises(KeyboardInterrupt):
                bench.judge_by_proofs(self.plan, None, found, [1, 2, 3], keep, 1)
            verdicts = {number: one["verdict"] for number, one in found.items()}
            self.assertEqual(verdicts, {1: "killed", 2: "survived", 3: "killed"})
            # What was answered before the run ended is not asked again.
            for _ in range(2):
                bench.judge_by_proofs(self.plan, None, found, [1, 2, 3], keep, 1)
            around.digest = "another"
            bench.judge_by_proofs(self.plan, None, found, [1, 2, 3], keep, 1)
        both = ["near", "around"]
        self.assertEqual(asked, [{1: both, 2: both}, {2: ["around"]}, {2: []}, {2: ["around"]}])

    def test_what_counts_names_all_outputs_wherever_it_may_be_compared(self):
        listed = {one.name for one in mutate.synth.listed()}
        jobs = [job for job in mutate.prove.read_jobs() if job.block in listed and proofs.can_compare(job)]
        self.assertGreater(len(jobs), 60)
        for job in jobs:
            mutate.Plan(job, 1, Path("kept"))

    def test_only_mutants_that_the_model_has_a_place_for_are_asked_for(self):
        job = proofs.jobs_of(self.plan, 1)[0]
        done = []
        with (
            mock.patch.object(proofs, "jobs_of", lambda *_: [job]),
            mock.patch.object(proofs.Proof, "build", lambda *_: [2]),
            mock.patch.object(proofs.Proof, "check", lambda *_: None),
            mock.patch.object(proofs.Proof, "finds", lambda _, place, children: ("killed", f"rule of {place}")),
        ):
            asked = {number: proofs.questions(self.plan, number) for number in (1, 2)}
            proofs.ask(self.plan, Children({}), asked, lambda *answer: done.append(answer), 1)
        (question,) = asked[1]
        self.assertEqual(done, [(1, question, None), (2, question, ("killed", "rule of 1"))])

    def test_a_proof_whose_tool_is_broken_is_told(self):
        broken = mock.Mock(side_effect=benches.mutate.Broken("ABC was ended by SIGKILL"))
        with mock.patch.object(proofs.Proof, "build", broken), self.assertRaises(benches.mutate.Broken):
            proofs.ask(self.plan, Children({}), {1: proofs.questions(self.plan, 1)}, lambda *_: None, 1)

    def test_a_miter_whose_program_says_nothing_is_told(self):
        plan = SimpleNamespace(child=lambda *_: (1, ""), folder=Path("kept"), bench=benches.Bench("top", "package"))
        with self.assertRaises(benches.mutate.Broken):
            bench.miter(plan, None, "module", [1], "cut")
        plan.child = lambda *_: (1, "ERROR: several clocks")
        self.assertIsNone(bench.miter(plan, None, "module", [1], "cut"))

    def test_a_proof_that_fails_without_a_mutant_says_nothing_of_any(self):
        done = []
        with (
            mock.patch.object(proofs.Proof, "build", lambda *_: [1]),
            mock.patch.object(mutate, "killer", lambda *_: "rule"),
            mock.patch.object(proofs.Proof, "finds", lambda *_: ("killed", "rule")),
        ):
            asked = {1: proofs.questions(self.plan, 1)}
            proofs.ask(self.plan, Children({}), asked, lambda *answer: done.append(answer), 1)
        self.assertEqual((len(asked[1]), done), (3, []))


if __name__ == "__main__":
    unittest.main()
