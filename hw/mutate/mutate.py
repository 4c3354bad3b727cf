# SPDX-License-Identifier: MIT OR Apache-2.0
"""Plants mutants in blocks, and looks which of them the properties of hw/formal kill.

A mutant is killed if a property fails within some clocks, and unproven if induction does not prove the properties of it
any more. It is equivalent if a miter of the block with and without it is proven for all time, and unasked if that is
proven of what its contract asks for. All others survive. What is known of a mutant is kept, so that an interrupted run
goes on where it stopped.
"""

import functools
import hashlib
import json
import math
import os
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / one) for one in ("formal", "area", "regs")]
import aiger  # noqa: E402
import engines  # noqa: E402
import prove  # noqa: E402
import synth  # noqa: E402
import verilog  # noqa: E402
import inputs  # noqa: E402
from children import Broken, TimedOut, Undecided, alone, check_space, reasons  # noqa: E402

GOAL = 95  # per cent
# For one attempt at a mutant by properties, and by each miter. The first is a quick one.
SECONDS = (10, 120)
# In which a property has to fail; more where the job has more for its covers, such as places of which all are taken.
CLOCKS = (6, 16)
# The name, and where it is an array of ports, its size.
OUTPUT = re.compile(r"^\s*output\b[^,;\n]*?(\w+)\s*(\[[^\]]*\])?\s*[,;]?\s*$", re.M)
INPUT = re.compile(OUTPUT.pattern.replace("output", "input"), re.M)
SEEN = re.compile(r"^\s*assign seen\s*=([^;]*);", re.M)
EMPTY = re.compile(r"lat = +0 +and = +0\b")
PROVEN = ""
# What ABC prints after all that it was asked. Without it, its silence means nothing.
ASKED = "That was all."
VERDICTS = ("killed", "unproven", "survived", "equivalent", "unasked")
COLUMNS = ("block", "mutants", *VERDICTS, "found of the rest")
# What plant.py writes that verdicts follow from.
CIRCUITS = [f"{one}.{end}" for one in ("properties", "miter", "asked") for end in ("aag", "aim")]
MODELS = ("mutants.txt", "model.smt2", "properties.txt", *CIRCUITS)
# What a mutant is that a miter is proven of.
MITERS = {"miter": "equivalent", "asked": "unasked"}


class Unclear(Undecided):
    """A tool came to its end without an answer."""


class Plan:
    """The mutants of one block: what is planted, and where what is known of them is kept."""

    def __init__(self, job, number, kept):
        self.job = job
        self.files = prove.files_of(job)
        check_instance(prove.HERE / f"blocks/{job.top}.sv")
        *block_files, own = verilog.paths(prove.sources(), job.block)
        # Nobody chooses the seed.
        seed = int(synth.hash_of_rtl(synth.Block(job.block)).hexdigest(), 16) % 2**31
        self.wish = {
            **engines.wish_of(job, self.files), "number": number, "seed": seed,
            "outputs": outputs(verilog.plain(own)), "seen": self.seen(verilog.plain(own)),
            "stand_ins": {path.name: self.gets(path) for path in self.files if stands_in(path)},
            "block_files": [str(one) for one in [*block_files, own] if not self.is_shared(one)], "clocks": clocks(job),
        }  # fmt: skip
        self.folder = kept / job.title / self.digest()
        self.results = self.folder / "results.jsonl"
        # Whether what induction says of a mutant counts.
        self.is_inductive = job.engine == "induction"

    def seen(self, block):
        """Whether the wrapper says when which output counts."""
        return says_what_counts(self.job, self.files[-1], [name for name, _ in OUTPUT.findall(block)])

    def gets(self, path):
        """What a stand-in gets, and whether it says what counts of that."""
        inputs = [name for name, _ in INPUT.findall(verilog.plain(path)) if name != "clk_i"]
        return {"inputs": inputs, "seen": says_what_counts(self.job, path, inputs)}

    def is_shared(self, path):
        """Whether it is a package of which the wrapper has functions, too. A fault in those of the wrapper is none."""
        wrapper = verilog.plain(self.files[-1])
        return bool(re.search(rf"\b{path.stem}::", wrapper)) and path.stem.endswith("_pkg")

    def digest(self):
        """Of all that verdicts follow from."""
        hashed = hashlib.sha256(json.dumps({**self.wish, "files": None, "block_files": None}).encode())
        programs = [HERE / "mutate.py", HERE / "plant.py", HERE / "aiger.py", HERE.parent / "formal/model.py"]
        rules = (HERE.parent / "formal/rules").iterdir()
        for path in [*prove.with_included(self.files), *programs, *sorted(rules)]:
            hashed.update(b"\0" + path.read_bytes())
        return hashed.hexdigest()[:12]

    def place(self, number):
        return place(self.mutants()[number - 1], self.folder)

    def known(self):
        """The verdicts of earlier runs. A line that is none, such as one that was cut off, is told and counts as none."""
        result, wrong = {}, []
        lines = self.results.read_bytes().splitlines() if self.results.exists() else []
        for number, line in enumerate(lines, start=1):
            one = verdict_of(line, len(self.mutants()))
            if one:
                result[one["mutant"]] = one
            else:
                wrong.append(number)
        if wrong:
            places = f"{wrong[0]}{f' and {len(wrong) - 1} more' if len(wrong) > 1 else ''}"
            prove.say(f"{self.results}: no verdict is in line {places}, so what is missing is judged again")
        return result

    def build(self, children):
        if is_sealed(self.folder):
            return
        plant("plant.py", self.wish, self.folder, children)
        seal(self.folder, MODELS)

    def mutants(self):
        return (self.folder / "mutants.txt").read_text(encoding="utf-8").splitlines()


def verdict_of(line, number_of_mutants):
    """What a line of results.jsonl says, or nothing."""
    try:
        one = json.loads(line)
        number, verdict, by = one["mutant"], one["verdict"], one["by"]
    except (ValueError, TypeError, KeyError):
        return None
    is_right = type(number) is int and 0 <= number <= number_of_mutants and isinstance(by, str)
    if number == 0:
        miters = one.get("miters")
        is_right = is_right and isinstance(one.get("inductive"), bool)
        is_right = is_right and isinstance(miters, list) and all(miter in list(MITERS) for miter in miters)
    return one if is_right and verdict in (list(VERDICTS) if number else ["none"]) else None


def seal(folder, names):
    """Says that what was built in a folder is complete, and what it is."""
    inputs.write(folder / "built", json.dumps({name: digest_of(folder / name) for name in names}))


def is_sealed(folder):
    """Whether all that was built there is there still."""
    try:
        built = json.loads((folder / "built").read_text(encoding="utf-8"))
        return bool(built) and all(digest_of(folder / name) == digest for name, digest in built.items())
    except (OSError, ValueError, AttributeError):
        return False


def digest_of(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def says_what_counts(job, path, names):
    """Whether a file of a job has a signal `seen`. It has to name all of these."""
    found = SEEN.search(verilog.plain(path))
    missing = [name for name in names if found and not re.search(rf"\b{name}\b", found[1])]
    if missing:
        raise Undecided(f"{job.title}: `seen` in {path.name} does not name {', '.join(missing)}")
    return bool(found)


def check_instance(wrapper):
    """That a wrapper has what its miters compare. Yosys is silent about outputs that are not there."""
    if not re.search(r"\bi_block\s*\(", verilog.plain(wrapper)):
        raise Undecided(f"{inputs.called(wrapper)}: no instance is called i_block, so a miter would compare nothing")


def stands_in(path):
    """Whether a file of a job stands in the place of a module inside the block."""
    return path.name.startswith("any_") or path.parent == prove.cut.FOLDER


def plant(program, wish, folder, children):
    """Has a program plant what is wished for, and write it to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "wish.json"
    inputs.write(path, json.dumps({**wish, "folder": str(folder)}))
    command = [sys.executable, "-B", str(HERE / program), str(path)]
    code, log = children.run(command, folder / "plant.log", 600, "planting mutants")
    if code != 0:
        raise failure(f"no mutants planted; see {folder}/plant.log", log, folder)


def failure(what, log, folder):
    """That a program failed. One that gives no reason has said nothing of its input."""
    return (Undecided if "ERROR" in log or "error:" in log else Broken)(f"{what}\n  {reasons(log, folder)}")


@functools.lru_cache(maxsize=3)
def model(folder, name):
    """A model of all mutants: the circuit, and the names of its inputs and registers."""
    texts = [(folder / f"{name}.{end}").read_text(encoding="utf-8") for end in ("aag", "aim")]
    return aiger.read(texts[0]), aiger.names(texts[1])


def ask(plan, number, name, command, children, seconds):
    """What ABC says about the model of one mutant. Some of its commands, like `scorr`, have no limit of their own."""
    path = plan.folder / f"{number}.{name}.aig"
    script = f"read_aiger {path.name}; fold -s; strash; {command}; echo {ASKED}"
    try:
        inputs.write(path, aiger.with_mutant(*model(plan.folder, name), number).binary())
        abc = [str(engines.tools()["abc"]), "-c", script]
        _, text = children.run(abc, path.with_suffix(".log"), 2 * seconds, "ABC")
    finally:
        path.unlink(missing_ok=True)
    if ASKED not in text:
        check_space(path.with_suffix(".log"), "ABC")
    if not re.search(rf"^{re.escape(ASKED)}\s*$", text, re.M):
        raise Broken(f"ABC did not come to its end; see {path.with_suffix('.log')}: {reasons(text)}")
    return text


def killer(plan, number, children, depth, seconds):
    """The property that fails with a mutant, or nothing. With number 0 none should."""
    text = ask(plan, number, "properties", f"bmc3 -F {depth} -T {seconds}", children, seconds)
    failed = re.search(r"Output (\d+) of miter \S+ was asserted", text)
    if not failed and "No output asserted in" not in text:
        raise Unclear(f"ABC does not say whether a property fails: {reasons(text)}")
    names = (plan.folder / "properties.txt").read_text(encoding="utf-8").splitlines()
    return engines.plain(names[int(failed[1])]) if failed else None


def is_equivalent(plan, number, children, miter, seconds):
    """Whether a miter is proven, or nothing where it is not decided. That named `asked` has constraints: what the job
    assumes, and what it has proven of the block without a mutant."""
    # Most that differ do so soon, and what is merged by scorr takes its time then. Without a mutant nothing should.
    text = ask(plan, number, miter, f"bmc3 -F {CLOCKS[0]} -T {seconds}", children, seconds) if number else ""
    if "was asserted" not in text:
        text = ask(plan, number, miter, f"scorr; print_stats; pdr -T {seconds}", children, seconds)
    if "was asserted" in text:
        return False
    # Where nothing is left of the miter, pdr has nothing to prove.
    return "Property proved" in text or bool(EMPTY.search(text)) or None


def clocks(job):
    return CLOCKS[0], max(CLOCKS[1], job.cover_depth)


def choice(number, of, signal="[mutant]"):
    """That a mutant is chosen, in SMT-LIB, for which one bit is no vector."""
    width = of.bit_length()
    return f"(= {signal} #b{number:0{width}b})" if width > 1 else (signal if number else f"(not {signal})")


def unproven(plan, number, children):
    """The property that induction does not prove any more, or `PROVEN`."""
    return (unproven_apart if plan.job.apart else unproven_at_once)(plan, number, children)


def unproven_at_once(plan, number, children):
    chosen = plan.folder / f"{number}.smtc"
    inputs.write(chosen, f"always\nassume {choice(number, len(plan.mutants()))}\n")
    command = [
        sys.executable, "-B", str(engines.tools()["smtbmc"]), "-s", "yices", "-m", plan.job.top, "-i",
        "-t", str(plan.job.depth), "--smtc", str(chosen), str(plan.folder / "model.smt2"),
    ]  # fmt: skip
    _, text = children.run(command, plan.folder / f"{number}.induction.log", 2 * SECONDS[-1], "smtbmc")
    if "Status: PASSED" in text:
        return PROVEN
    if "Status: FAILED" not in text:
        raise error_of_induction(plan, number, text)
    return (engines.names(r"Assert failed in \S+: (\S+)", text) or ["a property"])[0]


def unproven_apart(plan, number, children):
    """As a job with `apart` does. What is decided before its time is over counts."""
    model = (plan.folder / "model.smt2").read_text(encoding="utf-8")
    given, asserts = engines.induction_of(model, plan.job.depth)
    signals = [f"(|{plan.job.top}_n mutant| s{step})" for step in range(plan.job.depth + 1)]
    chosen = "".join(f"(assert {choice(number, len(plan.mutants()), signal)})\n" for signal in signals)
    asked, log = plan.folder / f"{number}.induction.smt2", plan.folder / f"{number}.induction.log"
    inputs.write(asked, given + chosen + engines.one_by_one(asserts))
    command = [str(engines.tools()["yices"]), "--incremental", str(asked)]
    late = None
    try:
        children.run(command, log, 2 * SECONDS[-1], "yices")
    except TimedOut as error:
        late = error
    asked.unlink()
    text = log.read_text(encoding="utf-8")
    decided = engines.answers(text)
    failed = [name for name, is_unproven in decided if is_unproven]
    if failed:
        return failed[0]
    if len(decided) == len(asserts):
        return PROVEN
    raise late or error_of_induction(plan, number, text)


def error_of_induction(plan, number, text):
    return Broken(f"induction ended with an error; see {plan.folder}/{number}.induction.log: {reasons(text)}")


def found_by_properties(plan, number, children):
    """The verdict and what finds the mutant, or nothing. A long run takes its time, so induction is asked first. Where
    that proves each step, a property can fail only as a run begins."""
    quick, deep = clocks(plan.job)
    by = tried(killer, plan, number, children, quick, SECONDS[0])
    if by:
        return "killed", by
    by = tried(unproven, plan, number, children) if plan.is_inductive else None
    if by:
        return "unproven", by
    by = tried(killer, plan, number, children, plan.job.depth + 2 if by == PROVEN else deep, SECONDS[-1])
    return ("killed", by) if by else None


def check(plan, children):
    """That all is proven without a mutant. Else what is not would seem to find each of them. Where induction does not
    decide that in its time, what it says of mutants does not count."""
    failed = killer(plan, 0, children, clocks(plan.job)[-1], SECONDS[-1])
    if not failed and plan.is_inductive:
        failed = tried(unproven, plan, 0, children)
        plan.is_inductive = failed == PROVEN
        if failed is None:
            prove.say(f"{plan.job.title}: induction is not decided in its time without a mutant, so it finds none")
    if failed:
        raise Undecided(f"{failed} fails without a mutant")


def sound_miters(plan, children):
    """Those that hold without a mutant. One that does not proves nothing."""
    held = [miter for miter in MITERS if tried(is_equivalent, plan, 0, children, miter, SECONDS[-1])]
    for miter in MITERS:
        if miter not in held:
            prove.say(f"{plan.job.title}: the miter does not hold without a mutant, so none counts as {MITERS[miter]}")
    return held


def tried(function, *arguments):
    """What it gives, or nothing where it is not decided in its time. A tool that did not do its work is told."""
    try:
        return function(*arguments)
    except (TimedOut, Unclear):
        return None


def judge(plan, number, children, sound):
    """The verdict of a mutant, in which these miters may have a say. What is not decided within its time counts as
    survived."""
    try:
        return judged(plan, number, children, sound)
    except Broken as error:
        raise Broken(f"mutant {number}: {error}") from None


def judged(plan, number, children, sound):
    miters = {one: MITERS[one] for one in sound}
    last = clocks(plan.job)[-1]
    for depth, seconds in zip(clocks(plan.job), SECONDS, strict=True):
        found = tried(killer, plan, number, children, depth, seconds)
        if found:
            return {"mutant": number, "verdict": "killed", "by": found}
        if depth == last and plan.is_inductive:
            found = tried(unproven, plan, number, children)
            if found:
                return {"mutant": number, "verdict": "unproven", "by": found}
        for miter, verdict in list(miters.items()):
            equivalent = tried(is_equivalent, plan, number, children, miter, seconds)
            if equivalent:
                return {"mutant": number, "verdict": verdict, "by": "miter"}
            if equivalent is False:
                del miters[miter]
    return {"mutant": number, "verdict": "survived", "by": ""}


def run(plan, children, jobs):
    """All verdicts of a block, of which those of earlier runs are not asked for again."""
    engines.tools()
    plan.build(children)
    known = plan.known()
    if 0 not in known:
        check(plan, children)
        known[0] = {
            "mutant": 0, "verdict": "none", "by": "", "inductive": plan.is_inductive, "miters": sound_miters(plan, children),
        }  # fmt: skip
        keep(plan, known[0])
    sound, plan.is_inductive = known[0]["miters"], known[0]["inductive"]
    missing = [number for number in range(1, len(plan.mutants()) + 1) if number not in known]
    judged = 0

    def done(_, future):
        nonlocal judged
        judged += 1
        verdict = future.result()
        keep(plan, verdict)
        known[verdict["mutant"]] = verdict
        prove.say(f"{plan.job.title}: {judged} of {len(missing)}: {line_of(plan, verdict)}")

    children.run_all([functools.partial(judge, plan, number, children, sound) for number in missing], done, jobs)
    return [known[number] for number in sorted(known) if number]


def outputs(block):
    """Patterns for the names of a block's outputs; each port of an array has one of its own."""
    found = [f"{name}?[0-9]*" if size else name for name, size in OUTPUT.findall(block)]
    if not found:
        raise Undecided("no output of the block is found, so a miter would compare nothing")
    return found


def keep(plan, verdict):
    """Adds a line, also behind one that was cut off."""
    text = plan.results.read_bytes()[-1:] if plan.results.exists() else b""
    inputs.write(plan.results, ("\n" if text not in (b"", b"\n") else "") + json.dumps(verdict) + "\n", mode="ab")


def place(line, folder):
    """What a mutant is and where, from Yosys' line. Paths there count from the folder in which it was planted."""
    options = dict(re.findall(r"-(mode|cell|port|portbit|wire) (\S+)", line))
    path, number = (re.findall(r"-src (\S+?):(\d+)", line) or [("", "?")])[-1]
    file = os.path.relpath(os.path.realpath(folder / path), prove.ROOT) if path else "?"
    what = options.get("wire") or f"{options.get('port')}[{options.get('portbit')}] of {options.get('cell')}"
    return f"{file}:{number}: {options.get('mode')} of {what}"


def line_of(plan, verdict):
    by = f" by {verdict['by']}" if verdict["by"] else ""
    return f"{verdict['verdict']}{by}: {plan.place(verdict['mutant'])}"


def survivors_of(name, plan, verdicts):
    """Lines of the report, by which hw/blocks/record_mutants.py knows what survives."""
    return [f"survived in {name}: {plan.place(one['mutant'])}" for one in verdicts if one["verdict"] == "survived"]


def row(name, verdicts):
    """A row of the report, and the rate in per cent, which the row rounds down: 94.7 misses the goal."""
    counts = {kind: sum(one["verdict"] == kind for one in verdicts) for kind in VERDICTS}
    found = counts["killed"] + counts["unproven"]
    decided = found + counts["survived"]
    rate = 100 * found / decided if decided else 100.0
    return f"| `{name}` | {len(verdicts)} | {' | '.join(map(str, counts.values()))} | {math.floor(rate)} % |", rate


def report(columns, rows, survivors):
    lines = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|", *rows, *(f"\n- {one}" for one in survivors)]
    return "\n".join(lines) + "\n"


def by_properties(given, blocks, children):
    """The exit code of all blocks with a job that are asked for, and their report."""
    tops = {one.name for one in synth.listed() if one.is_top}
    rows, survivors, worst, code = [], [], 100.0, 0
    for job in prove.wanted([one for one in prove.read_jobs() if one.judges_mutants], blocks, quick=False):
        try:
            plan = Plan(job, 200 if job.block in tops else 40, given.kept.resolve())
            with alone(plan.folder, f"./kit mutate {job.title}"):
                verdicts = run(plan, children, given.jobs)
        except (Undecided, inputs.BadInput, OSError) as error:
            prove.say(f"mutate: {job.title}: {error}")
            rows.append(f"| `{job.title}` | | | | | | | undecided |")
            code = 2
            continue
        text, rate = row(job.title, verdicts)
        rows.append(text)
        worst = min(worst, rate)
        survivors += survivors_of(job.title, plan, verdicts)
    return code or int(worst < GOAL), report(COLUMNS, rows, survivors)
