# SPDX-License-Identifier: MIT OR Apache-2.0
"""Plants mutants in blocks, and looks which of them properties or tests kill.

Blocks with a job in hw/formal are judged by their properties (mutate.py), unless benches.toml has them in `by_tests`.
All others are judged by the tests of the bench of a top above them (benches.toml): a mutant is killed if a test fails
with it, or does not end. It is equivalent if a miter of its module with and without it is proven for all time. What is
left is planted once more in the jobs of its block and of those around it, which may find it. All others survive.
"""

import argparse
import functools
import hashlib
import os
import sys
from pathlib import Path

import benches
import mutate
import proofs
import prove
import record_mutants
import suite
from benches import Plan, Undecided
from children import Broken, Children, alone, number_of_jobs, parsed, run_command
from inputs import BadInput, guesses

HERE = Path(__file__).resolve().parent
# Of the module of a mutant, and of what is around it: miters that are made, one after the other. That of a whole top took
# a quarter of the time of a bench, and decided on one mutant of 86.
MITERS = (
    ("module", "cut", "equivalent"), ("module", "whole", "equivalent"), ("module", "asked", "unasked"),
    ("parent", "whole", "equivalent"),
)  # fmt: skip
# Those that take little time, with so many seconds for a mutant, are made before long tests run.
EARLY, EARLY_SECONDS = (MITERS[0], MITERS[2]), 5
# Seconds of a mutant in the others. A miter that leaves so many undecided, the first, is not asked for the rest.
LATE_SECONDS, BARREN = 15, 4
BY_PROOF = "by_proof"
ANSWERS = "answers"  # of jobs, by their titles: the digest of what they were asked


def known(plan, tests):
    """The verdicts of earlier runs by number. What survived other tests is judged again, and what other miters or proofs
    say."""
    result = {}
    for number, one in mutate.Plan.known(plan).items():
        if one.get(BY_PROOF) and not is_still_found(plan, one):
            one = {**one, "verdict": "survived", "by": "", BY_PROOF: False}
        if one["verdict"] == "killed" or one.get(BY_PROOF):
            result[number] = one
        elif one.get("tests") == tests:
            is_asked = one.get("asked") == plan.asked_of(number)
            if is_asked:
                result[number] = one
            elif not one.get("early"):
                result[number] = {**one, "verdict": "survived", "by": "", "asked": None}
    return result


def is_still_found(plan, one):
    """Whether the job that found a mutant is what it was then."""
    finder = one["by"].partition(":")[0]
    asked = {question.job.title: question.digest for question in proofs.questions(plan, one["mutant"])}
    return finder in asked and one.get(ANSWERS, {}).get(finder) == asked[finder]


def judge_by_tests(tests, digest, runs, number):
    by = tests.killer(number, runs)
    if not by:
        return {"mutant": number, "verdict": "survived", "by": "", "tests": digest, "asked": None}
    return {"mutant": number, "verdict": "killed", "by": by}


def miter(plan, children, module, numbers, kind):
    """The name of the miter of some mutants in a module, or nothing where it cannot be made or says nothing."""
    # Models are known by their names, so each has its own.
    asked = hashlib.sha256(" ".join([module, *map(str, numbers)]).encode()).hexdigest()[:12]
    name = f"{kind}_{asked}"
    code, log = plan.child(children, "miter_bench.py", f"{name}.log", name, module, kind, *map(str, numbers))
    if code != 0:
        failure = mutate.failure(f"no miter of {module}:", log, plan.folder)
        if isinstance(failure, Broken):
            raise failure
        prove.say(f"{plan.bench.top}: {failure}")
        return None
    if not mutate.tried(mutate.is_equivalent, plan, 0, children, name, mutate.SECONDS[-1]):
        prove.say(f"{plan.bench.top}: the miter of {module} ({kind}) does not hold without a mutant, so it says nothing")
        return None
    return name


def ask_equivalent(plan, children, numbers, done, jobs, miters=MITERS, seconds=LATE_SECONDS):
    """Whether what survived its tests changes anything at the ports of its module, or of what is around it. One that
    decides nothing in its time leaves the rest to the next."""
    plan.write_wish(seen=plan.seen)
    left, asked = list(numbers), set()
    for where, kind, verdict in miters:
        by_module = {}
        for number in left:
            module = plan.around(number)[where]
            if (number, module, kind) not in asked and plan.is_worth_asking(number, module, kind):
                by_module.setdefault(module, []).append(number)
                asked.add((number, module, kind))
        for module, of_module in sorted(by_module.items()):
            found = answers(plan, children, module, of_module, kind, jobs, seconds)
            for number in of_module:
                if found.get(number):
                    done({"mutant": number, "verdict": verdict, "by": f"miter of {module}"})
                    left.remove(number)
        prove.say(f"{plan.bench.top}: {len(left)} of {len(numbers)} left by miters ({where}, {kind})")


def answers(plan, children, module, numbers, kind, jobs, seconds):
    """Of each of these mutants in a module whether it is equivalent; nothing where that is not decided or asked."""
    name = mutate.tried(miter, plan, children, module, numbers, kind)
    if not name:
        return {}
    found = {}

    def ask(number):
        found[number] = mutate.tried(mutate.is_equivalent, plan, number, children, name, seconds)

    def ask_all(numbers):
        children.run_all([functools.partial(ask, number) for number in numbers], lambda _, future: future.result(), jobs)

    # In their order, so that nothing hangs on how many are asked at a time.
    first, rest = numbers[:BARREN], numbers[BARREN:]
    ask_all(first)
    if rest and all(found[number] is None for number in first):
        prove.say(f"{plan.bench.top}: the miter of {module} ({kind}) leaves {BARREN} undecided, so it is not asked for others")
    else:
        ask_all(rest)
    return found


def judge(plan, wanted, children, jobs):
    """The verdicts of these mutants, of which those of earlier runs are not asked for again."""
    tests = suite.Suite(plan, children)
    tests.build()
    tests.measure()
    digest = tests.digest()
    found = known(plan, digest)
    for one in found.values():
        tests.learn(one["by"])
    wanted = [number for number in range(1, len(plan.mutants()) + 1) if number in wanted]
    missing = [number for number in wanted if number not in found]

    # What a proof has answered holds whatever tests say.
    answered = {number: one[ANSWERS] for number, one in mutate.Plan.known(plan).items() if ANSWERS in one}

    def keep(verdict):
        number = verdict["mutant"]
        if number in answered:
            verdict = {ANSWERS: answered[number], **verdict}
        mutate.keep(plan, verdict)
        found[number] = verdict

    def run(kind, runs, numbers, survivors):
        """Judges by some runs of tests. What survives them is given to `survivors`."""
        judged = survived = 0

        def done(_, future):
            nonlocal judged, survived
            verdict = future.result()
            judged += 1
            survived += verdict["verdict"] == "survived"
            (survivors if verdict["verdict"] == "survived" else keep)(verdict)
            if judged % 10 == 0 or judged == len(numbers):
                prove.say(f"{plan.bench.top}: {judged} of {len(numbers)} judged by {kind}, {survived} survived so far")

        tasks = [functools.partial(judge_by_tests, tests, digest, runs, number) for number in numbers]
        children.run_all(tasks, done, jobs)

    def early(verdict):
        number = verdict["mutant"]
        keep({**verdict, "tests": digest, "asked": plan.asked_of(number), "early": True})
        left.remove(number)

    short, long = tests.parts()
    left = []
    run("short tests", short, missing, lambda verdict: left.append(verdict["mutant"]))
    ask_equivalent(plan, children, sorted(left), early, jobs, EARLY, EARLY_SECONDS)
    run("the other tests", long, sorted(left), keep)
    alive = [number for number in wanted if found[number]["verdict"] == "survived"]
    alive = [number for number in alive if found[number]["asked"] != plan.asked_of(number)]

    def asked(verdict):
        number = verdict["mutant"]
        keep({**found[number], **verdict, "asked": plan.asked_of(number)})

    for number in filter(plan.is_beyond_memory, alive):
        asked({"mutant": number, "verdict": "equivalent", "by": "its memory has no such bit of an address"})
    alive = [number for number in alive if found[number]["verdict"] == "survived"]
    ask_equivalent(plan, children, alive, asked, jobs)
    for number in alive:
        if found[number]["verdict"] == "survived":
            asked(found[number])
    # At the end: what changes nothing here is not to be counted as found elsewhere.
    judge_by_proofs(plan, children, found, wanted, keep, jobs)
    return found


def judge_by_proofs(plan, children, found, wanted, keep, jobs):
    """Has the jobs of hw/formal judge what survives all else, but for what they have been asked before. Each answer is kept
    at once, since a proof may take minutes for each mutant."""

    def is_open(number, question):
        return found[number].get(ANSWERS, {}).get(question.job.title) != question.digest

    def done(number, question, verdict):
        one = found[number]
        answers = {**one.get(ANSWERS, {}), question.job.title: question.digest}
        if verdict:
            kind, name = verdict
            one = {**one, "verdict": kind, "by": f"{question.job.title}: {name}", BY_PROOF: True}
        keep({**one, ANSWERS: answers})

    alive = [number for number in wanted if found[number]["verdict"] == "survived"]
    asked = {number: [one for one in proofs.questions(plan, number) if is_open(number, one)] for number in alive}
    proofs.ask(plan, children, asked, done, jobs)


def report(plan, names, found):
    """Rows, lines of survivors, and the worst rate."""
    rows, survivors, worst = [], [], 100.0
    for name in names:
        verdicts = [found[number] for number in plan.planted["rows"][name]]
        text, rate = mutate.row(name, verdicts)
        proofs_found = any(one.get(BY_PROOF) for one in verdicts)
        rows.append(f"{text} tests of {plan.bench.package}{', and properties' * proofs_found} |")
        worst = min(worst, rate)
        survivors += mutate.survivors_of(name, plan, verdicts)
    return rows, survivors, worst


def by_tests(given, by_bench, seen, children):
    """The exit code of all benches that are asked for, and their report."""
    rows, survivors, worst, code = [], [], 100.0, 0
    for bench, names, all_blocks in by_bench:
        try:
            plan = Plan(bench, all_blocks, seen, given.kept.resolve())
            with alone(plan.folder, f"./kit mutate --bench {bench.top}"):
                plan.plant(children)
                wanted = {number for name in names for number in plan.planted["rows"][name]}
                found = judge(plan, wanted, children, given.jobs)
        except (Undecided, BadInput, OSError) as error:
            prove.say(f"mutate: {bench.top}: {error}")
            rows += [f"| `{name}` | | | | | | | undecided | |" for name in names]
            code = 2
            continue
        of_bench = report(plan, names, found)
        rows += of_bench[0]
        survivors += of_bench[1]
        worst = min(worst, of_bench[2])
    return code or int(worst < mutate.GOAL), mutate.report((*mutate.COLUMNS, "judged by"), rows, survivors)


def with_properties():
    """The blocks that properties judge, and their jobs, but for what is there only to be proven, of which no hardware
    is made."""
    listed = {one.name for one in mutate.synth.listed()}
    jobs = benches.judged_by_properties(prove.read_jobs())
    return {name for job in jobs if job.block in listed for name in (job.block, job.title)}


def chosen(given, judged, all_benches, with_job):
    """What is judged by properties, and of each bench what is judged by tests."""
    by_name = {bench.top: bench for bench in all_benches}
    unknown = sorted(set(given.bench) - set(by_name))
    if unknown:
        raise BadInput(f"no bench {guesses(unknown, by_name)}; there are: {', '.join(by_name)}")
    owner = {name: top for top, names in judged.items() for name in names}
    unknown = sorted(set(given.blocks) - set(owner) - with_job)
    if unknown:
        there = next((name for name in unknown if name in prove.sources()), None)
        if there:
            raise BadInput(f"{there}: there is such a block, but neither a job nor a bench judges its mutants")
        names = guesses(unknown, set(owner) | with_job)
        raise BadInput(f"no block {names} is judged; hw/mutate/table.md has those that were")
    everything = not given.blocks and not given.bench
    wanted = {}
    for top, names in judged.items():
        asked = [
            name for name in names
            if everything or top in given.bench or (name in given.blocks and name not in with_job)
        ]  # fmt: skip
        if asked:
            wanted[top] = asked
    return [name for name in given.blocks if name in with_job], [
        (by_name[top], names, judged[top]) for top, names in wanted.items()
    ]


def arguments():
    parser = argparse.ArgumentParser(prog="./kit mutate", description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("--kept", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--jobs", type=number_of_jobs, default=os.cpu_count() or 1)
    parser.add_argument("--bench", action="append", default=[], metavar="TOP", help="all blocks of a bench")
    parser.add_argument("--write", action="store_true", help="renews the rows of what was judged")
    parser.add_argument("blocks", nargs="*", metavar="BLOCK", help="blocks; without any, all of them")
    return parsed(parser)


def main():
    given = arguments()
    all_benches, seen = benches.read_benches()
    with_job = with_properties()
    properties, tests = chosen(given, benches.blocks_by_bench(all_benches), all_benches, with_job)
    if given.write:
        # A table that cannot be read is told before hours of work.
        record_mutants.check_tables()
    children = Children(mutate.engines.environment())
    codes = []

    def tell(code, report):
        codes.append(code)
        print(report, end="", flush=True)
        # The rows are written whatever the rate is, which the exit code tells.
        if given.write:
            record_mutants.record(report)

    if properties or not (given.blocks or given.bench):
        tell(*mutate.by_properties(given, properties or sorted(with_job), children))
    if tests:
        tell(*by_tests(given, tests, seen, children))
    return max(codes)


if __name__ == "__main__":
    run_command("mutate", main, "the next run goes on here")
