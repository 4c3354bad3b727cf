# SPDX-License-Identifier: MIT OR Apache-2.0
"""One table of all blocks: what is proven of each, which mutants were found, and what it takes.

It is made of the tables of ./kit prove, ./kit mutate and ./kit synth. A figure whose block has changed since it was
measured is marked.
"""

import argparse
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / one) for one in ("formal", "area", "regs")]
import markdown  # noqa: E402
import prove  # noqa: E402
import record_mutants  # noqa: E402
import synth  # noqa: E402
import table  # noqa: E402
from inputs import store, text_of  # noqa: E402
from markdown import marked  # noqa: E402

TABLE = HERE / "table.md"
PROVEN = prove.TABLE
COLUMNS = ("block", "properties", "proven", "mutants found", "LUT", "FF", "BRAM", "URAM", "DSP", "levels")
TITLE = """# All blocks

Written by `./kit blocks --write`; do not edit. A row is a block with its parameters, as the tops have it. What is proven,
and for how long, is told in [Proofs](../../docs/formal.md), the mutants in [Mutants](../../docs/mutants.md), cells and
levels in [Area and depth](../../docs/area.md). Properties and mutants are those of the parameters of a job or a bench,
which are often smaller than those of the row. An empty cell says that nothing is proven, planted or counted. † marks what
is older than the block, its properties or the program that counts.

"""


def proofs(block, jobs, proven):
    """Properties and what is proven of a block, over all of its jobs."""
    done = [(job, proven[job.title]) for job in jobs if job.block == block and job.title in proven]
    # A play reaches the covers of what is proven without a bound; its properties are the same.
    unbounded = [one for one in done if one[1]["proven"].startswith("unbounded")]
    done = unbounded or done
    stale = any(row["digest"] != prove.digest_now(job) for job, row in done)
    how = "; ".join(dict.fromkeys(row["proven"].split(",")[0] for _, row in done))
    return (
        marked(str(sum(int(row["properties"]) for _, row in done) or ""), stale, False),
        marked(how, stale, False),
    )


def found_of(block, jobs, mutants):
    """Found mutants of a block, of those that are not equivalent: by the properties of all of its jobs, or by tests."""
    by_title = {job.title: job for job in jobs}
    names = dict.fromkeys([*(job.title for job in jobs if job.block == block), block])
    done = [(mutants[name], record_mutants.digest(name, mutants[name], by_title)) for name in names if name in mutants]
    if not done:
        return ""
    stale = any(row["digest"] != digest for row, digest in done)
    found = sum(int(row["killed"]) + int(row["unproven"]) for row, _ in done)
    return marked(f"{found} of {found + sum(int(row['survived']) for row, _ in done)}", stale, False)


def rows():
    jobs = prove.read_jobs()
    proven = markdown.read(PROVEN, prove.COLUMNS[1:], ("properties",))
    mutants, counts = record_mutants.read_table(), table.read(synth.TABLE)
    result, seen = {}, set()
    for block in synth.listed():
        first = block.name not in seen
        seen.add(block.name)
        properties, how = proofs(block.name, jobs, proven) if first else ("", "")
        row = {
            "properties": properties,
            "proven": how,
            "mutants found": found_of(block.name, jobs, mutants) if first else "",
        }
        count = counts.get(str(block))
        for column in COLUMNS[4:]:
            value = table.number(count[column]) if count else ""
            row[column] = marked(value, count and count["digest"], synth.digest(block))
        result[str(block)] = row
    return result


def arguments():
    parser = argparse.ArgumentParser(prog="./kit blocks", description=__doc__.splitlines()[0], allow_abbrev=False)
    one = parser.add_mutually_exclusive_group()
    one.add_argument("--write", action="store_true", help="renews hw/blocks/table.md")
    one.add_argument(
        "--check", action="store_true",
        help="fails unless that file is as it would be written, and each mutant that survives has a reason",
    )  # fmt: skip
    return parser.parse_args()


def main():
    given = arguments()
    text = markdown.text(COLUMNS, rows())
    if given.write:
        store(TABLE, TITLE + text)
    elif given.check:
        wrong = [f"hw/mutate/{one}" for one in record_mutants.complaints_about_survivors()]
        if text_of(TABLE) != TITLE + text:
            wrong.append("hw/blocks/table.md is not what the other tables and the blocks give: ./kit blocks --write")
        if wrong:
            sys.exit("\n".join(f"blocks: {one}" for one in wrong))
    else:
        print(text, end="")


if __name__ == "__main__":
    prove.run_command("blocks", main, "nothing was written")
