# SPDX-License-Identifier: MIT OR Apache-2.0
"""Renews the rows of hw/mutate/table.md from what ./kit mutate prints.

A row gets a digest, so that ./kit blocks marks it when what it follows from has changed: of the block and its
properties, or, where tests judge, of its RTL. The mutants that survive are listed in hw/mutate/survivors.md; what a person
has written there as the reason stays with its mutant.
"""

import hashlib
import re
import sys
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / one) for one in ("formal", "area", "regs")]
import markdown  # noqa: E402
import prove  # noqa: E402
import synth  # noqa: E402
from inputs import BadInput, called, store  # noqa: E402

TABLE = HERE.parent / "mutate/table.md"
TITLE = """# Mutants by block

Written by `./kit mutate --write`; do not edit. [Mutants](../../docs/mutants.md) says what the columns mean.

"""
SURVIVORS = HERE.parent / "mutate/survivors.md"
SURVIVORS_TITLE = """# Mutants that survive

Written by `./kit mutate --write`, but for the reasons: those are for a person to write, and stay with their mutant. A test
fails while a mutant has no reason, or [the table](table.md) counts others.

"""
REASON = "why nothing finds it"
JUDGED = "judged by"
PROPERTIES = "properties"
COUNTS = ("mutants", "killed", "unproven", "survived", "equivalent", "unasked")


def digest_of_rtl(block):
    return synth.hash_of_rtl(synth.Block(block)).hexdigest()[:12]


def digest(name, row, jobs):
    if row[JUDGED] == PROPERTIES:
        if name not in jobs:
            return None
        return prove.digest_now(jobs[name])
    if not row[JUDGED].endswith(f", and {PROPERTIES}"):
        return digest_of_rtl(name)
    # What tests do not find, the proofs of the blocks inside may.
    inside = {one.name for one in prove.verilog.closure(prove.sources(), [name])}
    asked = [prove.digest_now(job) for _, job in sorted(jobs.items()) if job.block in inside]
    return hashlib.sha256(" ".join([digest_of_rtl(name), *asked]).encode()).hexdigest()[:12]


def order(jobs):
    """The names of rows, as they stand in the table: jobs, then blocks that tests judge."""
    return list(dict.fromkeys([*jobs, *(block.name for block in synth.listed())]))


def read_table():
    rows = markdown.read(TABLE, (*COUNTS, "digest"), COUNTS)
    return {name: {JUDGED: PROPERTIES, **row} for name, row in rows.items()}


def read_survivors():
    """The reasons by block and place."""
    rows = markdown.read(SURVIVORS, (REASON,))
    wrong = next((name for name in rows if ": " not in name), None)
    if wrong:
        raise BadInput(f"{called(SURVIVORS)}: a row is of {wrong!r}, expected block: place")
    return {tuple(name.split(": ", 1)): row[REASON] for name, row in rows.items()}


def renew_survivors(report, names, order_of_blocks):
    """Those of the blocks judged in this run take the place of their earlier ones."""
    known = read_survivors()
    printed, seen = [], Counter()
    for block, place in re.findall(r"^- survived in (\S+): (.+)$", report, re.M):
        # Of equal instances each has its own.
        seen[block, place] += 1
        number = seen[block, place]
        printed.append((block, place if number == 1 else f"{place} ({number})"))
    found = {one: reason for one, reason in known.items() if one[0] not in names}
    found.update({one: known.get(one, "") for one in printed})
    places = {name: number for number, name in enumerate(order_of_blocks)}
    listed = sorted(found, key=lambda one: places.get(one[0], len(places)))
    rows = {f"{block}: {place}": {REASON: found[block, place]} for block, place in listed}
    store(SURVIVORS, SURVIVORS_TITLE + markdown.text(("block and place", REASON), rows))


def complaints_about_survivors():
    """What the list says that the table does not, and what has no reason."""
    listed, table = read_survivors(), read_table()
    for name in dict.fromkeys(block for block, _ in listed if block not in table):
        yield f"{name}: survivors.md lists mutants of it, and table.md has no row of it"
    for name, row in table.items():
        number = sum(block == name for block, _ in listed)
        if number != int(row["survived"]):
            yield f"{name}: {row['survived']} mutants survive by table.md, and survivors.md lists {number}"
    yield from (f"{block}: {place}: survivors.md gives no reason" for (block, place), why in listed.items() if not why)


def rows_of(report, jobs):
    """What the tables of a report say of blocks that were judged."""
    printed = markdown.rows_of(report, "the report")
    judged = {name: {JUDGED: PROPERTIES, **row} for name, row in printed.items() if row["killed"]}
    return {name: {**row, "digest": digest(name, row, jobs)} for name, row in judged.items()}


def check_tables():
    """That both can be read."""
    return read_table(), read_survivors()


def record(report):
    jobs = {job.title: job for job in prove.read_jobs()}
    rows = rows_of(report, jobs)
    if not rows:
        # What went wrong is told by the exit code of ./kit mutate.
        print("mutate: no block was judged, so the table stays as it is", file=sys.stderr)
        return
    known, _ = check_tables()
    kept = [one for one in next(iter(rows.values())) if one not in (JUDGED, "digest")]
    markdown.renew(TABLE, TITLE, ("block", *kept, JUDGED, "digest"), order(jobs), {**known, **rows})
    renew_survivors(report, set(rows), order(jobs))
