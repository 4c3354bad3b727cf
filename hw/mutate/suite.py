# SPDX-License-Identifier: MIT OR Apache-2.0
"""The tests of a model crate, built on a netlist with mutants, and run on one of them at a time."""

import json
import os
import re
import shlex
import shutil
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import prove
from benches import digest
from children import Broken, TimedOut, Undecided, alone, reasons
from inputs import store, write

# What plants mutants of its own judges nothing here.
NEVER = r"mutant|sabotage"
# How many cases random tests draw, from few to their own number.
LADDER = (3, 60, None)
# A test with fewer cases stands beside that with more only where it takes so much less time.
SHORTER = 0.4
# Seconds that a run may take: at least, and as a multiple of what it takes without a mutant.
LIMIT = (20, 10)
# The part of the time of all runs that short ones take together.
SHORT = 0.1
ENDLESS = ", which does not end"
# Codes by which a shell says that a program was not run.
NOT_RUN = (126, 127)
# Of memory, in KiB: a mutant may make a test ask for more and more.
MEMORY = 8 << 20
# Where what tests share is, besides what they test.
SHARED = (prove.ROOT / "checks", prove.ROOT / "sim")


@dataclass
class Run:
    """A test with a number of cases, and what is known of it."""

    test: str  # binary::name
    cases: int | None
    seconds: float
    tried: int = 0
    killed: int = 0

    @property
    def name(self):
        return f"{self.test}{f' ({self.cases} cases)' if self.cases else ''}"

    @property
    def limit(self):
        return max(LIMIT[0], LIMIT[1] * self.seconds)

    @property
    def worth(self):
        """Kills that are to be expected in a second."""
        return (self.killed + 1) / (self.tried + 2) / (self.seconds + 0.05)


def with_shared(package, packages):
    """A package, and those of the workspace that its tests are made of: what it depends on in the folders `SHARED`."""
    found, left = {}, [package]
    while left:
        one = left.pop()
        if one["name"] in found:
            continue
        found[one["name"]] = one
        paths = {dependency["path"]: dependency["name"] for dependency in one["dependencies"] if dependency.get("path")}
        left += [packages[name] for path, name in paths.items() if any(Path(path).is_relative_to(one) for one in SHARED)]
    return [found[name] for name in sorted(found)]


class Suite:
    def __init__(self, plan, children):
        self.plan = plan
        self.bench = plan.bench
        self.children = children
        self.target = plan.folder.parents[1] / "target"
        self.programs = plan.folder / "tests"
        self.lock = threading.Lock()
        self.runs = []
        self.package, self.packages = {}, {}

    def build(self):
        """Builds the tests on the netlist, and keeps copies of their programs: other benches use the same folder."""
        if not shutil.which("cargo"):
            raise Undecided("cargo is missing, and with it what builds tests: https://rustup.rs")
        command = ["cargo", "metadata", "--no-deps", "--format-version", "1", "--offline"]
        known = subprocess.run(command, cwd=prove.ROOT, stdout=subprocess.PIPE, check=False)
        packages = json.loads(known.stdout or "{}").get("packages", [])
        self.packages = {one["name"]: one for one in packages}
        self.package = self.packages.get(self.bench.package)
        if not self.package:
            raise Undecided(f"benches.toml: {self.bench.top}: no package {self.bench.package} is in the workspace")
        log = self.plan.folder / "build.log"
        script = (
            f"cd {shlex.quote(str(prove.ROOT))} && exec cargo test --locked --no-run -p {self.bench.package} "
            "--message-format=json-render-diagnostics"
        )
        environment = {"CARGO_TARGET_DIR": str(self.target), self.bench.variable: str(self.plan.netlist)}
        command = ["env", *[f"{name}={value}" for name, value in environment.items()], "sh", "-c", script]
        with alone(self.target, f"./kit mutate --bench {self.bench.top}"):
            code, text = self.children.run(command, log, 3600, "building tests")
            if code != 0:
                raise Undecided(f"its tests are not built; see {log}")
            self.programs.mkdir(exist_ok=True)
            for name, path in programs(text, self.package["id"]):
                shutil.copy2(path, self.programs / name)

    def digest(self):
        """Of the tests, which decide what survives, and of what they share with others."""
        folder = Path(self.package["manifest_path"]).parent
        sources = [*folder.glob("tests/**/*.rs")]
        for shared in with_shared(self.package, self.packages):
            sources += Path(shared["manifest_path"]).parent.glob("src/**/*.rs")
        return digest(sorted(sources))

    def call(self, run, mutant, seen=None):
        """Whether a test fails, or nothing where it is not decided in its time."""
        program, name = run.test.split("::", 1)
        environment = {"LOCKSTEP_MUTANT": str(mutant), "CARGO_MANIFEST_DIR": str(Path(self.package["manifest_path"]).parent)}
        if run.cases:
            environment["LOCKSTEP_CASES"] = str(run.cases)
        if seen:
            environment["LOCKSTEP_SEEN"] = str(seen)
        sets = " ".join(f"{key}={shlex.quote(value)}" for key, value in environment.items())
        arguments = shlex.join([str(self.programs / program), "--exact", name, "--test-threads", "1"])
        folder = shlex.quote(environment["CARGO_MANIFEST_DIR"])
        before = f"cd {folder} && ulimit -v {MEMORY} && unset LOCKSTEP_SEED"
        script = f"{{ {before}; }} || exit {NOT_RUN[0]}; exec env {sets} {arguments}"
        log = self.plan.folder / f"{mutant}.{threading.get_ident()}.log"
        try:
            code, text = self.children.run(["sh", "-c", script], log, run.limit, run.name, may_crash=True)
        finally:
            log.unlink(missing_ok=True)
        if code in NOT_RUN:
            raise Broken(f"{run.name} does not start: {reasons(text)}")
        if code == 0 and "1 passed" not in text:
            raise Undecided(f"{run.name} is not in {program}")
        return code != 0, text

    def measure(self):
        """The tests that use the model, with numbers of cases that are worth it; each passes without a mutant."""
        kept = self.plan.folder / f"runs.{self.digest()}.json"
        self.runs = kept_runs(kept)
        if self.runs:
            return
        seen = self.plan.folder / "seen"
        for program in sorted(self.programs.iterdir()):
            for name in names_of(program):
                if re.search("|".join([NEVER, *self.bench.without]), name):
                    continue
                steps = {}
                # Its own number may be less than those between, which are worth nothing then.
                for cases in (LADDER[0], LADDER[-1], *LADDER[1:-1]):
                    is_between = len(steps) > 1
                    most = SHORTER * steps[LADDER[-1]].seconds if is_between else 3600
                    run = Run(f"{program.name}::{name}", cases, most / LIMIT[1])
                    seen.unlink(missing_ok=True)
                    begun = time.monotonic()
                    try:
                        failed, text = self.call(run, 0, seen)
                    except TimedOut:
                        if is_between:
                            continue
                        raise
                    run.seconds = time.monotonic() - begun
                    if failed:
                        write(self.plan.folder / "failed.log", text)
                        raise Undecided(f"{run.name} fails without a mutant; see {self.plan.folder}/failed.log")
                    if not seen.exists():
                        break
                    steps[cases] = run
                self.runs += worthwhile([steps[cases] for cases in LADDER if cases in steps])
        if not self.runs:
            raise Undecided(f"{self.bench.top}: no test of {self.bench.package} uses its model")
        text = json.dumps([{"test": one.test, "cases": one.cases, "seconds": one.seconds} for one in self.runs], indent=1)
        store(kept, text)
        total = sum(one.seconds for one in self.runs)
        prove.say(f"{self.bench.top}: {len(self.runs)} runs of tests, {total:.0f} s without a mutant")

    def learn(self, by):
        """Of a verdict of an earlier run."""
        for run in self.runs:
            if by.removesuffix(ENDLESS) == run.name:
                run.killed += 1
                run.tried += 1

    def parts(self):
        """The short runs, which together take a small part of the time of all, and the others."""
        runs = sorted(self.runs, key=lambda one: one.seconds)
        total, spent = sum(one.seconds for one in runs), 0.0
        short = []
        for run in runs:
            spent += run.seconds
            if spent <= SHORT * total:
                short.append(run)
        return short, [one for one in self.runs if one not in short]

    def killer(self, mutant, runs):
        """The first of these runs that fails with a mutant, those first that found most so far in their time; or
        nothing."""
        left = list(runs)
        while left:
            with self.lock:
                run = max(left, key=lambda one: one.worth)
                left.remove(run)
            try:
                failed, _ = self.call(run, mutant)
                by = run.name
            except TimedOut:
                failed, by = True, run.name + ENDLESS
            with self.lock:
                run.tried += 1
                run.killed += failed
            if failed:
                return by
        return None


def kept_runs(path):
    """Those of an earlier run of ./kit mutate; none where they are not whole."""
    try:
        return [Run(one["test"], one["cases"], one["seconds"]) for one in json.loads(path.read_text(encoding="utf-8"))]
    except (FileNotFoundError, ValueError, TypeError, KeyError):
        return []


def programs(text, package):
    """Name and path of each test program that Cargo has built of a package."""
    for line in text.splitlines():
        if not line.startswith("{"):
            continue
        message = json.loads(line)
        if message.get("package_id") == package and message.get("executable") and message["profile"]["test"]:
            yield message["target"]["name"], message["executable"]


def names_of(program):
    listed = subprocess.run(
        [program, "--list", "--format", "terse"], stdout=subprocess.PIPE, text=True, check=True,
        env={**os.environ, "LOCKSTEP_MUTANT": "0"},
    ).stdout  # fmt: skip
    return [line.removesuffix(": test") for line in listed.splitlines() if line.endswith(": test")]


def worthwhile(steps):
    """Of a test with more and more cases those that take much less time than the next one that stays."""
    result = steps[-1:]
    for step in reversed(steps[:-1]):
        if step.seconds < SHORTER * result[0].seconds:
            result.insert(0, step)
    return result
