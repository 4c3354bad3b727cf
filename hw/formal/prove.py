# SPDX-License-Identifier: MIT OR Apache-2.0
"""Proves properties of the RTL's blocks. jobs/ says which, blocks/ has a wrapper for each, progress/ what it does
in time, rules/ the properties that several of them share.

Prints a table in Markdown. Ends with 0 if all is proven, 1 if a property fails or a cover is out of reach, 2 if a
job could not be decided or asked for.
"""

import argparse
import functools
import hashlib
import json
import os
import re
import shutil
import sys
import time
from dataclasses import asdict, dataclass, field, replace

from children import Children, Undecided, alone, number_of_jobs, parsed, run_command, say
from engines import ENGINES, HERE, Prover, environment

ROOT = HERE.parent.parent
sys.path[:0] = [str(ROOT / "hw" / one) for one in ("regs", "blocks")]
import cut  # noqa: E402
import markdown  # noqa: E402
import verilog  # noqa: E402
import inputs  # noqa: E402
from inputs import BadInput, called, guesses, of_kinds, text_of, toml_of  # noqa: E402

TABLE = HERE / "table.md"
TITLE = """# What is proven

Written by `./kit prove --write`; do not edit. [Proofs](../../docs/formal.md) says what the columns mean.

"""
# Of a job; it is the name of its folder in out/prove, and in what ./kit mutate keeps, where these are something else.
NAME = re.compile(r"\w+", re.ASCII)
RESERVED = ("bench", "cut", "lock", "self_test")
# Of properties in a text: what is asserted by itself, and what macros are given.
PROPERTY = re.compile(r"\b(\w+)\s*:\s*(?:assert|assume|cover)\b|`[A-Z_]+\(\s*(\w+)(?:\s*,\s*(\w+))?")
COLUMNS = ("block", "properties", "proven", "covers reached", "seconds", "digest")


@dataclass(frozen=True)
class Job:
    block: str
    stubs: tuple = ()  # modules, for each of which blocks/any_<module>.sv stands; or `module:file` for another file
    cut: tuple = ()  # modules inside the block of which only the ports are left; outputs may be anything, in each clock
    name: str = ""  # where a block has several jobs
    wrapper: str = ""  # whose blocks/<wrapper>_formal.sv this is, where it is not that of the block
    engine: str = "pdr"
    depth: int = 0  # clocks, of induction and bounded proofs
    cover_depth: int = 20
    parameters: dict = field(default_factory=dict)
    assumed: tuple = ()  # assertions of the block that are about its inputs
    without: tuple = ()  # assertions that are left out
    apart: bool = False  # induction asks for each property by itself
    open_memories: bool = False  # as registers, so that the wrapper can name their words
    quick: bool = False  # also in ./kit test
    limit: int = 300  # seconds, for all of it
    spares_mutants: bool = False  # judges none, since its properties are about one of the things that the block does
    progress: bool = False  # of progress/<block>_progress.sv, with all else that is proven of the block for granted

    @property
    def top(self):
        return f"{self.wrapper or self.block}_formal"

    @property
    def judges_mutants(self):
        # Jobs of progress have too few properties to judge by, and take the others for granted.
        return not (self.progress or self.spares_mutants)

    @property
    def title(self):
        return self.name or self.block + "_progress" * self.progress


def parts_of(entry, place):
    """The jobs of an entry: one; or, where it has `parts`, one of each name there, with what differs; or, where it has
    parameters that are `wider`, one more with these, which are nearer to those of hardware."""
    if "block" not in entry:
        raise BadInput(f"{place}: an entry has no `block`")
    place = f"{place}: {entry['block']}"
    parts, wider, parameters = entry.pop("parts", {}), entry.pop("wider", {}), entry.get("parameters", {})
    if not isinstance(parts, dict) or not all(isinstance(one, dict) for one in parts.values()):
        raise BadInput(f"{place}: expected `parts` as a table of jobs by name")
    if not isinstance(wider, dict) or parts and wider:
        raise BadInput(f"{place}: expected `wider` as a table of parameters, without `parts`")
    if wider and isinstance(parameters, dict):
        # Mutants of the block are judged by the first, which is faster.
        name = f"{entry.get('name', entry['block'])}_wider"
        more = {"name": name, "parameters": {**parameters, **wider}, "spares_mutants": True, "quick": False}
        return [entry, {**entry, **more}]
    return [{**entry, "name": f"{entry['block']}_{name}", **own} for name, own in parts.items()] if parts else [entry]


def jobs_in(path):
    entries = toml_of(path).get("job")
    if not isinstance(entries, list) or not all(isinstance(one, dict) for one in entries):
        raise BadInput(f"{called(path)}: expected entries that begin with [[job]]")
    return [checked(one, called(path)) for entry in entries for one in parts_of(entry, called(path))]


def checked(entries, place):
    """The job of these entries, if they are what they should be."""
    job = of_kinds(Job, entries, f"{place}: {entries['block']}", ("parts", "wider"))
    for name, value, is_right, expected in expectations(job):
        if not is_right:
            raise BadInput(f"{place}: {job.title}: `{name}` is {value!r}, expected {expected}")
    return job


def expectations(job):
    """Of entries of a job: the value, whether it is right, and what was expected."""
    least = int(job.engine != "pdr")
    is_name = NAME.fullmatch(job.title) and job.title not in RESERVED
    yield "name", job.title, is_name, f"letters, digits and _, and none of {', '.join(RESERVED)}"
    yield "engine", job.engine, job.engine in ENGINES, f"one of {', '.join(ENGINES)}"
    yield "limit", job.limit, job.limit >= 1, "1 second or more"
    yield "depth", job.depth, job.depth >= least, f"{least} or more clocks with {job.engine}"
    yield "cover_depth", job.cover_depth, job.cover_depth >= 1, "1 clock or more"
    yield "apart", job.apart, job.engine == "induction" or not job.apart, f"false with {job.engine}: it is for induction"
    for name, value in job.parameters.items():
        yield f"parameters.{name}", value, NAME.fullmatch(name) and type(value) is int and value >= 0, "a number from 0 on"


def read_jobs():
    """Those of all files, in the order of their names: one for each folder of the RTL, and one of progress."""
    by_file = {path: jobs_in(path) for path in sorted((HERE / "jobs").glob("*.toml"))}
    jobs = [job for of_file in by_file.values() for job in of_file]
    if not jobs:
        raise BadInput(f"{called(HERE / 'jobs')}: no file of jobs is there")
    titles = [job.title for job in jobs]
    # The outcome of one would hide that of the other.
    twice = sorted({title for title in titles if titles.count(title) > 1})
    if twice:
        raise BadInput(f"{called(HERE / 'jobs')}: several jobs are called {', '.join(twice)}; `name` tells them apart")
    for path, of_file in by_file.items():
        for job in of_file:
            check_progress(job, jobs, f"{called(path)}: {job.title}")
    return jobs


def check_progress(job, jobs, place):
    """That what a job of progress takes for granted is proven by another."""
    granting = [other for other in jobs if job.progress and is_granted(job, other)]
    if job.progress and not granting:
        raise BadInput(
            f"{place}: no unbounded job of {job.block} has the same `stubs`, `cut`, `parameters`"
            " and `assumed`, and leaves out no more properties"
        )
    if job.progress and job.quick and not any(other.quick for other in granting):
        raise BadInput(f"{place}: `quick` without the job of {job.block} that it takes for granted")


def is_granted(job, other):
    """Whether all that a job of progress takes for granted is proven by another."""
    same = all(getattr(job, one) == getattr(other, one) for one in ("block", "stubs", "cut", "parameters", "assumed"))
    return same and not other.progress and other.engine != "bounded" and set(other.without) <= set(job.without)


def takes_in_vain(job, outcomes):
    """Whether what a job of progress takes for granted has just not been proven. Then its row would say too much."""
    given = [one.code for one in outcomes if job.progress and is_granted(job, one.job)]
    return bool(given) and 0 not in given


@functools.cache
def sources():
    """What the tops are made of, and the step of the lock unit, which is there to be proven."""
    step = verilog.source(verilog.HARDWARE / "bsv/generated/lock_step.v")
    return {**verilog.sources(), step.name: step}


def files_of(job):
    """All files that a job needs: what the block is made of, the rules, and at the end the wrapper, or what is bound
    into it."""
    bound = [f"progress/{name}.sv" for name in ("waits_at_most", f"{job.block}_progress") if job.progress]
    named = [HERE / one for one in (f"blocks/{job.top}.sv", *bound)]
    if named[0].is_file():
        verilog.check_parameters(named[0], job.parameters, "`parameters`")
    named_stubs = (one.partition(":") for one in job.stubs)
    stubs = {name: HERE / f"blocks/any_{other or name}.sv" for name, _, other in named_stubs}
    for path in (*named, *stubs.values()):
        if not path.is_file():
            raise Undecided(f"there is no {path.relative_to(ROOT)}")
    known = {**sources(), **{name: replace(verilog.source(path), name=name) for name, path in stubs.items()}}
    if job.block not in known:
        raise Undecided(f"hw/rtl has no block {job.block}")
    paths = verilog.paths(known, job.block)
    missing = [name for name in job.cut if name not in known or verilog.HARDWARE / known[name].path not in paths]
    if missing:
        raise Undecided(f"`cut` names {', '.join(missing)}, which is not inside {job.block}")
    off = {name: cut.stand_in(known[name]) for name in job.cut}
    without_clock = [name for name, one in off.items() if not one]
    if without_clock:
        raise Undecided(f"`cut` names {', '.join(without_clock)}, which has no clk_i")
    if off:
        paths = verilog.paths({**known, **off}, job.block)
    unused = [name for name, path in stubs.items() if path not in paths]
    if unused:
        raise Undecided(f"`stubs` names {', '.join(unused)}, which is not inside {job.block}")
    rules = sorted((HERE / "rules").glob("*.sv"))
    return [*paths, *rules, *named]


def digest(job, files):
    """Of all that a proof follows from but the programs that run it."""
    # Jobs that were there before these were entries keep their digests.
    later = ("progress", "apart", "cut", "wrapper")
    entries = {name: value for name, value in asdict(job).items() if name not in later or value}
    entries.pop("spares_mutants")
    hashed = hashlib.sha256(json.dumps(entries, default=sorted).encode())
    for path in with_included(files):
        hashed.update(b"\0" + " ".join(verilog.plain(path).split()).encode())
    return hashed.hexdigest()[:12]


def digest_now(job):
    """Of what it is now; what is wrong with it is said of the job."""
    try:
        return digest(job, files_of(job))
    except (Undecided, BadInput) as error:
        raise type(error)(f"{job.title}: {error}") from None


def with_included(files):
    """The files, and what their wrappers and stubs include besides the macros of the rules."""
    result = list(files)
    for path in result:
        if path.parent == HERE / "blocks":
            named = re.findall(r'^\s*`include "(.+)"', text_of(path), re.M)
            result += [path.parent / one for one in named if not one.startswith("../rules/")]
    return result


def place_of(name, files):
    """File and line of a property that a macro makes, for which Yosys knows none, from the names of instances before
    its own."""
    texts = {path: text_of(path) for path in files}
    path = files[-1]
    *instances, own = name.split(".")
    for instance in instances:
        made = re.search(
            rf"(\w+)\s+(?:#\s*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\s*)?{re.escape(instance)}\s*\(", texts[path]
        )
        module = made and re.compile(rf"^module {made[1]}\b", re.M)
        path = next((one for one in files if module and module.search(texts[one])), path)
    for number, line in enumerate(texts[path].splitlines(), 1):
        if re.match(rf"\s*`(RULE|REACHED)\({re.escape(own)},", line):
            return f"{os.path.relpath(path, ROOT)}:{number}"
    return os.path.relpath(path, ROOT)


@dataclass
class Outcome:
    job: Job
    code: int = 0
    failed: tuple = ()
    unproven: tuple = ()  # which induction does not prove
    properties: str = ""
    proven: str = "undecided"
    covers: str = ""
    seconds: str = ""
    digest: str = ""

    @property
    def row(self):
        return dict(
            zip(COLUMNS[1:], (self.properties, self.proven, self.covers, self.seconds, self.digest), strict=True)
        )


def proven(job):
    if job.engine == "bounded":
        return f"for {job.depth} clocks"
    return "unbounded" + (f", induction of depth {job.depth}" if job.engine == "induction" else "")


def check_names(job, files):
    """The properties that a job leaves out, or takes for granted, have to be there, or they are others' by now. Where in
    the block they are, model.py checks."""
    found = {name for path in with_included(files) for one in PROPERTY.findall(verilog.plain(path)) for name in one if name}
    own = {name: name.split(".")[-1].removeprefix("*") for name in (*job.without, *job.assumed)}
    gone = [name for name in job.without if not any(one.endswith(own[name]) for one in found)]
    gone += [name for name in job.assumed if own[name] not in found]
    if gone:
        raise Undecided(f"`without` or `assumed` names {', '.join(gone)}, but no property is called so")


def covers_of(result):
    return "not asked" if result.failed else f"{len(result.reached)} of {len(result.covers)}"


def attempt(job, files, folder, children):
    """Runs a job, with these files in the place of its own, and says how it went."""
    start = time.monotonic()
    try:
        files = files or files_of(job)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        check_names(job, files)
        result = Prover(job, files, folder, children).run()
        number = len(result.asserts)
        outcome = Outcome(
            job, properties=str(number), proven=proven(job), seconds=str(round(time.monotonic() - start)),
            digest=digest(job, files), covers=covers_of(result),
            failed=failures(job, result, files),
        )  # fmt: skip
    except (Undecided, BadInput, OSError) as error:
        say(f"{job.title}: undecided: {error}")
        return Outcome(job, 2, unproven=getattr(error, "names", ()))
    if outcome.failed:
        return replace(outcome, code=1, proven="FAILED")
    say(f"{job.title}: proven {proven(job)}, {number} {'property' if number == 1 else 'properties'}, {outcome.seconds} s")
    return outcome


def failures(job, result, files):
    """Says and gives the properties that fail; or else the covers out of reach, without which a proof says nothing."""

    def named(name):
        return f"{name} ({result.places.get(name) or place_of(name, files)})"

    for name in result.failed:
        say(f"{job.title}: FAILED: {named(name)}; trace: {result.trace}")
    if result.failed:
        return result.failed
    unreached = sorted(set(result.covers) - result.reached)
    for name in unreached:
        say(f"{job.title}: FAILED: cover {named(name)} is not reached in {job.cover_depth} clocks")
    return unreached


def run_all(tasks, number_at_a_time):
    """The results of functions that run something with the children given, in their order."""
    children, results = Children(environment()), {}

    def done(number, future):
        results[number] = future.result()

    children.run_all([functools.partial(task, children) for task in tasks], done, number_at_a_time)
    return [results[number] for number in range(len(tasks))]


def wanted(jobs, blocks, quick):
    known = {name for job in jobs for name in (job.block, job.title)}
    unknown = sorted(set(blocks) - known)
    if unknown:
        raise BadInput(
            f"no job for {guesses(unknown, known)}; hw/formal/jobs has all of them, and docs/formal.md says how to add one"
        )
    if blocks:
        return [job for job in jobs if job.block in blocks or job.title in blocks]
    return [job for job in jobs if job.quick or not quick]


def prove(blocks, quick, write, number_at_a_time=None):
    known = read_jobs()
    jobs = wanted(known, blocks, quick)
    if write:
        # A table that cannot be read is told before the work.
        markdown.read(TABLE, COLUMNS[1:], ("properties",))
    folder = ROOT / "out/prove"
    tasks = [
        lambda children, job=job: attempt(job, None, folder / job.title, children)
        for job in sorted(jobs, key=lambda job: -job.limit)
    ]
    rows = {one.job.title: one for one in run_all(tasks, number_at_a_time)}
    outcomes = [rows[job.title] for job in jobs]
    print(markdown.text(COLUMNS, {one.job.title: one.row for one in outcomes}), end="")
    if write:
        done = {one.job.title: one.row for one in outcomes if one.code == 0 and not takes_in_vain(one.job, outcomes)}
        markdown.renew(TABLE, TITLE, COLUMNS, [job.title for job in known], done)
    codes = {one.code for one in outcomes}
    return 1 if 1 in codes else max(codes)


def read_faults():
    return toml_of(HERE / "mutants.toml")["mutant"]


def with_fault(mutant, files):
    """The file of a job that a fault of mutants.toml is in, and its text with the fault."""
    path = (ROOT / "hw/rtl" / mutant["file"]).resolve()
    text = text_of(path)
    if path not in files:
        raise Undecided(f"mutants.toml: {mutant['job']} does not read {mutant['file']}")
    if text.count(mutant["right"]) != 1:
        raise Undecided(f"mutants.toml: {mutant['right']!r} should stand once in {mutant['file']}")
    return path, text.replace(mutant["right"], mutant["wrong"])


def faults_of(names):
    """The faults that are planted in these jobs, or found by these properties; without a name, all."""
    faults = read_faults()
    known = {fault[one] for fault in faults for one in ("job", "found_by")}
    unknown = sorted(set(names) - known)
    if unknown:
        raise Undecided(f"mutants.toml: no fault is planted in {guesses(unknown, known)}, or found by it")
    return [fault for fault in faults if not names or fault["job"] in names or fault["found_by"] in names]


def self_test(names, number_at_a_time=None):
    """Plants a fault for each class of property, and looks whether its property fails."""
    mutants = faults_of(names)
    jobs = {job.title: job for job in read_jobs()}
    folder = ROOT / "out/prove/self_test"

    def task(number, mutant, children):
        place = folder / str(number)
        place.mkdir(parents=True)
        job = jobs[mutant["job"]]
        if job.progress and not mutant.get("granted"):
            # What else is proven of the block need not hold with the fault, so it is not taken for granted.
            job = replace(job, engine="bounded", depth=job.cover_depth)
        job = replace(
            job,
            without=mutant.get("without", ()),
            parameters={**job.parameters, **mutant.get("parameters", {})},
            limit=mutant.get("limit", job.limit),
        )
        files = files_of(job)
        if "file" in mutant:
            path, text = with_fault(mutant, files)
            wrong = place / path.name
            inputs.write(wrong, text)
            files = [wrong if one == path else one for one in files]
        outcome = attempt(job, files, place / "job", children)
        found = mutant["found_by"] in (*outcome.failed, *outcome.unproven)
        say(
            f"{mutant['class']}: {'found' if found else 'NOT FOUND'} by {mutant['found_by']}: {mutant['what']}"
        )
        return found

    shutil.rmtree(folder, ignore_errors=True)
    tasks = [
        lambda children, n=number, one=mutant: task(n, one, children)
        for number, mutant in enumerate(mutants, 1)
    ]
    found = run_all(tasks, number_at_a_time)
    print(f"{sum(found)} of {len(found)} planted faults make their property fail")
    return 0 if all(found) else 1


def main():
    parser = argparse.ArgumentParser(prog="./kit prove", description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument(
        "blocks", nargs="*", metavar="BLOCK",
        help="a block with a job; with --self-test, a job or the property that finds a fault; without one, all of them",
    )
    parser.add_argument(
        "--quick", action="store_true", help="the jobs that ./kit test runs, under a minute in all"
    )
    parser.add_argument(
        "--self-test", action="store_true", help="whether planted faults make properties fail"
    )
    parser.add_argument(
        "--write", action="store_true", help="renews the rows of what is proven in hw/formal/table.md"
    )
    parser.add_argument("--jobs", type=number_of_jobs, metavar="N", help="so many at a time; without it, one for each core")
    arguments = parsed(parser)
    if arguments.self_test and (arguments.quick or arguments.write):
        parser.error("--self-test plants faults of hw/formal/mutants.toml: without --quick and --write")
    if arguments.quick and arguments.blocks:
        parser.error(f"--quick chooses the jobs itself; without it, those of {', '.join(arguments.blocks)} run")
    with alone(ROOT / "out/prove", "./kit prove"):
        if arguments.self_test:
            return self_test(arguments.blocks, arguments.jobs)
        return prove(arguments.blocks, arguments.quick, arguments.write, arguments.jobs)


if __name__ == "__main__":
    run_command("prove", main, "what was not done by then is not proven")
