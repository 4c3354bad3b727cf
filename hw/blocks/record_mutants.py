# SPDX-License-Identifier: MIT OR Apache-2.0
"""Renews the rows of hw/mutate/table.md from what ./kit mutate prints, which comes on the standard input.

A row gets the digest of the block and its properties, so that ./kit blocks marks it when they have changed.
"""

import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / one) for one in ("formal", "regs")]
import markdown  # noqa: E402
import prove  # noqa: E402

TABLE = HERE.parent / "mutate/table.md"
TITLE = """# Mutants by block

Written by `./kit mutate --write`; do not edit. [Mutants](../../docs/mutants.md) says what the columns mean.

"""


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "printed.md"
        path.write_text(sys.stdin.read(), encoding="utf-8")
        printed = markdown.read(path)
    jobs = {job.title: job for job in prove.read_jobs()}
    rows = {
        name: {**row, "digest": prove.digest(jobs[name], prove.files_of(jobs[name]))}
        for name, row in printed.items()
        if row["killed"]
    }
    if not rows:
        sys.exit("mutate: no block was judged, so the table stays as it is")
    columns = ("block", *next(iter(rows.values())))
    markdown.renew(TABLE, TITLE, columns, list(jobs), rows)


if __name__ == "__main__":
    main()
