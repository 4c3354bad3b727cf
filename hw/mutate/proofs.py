# SPDX-License-Identifier: MIT OR Apache-2.0
"""Asks the jobs of hw/formal whether they find mutants of a bench that its tests do not: a fault in the same place of
the same block (plant_proof.py)."""

import functools
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

import mutate
import prove
import verilog
from children import Broken, Undecided

HERE = Path(__file__).resolve().parent
FORMAL = HERE.parent / "formal"
PROGRAMS = [
    *(HERE / f"{one}.py" for one in ("proofs", "plant_proof", "plant_bench", "miter_bench", "plant", "mutate", "aiger")),
    *(FORMAL / one for one in ("model.py", "engines.py", "cut.py", "requirements.txt")), *sorted((FORMAL / "rules").iterdir()),
]  # fmt: skip


class Proof:
    """The model of a job with some mutants of a bench. With `compares` it says, too, whether they change anything that
    the block promises, if it is the same block there."""

    def __init__(self, job, bench, numbers, compares):
        self.job = job
        self.is_inductive = job.engine == "induction"
        self.miters = []
        asked = hashlib.sha256(f"{prove.digest_now(job)} {numbers}".encode()).hexdigest()[:12]
        self.folder = bench.folder / f"proof_{job.title}_{asked}"
        wish = {**mutate.engines.wish_of(job, prove.files_of(job)), "seen": False}
        self.wish = {
            **(mutate.Plan(job, len(numbers), bench.folder).wish if compares else wish),
            "bench": str(bench.folder), "numbers": numbers, "sources": bench.wish["files"], "block": job.block,
            "parents": bench.parents,
        }  # fmt: skip

    def build(self, children):
        """The numbers of the mutants that the model has a place for; the first is that which it knows as 1."""
        mutate.plant("plant_proof.py", self.wish, self.folder, children)
        return json.loads((self.folder / "numbers.json").read_text(encoding="utf-8"))

    def check(self, children):
        """That it finds no fault where none is, and which miters may have a say."""
        mutate.check(self, children)
        compares = json.loads((self.folder / "compares.json").read_text(encoding="utf-8"))
        self.miters = mutate.sound_miters(self, children) if compares else []

    def mutants(self):
        return (self.folder / "mutants.txt").read_text(encoding="utf-8").splitlines()

    def finds(self, place, children):
        """The verdict on the mutant of a place in the model, or nothing."""
        found = mutate.found_by_properties(self, place, children)
        if found:
            return found
        for miter in self.miters:
            if mutate.tried(mutate.is_equivalent, self, place, children, miter, mutate.SECONDS[-1]):
                return mutate.MITERS[miter], miter
        return None


def blocks_around(bench, number):
    """The block in which a mutant is, and those around it up to the top, from the inside."""
    module = bench.module(number)
    while module:
        yield module.split("$")[0]
        module = bench.parents.get(module)


def jobs_of(bench, number):
    """The jobs of the block of a mutant, and of those around it, in which the block is what it is in hardware."""
    inner, *_ = blocks = list(blocks_around(bench, number))
    if inner not in prove.sources():
        return []
    path = verilog.HARDWARE / prove.sources()[inner].path
    jobs = [job for job in prove.read_jobs() if not job.progress]
    return [job for block in blocks for job in jobs if job.block == block and path in prove.files_of(job)]


def can_compare(job):
    """Whether miters can see all that stand-ins get. Of what functions get they see nothing."""
    return not any(one.partition(":")[0].endswith("_pkg") for one in job.stubs)


@dataclass(frozen=True)
class Question:
    """What one job is asked of a mutant. The first also compares; the digest is of all that its answer follows from, besides
    what is planted."""

    place: int
    job: object
    compares: bool

    @property
    def digest(self):
        return hashlib.sha256(f"{programs()} {prove.digest_now(self.job)} {self.compares}".encode()).hexdigest()[:12]


@functools.cache
def programs():
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in PROGRAMS)).hexdigest()


def questions(bench, number):
    jobs = enumerate(jobs_of(bench, number))
    return [Question(place, job, place == 0 and can_compare(job)) for place, job in jobs]


def ask(bench, children, open_questions, done, jobs):
    """Asks of each mutant what is open. `done` is given the number, the question, and the verdict or nothing, as soon as
    there is an answer; where a job cannot be asked, there is none."""
    left = dict(open_questions)
    by_job = {}
    for number, asked in left.items():
        for one in asked:
            by_job.setdefault((one.place, one.job.title), []).append((number, one))
    for _, asked in sorted(by_job.items(), key=lambda one: one[0]):
        of_job = {number: one for number, one in asked if number in left}
        if not of_job:
            continue
        one = next(iter(of_job.values()))
        try:
            proof = Proof(one.job, bench, list(of_job), one.compares)
            planted = proof.build(children)
            if planted:
                proof.check(children)
        except Broken:
            # It says nothing of the proof, and what it would have found would survive for good.
            raise
        except Undecided as error:
            prove.say(f"{bench.bench.top}: not asked of the proof of {one.job.title}: {error}")
            continue
        for number in sorted(of_job.keys() - set(planted)):
            done(number, of_job[number], None)

        def judged(place, future, planted=planted, of_job=of_job):
            number, found = planted[place], future.result()
            if found:
                del left[number]
            done(number, of_job[number], found)

        tasks = [lambda place=place, proof=proof: proof.finds(place, children) for place in range(1, len(planted) + 1)]
        children.run_all(tasks, judged, jobs)
        prove.say(f"{bench.bench.top}: {len(left)} of {len(open_questions)} left by the proof of {one.job.title}")
