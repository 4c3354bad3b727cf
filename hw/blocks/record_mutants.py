# SPDX-License-Identifier: MIT OR Apache-2.0
"""Renews the rows of hw/mutate/table.md from what ./kit mutate prints, which comes on the standard input, and prints it.

A row gets a digest, so that ./kit blocks marks it when what it follows from has changed: of the block and its
properties, or, where tests judge, of its RTL.
"""

import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / one) for one in ("formal", "area", "regs")]
import markdown  # noqa: E402
import prove  # noqa: E402
import synth  # noqa: E402

TABLE = HERE.parent / "mutate/table.md"
TITLE = """# Mutants by block

Written by `./kit mutate --write`; do not edit. [Mutants](../../docs/mutants.md) says what the columns mean.

"""
JUDGED = "judged by"
PROPERTIES = "properties"


def digest_of_rtl(block):
    return synth.hash_of_rtl(synth.Block(block)).hexdigest()[:12]


def digest(name, row, jobs):
    if row[JUDGED] == PROPERTIES:
        return prove.digest(jobs[name], prove.files_of(jobs[name]))
    return digest_of_rtl(name)


def order(jobs):
    """The names of rows, as they stand in the table: jobs, then blocks that tests judge."""
    return list(dict.fromkeys([*jobs, *(block.name for block in synth.listed())]))


def main():
    report = sys.stdin.read()
    print(report, end="", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "printed.md"
        path.write_text(report, encoding="utf-8")
        printed = markdown.read(path)
    jobs = {job.title: job for job in prove.read_jobs()}
    rows = {}
    for name, printed_row in printed.items():
        if printed_row["killed"]:
            row = {JUDGED: PROPERTIES, **printed_row}
            rows[name] = {**row, "digest": digest(name, row, jobs)}
    if not rows:
        # What went wrong is told by the exit code of ./kit mutate.
        print("mutate: no block was judged, so the table stays as it is", file=sys.stderr)
        return
    known = {name: {JUDGED: PROPERTIES, **row} for name, row in markdown.read(TABLE).items()}
    kept = [one for one in next(iter(rows.values())) if one not in (JUDGED, "digest")]
    markdown.renew(TABLE, TITLE, ("block", *kept, JUDGED, "digest"), order(jobs), {**known, **rows})


if __name__ == "__main__":
    main()
