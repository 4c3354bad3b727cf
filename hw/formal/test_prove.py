# SPDX-License-Identifier: MIT OR Apache-2.0
"""Tests of what needs neither Yosys nor a solver: python3 hw/formal/test_prove.py."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import children
import engines
import prove
from children import Undecided, alone
from prove import BadInput, cut

JOB = '[[job]]\nblock = "lut_ram"\n'


class Jobs(unittest.TestCase):
    def read(self, text):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "jobs").mkdir()
            (Path(folder) / "jobs/common.toml").write_text(text)
            with mock.patch.object(prove, "HERE", Path(folder)):
                return prove.read_jobs()

    def test_those_of_the_file_have_all_their_files(self):
        for job in prove.read_jobs():
            self.assertTrue(all(path.is_file() for path in prove.files_of(job)), job.title)

    def test_a_job_is_in_the_file_of_the_folder_of_its_block(self):
        for path in (prove.HERE / "jobs").glob("*.toml"):
            for job in prove.jobs_in(path):
                language, folder, *_ = prove.sources()[job.block].path.split("/")
                folder = "lock" if language == "bsv" else folder
                self.assertEqual(path.stem, "progress" if job.progress else folder, job.title)

    def test_each_part_of_an_entry_is_a_job(self):
        parts = JOB + "[job.parts]\none = { parameters = { Part = 1 } }\ntwo = { parameters = { Part = 2 } }\n"
        found = [(job.title, job.parameters) for job in self.read(parts)]
        self.assertEqual(found, [("lut_ram_one", {"Part": 1}), ("lut_ram_two", {"Part": 2})])

    def test_what_is_wider_is_one_job_more_which_judges_no_mutants(self):
        entry = JOB + "quick = true\nparameters = { One = 1, Two = 1 }\nwider = { Two = 2 }\n"
        first, wider = self.read(entry)
        self.assertEqual((first.title, first.parameters, first.judges_mutants), ("lut_ram", {"One": 1, "Two": 1}, True))
        self.assertEqual((wider.title, wider.parameters), ("lut_ram_wider", {"One": 1, "Two": 2}))
        self.assertEqual((wider.judges_mutants, wider.quick), (False, False))

    def test_each_part_of_the_proof_of_the_lock_units_step_has_a_job(self):
        text = (prove.HERE / "blocks/lock_step_formal.sv").read_text(encoding="utf-8")
        used = {int(number) for number in re.findall(r"`PART\((\d+),", text)}
        if "`PART(10 + p," in text:
            used |= set(range(11, 18))
        jobs = [job for job in prove.read_jobs() if job.block == "lock_step" and job.engine == "induction"]
        self.assertEqual(used, {job.parameters["Part"] for job in jobs})

    def test_two_jobs_of_one_name_are_refused(self):
        with self.assertRaisesRegex(BadInput, "several jobs are called lut_ram;"):
            self.read(JOB + JOB)
        self.assertEqual([job.title for job in self.read(JOB + JOB + 'name = "other"\n')], ["lut_ram", "other"])

    def test_what_the_file_says_wrongly_is_named(self):
        wrongs = {
            "deep = 1": "deep", 'engine = "none"': "`engine` is 'none', expected one of pdr", "depth =": "line 3",
            "apart = true": "`apart` is True, expected false with pdr",
            "depht = 3": "lut_ram: there is no entry depht .is it depth.*; expected one of block,",
            "limit = 0": "`limit` is 0, expected 1 second or more", "cover_depth = -3": "`cover_depth` is -3, expected 1 clock",
            'engine = "induction"\ndepth = -1': "`depth` is -1, expected 1 or more clocks with induction",
            "parameters = {A = '3; help'}": "`parameters.A` is '3; help', expected a number from 0 on",
            "parameters = {A = true}": "is True, expected a number", "wider = {A = -1}": "lut_ram_wider: `parameters.A` is -1",
            "parameters = {'A B' = 1}": "`parameters.A B`", "parameters = 3\nwider = {A = 1}": "parameters is 3, expected a table",
        }  # fmt: skip
        for wrong, named in wrongs.items():
            with self.subTest(wrong), self.assertRaisesRegex(BadInput, f"common.toml.*{named}"):
                self.read(f"{JOB}{wrong}\n")

    def test_a_name_is_a_folder_of_its_own(self):
        parts = JOB + "[job.parts]\n'../../docs' = {}\n"
        for text in (parts, *(f"{JOB}name = '{one}'\n" for one in ("../../docs", "a/b", "..", "lock", "cut", "self_test", ""))):
            if "''" not in text:
                with self.subTest(text), self.assertRaisesRegex(BadInput, "`name` is '.*', expected letters, digits and _"):
                    self.read(text)

    def test_a_parameter_that_the_wrapper_does_not_have_is_named(self):
        with self.assertRaisesRegex(BadInput, "`parameters`: no parameter Blcks; axi_lite_blocks_formal has Blocks"):
            prove.files_of(prove.Job("axi_lite_blocks", parameters={"Blcks": 7}))

    def test_one_job_that_cannot_be_asked_leaves_the_others(self):
        jobs = [prove.Job("lut_ram"), prove.Job("lut_ram", name="other"), prove.Job("none")]
        result = SimpleNamespace(asserts=["a"], covers=[], reached=set(), failed=[], places={}, trace=None)
        proofs = mock.Mock(side_effect=lambda job, *_: SimpleNamespace(run=mock.Mock(return_value=result, side_effect=wrongs.get(job.title))))
        wrongs = {"lut_ram": OSError(28, "No space left on device", "/a/file")}
        said = []
        with (
            tempfile.TemporaryDirectory() as folder, mock.patch.object(prove, "read_jobs", lambda: jobs),
            mock.patch.object(prove, "Prover", proofs), mock.patch.object(prove, "ROOT", Path(folder)),
            mock.patch.object(prove, "environment", dict), mock.patch.object(prove, "say", said.append),
            mock.patch("builtins.print"), mock.patch.object(prove, "files_of", lambda job: [prove.HERE / f"blocks/{job.top}.sv"]),
        ):  # fmt: skip
            self.assertEqual(prove.prove([], False, False), 2)
        self.assertIn("lut_ram: undecided: [Errno 28] No space left on device: '/a/file'", said)
        self.assertTrue(any(one.startswith("other: proven") for one in said), said)
        self.assertTrue(any("none_formal.sv: No such file" in one for one in said), said)

    def test_what_is_of_a_wrong_kind_is_named(self):
        wrongs = {
            "": "common.toml: expected entries that begin with", JOB.replace("[[job]]", "[job]"): "expected entries that begin with",
            "job = 3": "expected entries that begin with", '[[job]]\nname = "a"\n': "an entry has no `block`",
            f'{JOB}depth = "x"\n': "lut_ram: depth is 'x', expected a number", f"{JOB}stubs = 3\n": "expected an array of strings",
            f"{JOB}cut = [3]\n": "expected an array of strings", f"{JOB}quick = 1\n": "expected true or false",
            f"{JOB}wider = 3\n": "expected `wider` as a table",
            f"{JOB}parts = 3\n": "expected `parts` as a table", f"{JOB}[job.parts]\na = 3\n": "expected `parts` as a table",
        }  # fmt: skip
        for text, named in wrongs.items():
            with self.assertRaisesRegex(BadInput, named):
                self.read(text)
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(prove, "HERE", Path(folder)):
            self.assertRaisesRegex(BadInput, "no file of jobs is there", prove.read_jobs)

    def test_quick_progress_comes_with_what_it_takes_for_granted(self):
        with self.assertRaisesRegex(BadInput, "lut_ram_progress: `quick` without the job of lut_ram"):
            self.read(JOB + JOB + "progress = true\nquick = true\n")

    def test_progress_whose_grant_failed_is_not_written(self):
        given, job = self.read(JOB + JOB + "progress = true\n")
        for code, in_vain in ((0, False), (1, True), (2, True)):
            outcomes = [prove.Outcome(given, code), prove.Outcome(job)]
            self.assertEqual([prove.takes_in_vain(one, outcomes) for one in (given, job)], [False, in_vain])
        self.assertFalse(prove.takes_in_vain(job, [prove.Outcome(job)]))

    def test_a_file_that_is_missing_is_named(self):
        missing = {
            "any_none.sv": prove.Job("lut_ram", stubs=("none",)), "any_other.sv": prove.Job("lut_ram", stubs=("lut_ram:other",)),
            "none_formal.sv": prove.Job("none"),
        }  # fmt: skip
        for named, job in missing.items():
            with self.assertRaisesRegex(Undecided, named):
                prove.files_of(job)

    def test_what_a_stand_in_includes_is_one_of_its_files(self):
        stand_in = prove.HERE / "blocks/any_kept_lut_fifo.sv"
        self.assertIn(prove.HERE / "blocks/followed_word.svh", prove.with_included([stand_in]))

    def test_only_what_is_inside_the_block_can_be_cut(self):
        prove.files_of(prove.Job("stream_buffer"))
        with self.assertRaisesRegex(Undecided, "`cut` names lock_port, none, which is not inside lut_fifo"):
            prove.files_of(prove.Job("lut_fifo", cut=("lut_ram", "lock_port", "none")))

    def test_only_what_is_inside_the_block_has_a_stand_in(self):
        with self.assertRaisesRegex(Undecided, "`stubs` names lut_fifo, which is not inside block_ram"):
            prove.files_of(prove.Job("block_ram", stubs=("lut_fifo",)))

    def test_only_properties_that_are_there_can_be_left_out_or_assumed(self):
        for job in prove.read_jobs():
            prove.check_names(job, prove.files_of(job))
        for entry in ("without", "assumed"):
            job = prove.Job("block_ram", **{entry: ("i_block.none_of_this_name",)})
            with self.assertRaisesRegex(Undecided, "i_block.none_of_this_name, but no property is called so"):
                prove.check_names(job, prove.files_of(job))
        # Words of comments, and parts of names.
        for entry, name in (("without", "wor"), ("assumed", "i_block.has_room"), ("assumed", "i_block.contract")):
            job = prove.Job("lut_fifo", **{entry: (name,)})
            with self.subTest(name), self.assertRaisesRegex(Undecided, "but no property is called so"):
                prove.check_names(job, prove.files_of(job))

    def test_each_fault_of_the_self_test_has_its_place(self):
        jobs = {job.title: job for job in prove.read_jobs()}
        for fault in prove.read_faults():
            if "file" in fault:
                prove.with_fault(fault, prove.files_of(jobs[fault["job"]]))

    def test_faults_are_chosen_by_their_job_or_property(self):
        faults = prove.read_faults()
        self.assertEqual(prove.faults_of([]), faults)
        one, *_ = faults
        self.assertEqual({fault["job"] for fault in prove.faults_of([one["job"]])}, {one["job"]})
        self.assertEqual({fault["found_by"] for fault in prove.faults_of([one["found_by"]])}, {one["found_by"]})
        with self.assertRaisesRegex(Undecided, "no fault is planted in none_of_this_name"):
            prove.faults_of([one["job"], "none_of_this_name"])

    def test_of_what_is_cut_only_the_ports_are_left_whose_outputs_are_anything(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "some.sv"
            path.write_text(SOME)
            left = cut.text_of(path)
            path.write_text(SOME.replace("clk_i", "clk"))
            self.assertIsNone(cut.text_of(path))
        drawn = re.findall(r"anything #\(.Width\(.bits\((\w+)\)\)\) \w+ \(.clk_i, .value_o\({(\w+)}\)\);", left)
        self.assertEqual(drawn, [(one, one) for one in ("wide_o", "words_o", "own_o", "last_o")])
        self.assertIn("import some_pkg::*;", left)
        self.assertNotIn("inner", left)

    def test_what_is_inside_of_what_is_cut_is_none_of_the_files(self):
        files = prove.files_of(prove.Job("lookup_unit", cut=("nic_lookup",)))
        names = {path.name for path in files}
        self.assertIn(cut.FOLDER / "nic_lookup.sv", files)
        self.assertFalse(names & {"lookup_walk.sv", "axi_lite_blocks.sv"})


SOME = """module some
    import some_pkg::*;
#(
    parameter int unsigned Words = 3
) (
    input  logic                       clk_i,   // one, alone
    output logic [$clog2(Words+1)-1:0] wide_o,
    output logic [Words-1:0][7:0]      words_o, input logic beside_i,
    output some_t                      own_o,
    output last_t last_o
);
    inner i_inner (.clk_i, .output_o(last_o));
endmodule
"""


class Messages(unittest.TestCase):
    def test_a_misspelt_block_gets_a_suggestion(self):
        with self.assertRaisesRegex(BadInput, r"no job for lut_rom \(is it lut_ram or .*; hw/formal/jobs has all of them"):
            prove.wanted(prove.read_jobs(), ["lut_rom"], False)

    def test_so_many_jobs_run_at_a_time(self):
        asked = mock.Mock(return_value=0)
        with (
            mock.patch.object(prove, "prove", asked), mock.patch.object(prove, "alone"),
            mock.patch.object(sys, "argv", ["prove.py", "lut_ram", "--jobs", "3", "lut_fifo"]),
        ):  # fmt: skip
            prove.main()
        asked.assert_called_once_with(["lut_ram", "lut_fifo"], False, False, 3)

    def test_what_a_tool_says_has_its_place_from_the_root(self):
        folder = prove.ROOT / "out/prove/lut_ram"
        log = "Top level\n../../../hw/rtl/a.sv:3: ERROR: no\nERROR: failed; see full log for details\n\n"
        self.assertEqual(children.reasons(log, folder), "hw/rtl/a.sv:3: ERROR: no\n  ERROR: failed")
        self.assertEqual([children.reasons(text) for text in ("", "one\ntwo\n\n")], ["it printed nothing", "two"])

    def test_covers_are_not_asked_for_where_a_property_fails(self):
        result = SimpleNamespace(failed=["a"], covers=["b"], reached=set())
        self.assertEqual(prove.covers_of(result), "not asked")
        result.failed = []
        self.assertEqual(prove.covers_of(result), "0 of 1")

    def test_what_is_wrong_with_a_job_is_said_of_the_job(self):
        with self.assertRaisesRegex(Undecided, "a_job: `stubs` names lut_fifo, which is not inside block_ram"):
            prove.digest_now(prove.Job("block_ram", stubs=("lut_fifo",), name="a_job"))


class Induction(unittest.TestCase):
    def test_a_property_is_asked_for_in_the_clock_after_all_of_them_held(self):
        model = "; yosys-smt2-topmod t\n; yosys-smt2-register r 3\n; yosys-smt2-assert 0 one\n; yosys-smt2-assert 1 two\n"
        given, asked = engines.induction_of(model, 2)
        self.assertEqual(re.findall(r"\(\|t_a\| (s\d)\)", given), ["s0", "s1"])
        self.assertEqual(re.findall(r"\(\|t_[uh]\| (s\d)\)", given), ["s0", "s0", "s1", "s1", "s2", "s2"])
        self.assertEqual(re.findall(r"\(\|t_t\| (s\d s\d)\)", given), ["s0 s1", "s1 s2"])
        self.assertEqual(asked, {"one": "(assert (not (|t_a 0| s2)))", "two": "(assert (not (|t_a 1| s2)))"})
        self.assertEqual(engines.registers(model), ["r"])

    def test_what_is_answered_before_the_end_counts(self):
        self.assertEqual(
            engines.one_by_one({"g_a.a": "(1)", "b": "(2)"}),
            '(echo "a")(push 1)(1)(check-sat)(pop 1)\n(echo "b")(push 1)(2)(check-sat)(pop 1)\n',
        )
        self.assertEqual(engines.answers("a\nunsat\nb\nsat\nc\n"), [("a", False), ("b", True)])


class Apart(unittest.TestCase):
    def asked(self, log, is_late):
        """What induction says where yices has printed this."""
        model = "; yosys-smt2-topmod top\n"
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "model.smt2").write_text(model)

            def child(*_):
                (Path(folder) / "induction.log").write_text(log)
                if is_late:
                    raise Undecided("yices reached its limit")
                return 0, log

            job = SimpleNamespace(depth=1)
            prover = SimpleNamespace(job=job, folder=Path(folder), child=child, tools={"yices": "yices"})
            given = mock.patch.object(engines, "induction_of", lambda *_: ("", {"one": "", "two": ""}))
            with given, self.assertRaises(Undecided) as raised:
                engines.Prover.apart(prover)
            return raised.exception

    def test_what_was_decided_before_the_limit_counts(self):
        found = self.asked("one\nsat\n", True)
        self.assertEqual(found.names, ("one",))
        self.assertIn("`limit`, which left others undecided", str(found))
        for log, is_late, said in (("one\nunsat\n", True, "reached its limit"), ("one\nsat\n", False, "gave up")):
            self.assertIn(said, str(self.asked(log, is_late)))


PROGRAM = """
import functools, pathlib, signal, sys, threading, time
from children import Children, run_command
folder = pathlib.Path(sys.argv[1])

def main():
    run = Children({})
    sleep = ["sh", "-c", 'echo $$ > "$0.new" && mv "$0.new" "$0" && exec sleep 100']
    tasks = [functools.partial(run.run, [*sleep, f"pid.{n}"], folder / f"{n}.log", None, "sleep") for n in range(4)]
    if sys.argv[2] == "thread":
        def hear():
            while not (folder / "pid.0").exists():
                time.sleep(0.02)
            signal.pthread_kill(threading.get_ident(), signal.SIGTERM)
        tasks[1] = hear
    tasks[0]() if sys.argv[2] == "alone" else run.run_all(tasks, lambda _, future: future.result(), 2)

run_command("test", main, "it goes on here")
"""


class Signals(unittest.TestCase):
    def ended_by(self, how, *signals):
        """Runs children, sends signals in quick succession, and gives the code, what was said, and what still runs."""
        number = 2 if how == "all" else 1
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-B", "-c", PROGRAM, folder, how]
            with subprocess.Popen(command, cwd=prove.HERE, stderr=subprocess.PIPE, text=True) as program:
                end = time.monotonic() + 20
                while len(list(Path(folder).glob("pid.?"))) < number and time.monotonic() < end:
                    time.sleep(0.02)
                begun = time.monotonic()
                for one in signals:
                    program.send_signal(one)
                    time.sleep(0.003)
                _, said = program.communicate(timeout=30)
            pids = [int(one.read_text()) for one in Path(folder).glob("pid.?")]
        self.assertGreaterEqual(len(pids), number)
        return program.returncode, said, [pid for pid in pids if self.runs(pid)], time.monotonic() - begun

    @staticmethod
    def runs(pid):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        return True

    def test_children_end_with_the_program_however_many_signals_come(self):
        for how in ("all", "alone"):
            for signals in ([signal.SIGINT], [signal.SIGTERM], [signal.SIGHUP], [signal.SIGTERM, signal.SIGINT] * 10):
                with self.subTest(how=how, signals=signals):
                    code, said, running, seconds = self.ended_by(how, *signals)
                    self.assertEqual((code, said, running), (130, "test: ended; it goes on here\n", []))
                    self.assertLess(seconds, 20)

    def test_a_signal_that_comes_to_another_thread_ends_the_program_too(self):
        code, _, running, seconds = self.ended_by("thread")
        self.assertEqual((code, running), (130, []))
        self.assertLess(seconds, 20)

    def test_only_one_run_at_a_time_is_in_a_folder(self):
        order, entered = [], threading.Event()
        with tempfile.TemporaryDirectory() as folder, mock.patch("children.say", lambda text: (order.append(text), entered.set())):

            def other():
                with alone(Path(folder), "the other"):
                    order.append("other")

            thread = threading.Thread(target=other)
            with alone(Path(folder), "one"):
                thread.start()
                entered.wait(10)
                order.append("one")
            thread.join()
        self.assertEqual(order[1:], ["one", "other"])
        self.assertIn("the other waits until another run of it ends", order[0])


if __name__ == "__main__":
    unittest.main()
