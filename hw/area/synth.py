# SPDX-License-Identifier: MIT OR Apache-2.0
"""Counts all blocks of blocks.txt, several at a time, and keeps or compares the table of their counts.

What was counted is kept by the digest of all that it follows from, so that only what has changed is counted again.
"""

import argparse
import hashlib
import json
import os
import re
import sys
import tempfile
from dataclasses import dataclass
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path

import area
import table

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "formal"))
from children import Children, Undecided, number_of_jobs, parsed, reasons, run_command  # noqa: E402
import inputs  # noqa: E402
from inputs import BadInput, called, near, store  # noqa: E402

HERE = Path(__file__).resolve().parent
WORKER = HERE / "area.py"
TABLE = HERE / "table.md"
# Assertions are in no netlist.
CHECKS = re.compile(r"^\s*`ifndef SYNTHESIS\b.*?^\s*`endif", re.DOTALL | re.MULTILINE)


class NotMeasured(Undecided):
    """A tool failed; what it printed."""


@dataclass(frozen=True)
class Block:
    name: str
    parameters: tuple = ()
    is_top: bool = False

    def __str__(self):
        return " ".join([self.name, *self.parameters])


def listed(path=HERE / "blocks.txt"):
    """The blocks of the file, in its order."""
    result = {}
    for number, line in enumerate(inputs.text_of(path).splitlines(), start=1):
        place = f"{called(path)}:{number}"
        words = line.partition("#")[0].split()
        if not words:
            continue
        if words[0] not in ("top", "block") or len(words) < 2:
            raise BadInput(f"{place}: expected top or block, a name and parameters, found: {line}")
        block = Block(words[1], tuple(words[2:]), words[0] == "top")
        if block.name not in modules():
            raise BadInput(f"{place}: no block {block.name}{near(block.name, modules())}")
        check_values(block, place)
        if str(block) in result:
            raise BadInput(f"{place}: {block} stands there twice")
        result[str(block)] = block
    return list(result.values())


def check_values(block, place):
    """That parameters are numbers, each once."""
    for one in block.parameters:
        if not re.fullmatch(r"\w+=\d+", one):
            raise BadInput(f"{place}: {one}: expected a parameter as NAME=NUMBER")
    names = [one.partition("=")[0] for one in block.parameters]
    twice = next((one for one in names if names.count(one) > 1), None)
    if twice:
        raise BadInput(f"{place}: {twice} is given twice, expected one number")


def chosen(arguments, known, modules):
    """The blocks of the command line: each with parameters of its own, or as it is listed."""
    wishes = []
    for argument in arguments:
        if "=" not in argument:
            if argument not in modules:
                hint = near(argument, modules)
                raise BadInput(f"{argument}: no such block{hint}; hw/area/blocks.txt has all of them")
            wishes.append((argument, []))
        elif wishes and re.fullmatch(r"\w+=\d+", argument):
            wishes[-1][1].append(argument)
        else:
            raise BadInput(f"{argument}: expected a block, then its parameters as NAME=NUMBER")
    result = []
    for name, parameters in wishes:
        check_values(Block(name, tuple(parameters)), name)
        rows = [one for one in known if one.name == name and not parameters]
        result += rows or [Block(name, tuple(parameters))]
    return result


def check_parameters(blocks):
    for block in blocks:
        path = area.verilog.HARDWARE / known_sources()[block.name].path
        area.verilog.check_parameters(path, [one.partition("=")[0] for one in block.parameters], str(block))


def modules():
    """The names of all blocks: what the sources have besides packages."""
    return {name for name in known_sources() if not name.endswith("_pkg")}


@cache
def text_of(path):
    """What is synthesised of a file, whatever its comments and spaces."""
    return " ".join(CHECKS.sub("", area.verilog.plain(path)).split())


@cache
def known_sources():
    return area.verilog.sources()


def hash_of_rtl(block):
    """Of the RTL without what is not synthesised, and of its parameters."""
    hashed = hashlib.sha256(str(block).encode())
    for path in area.verilog.paths(known_sources(), block.name):
        hashed.update(b"\0" + text_of(path).encode())
    return hashed


@cache
def digest(block):
    """Of what the counts follow from: the RTL, the tool and the program that counts."""
    hashed = hash_of_rtl(block)
    for path in (WORKER, HERE / "requirements.txt"):
        hashed.update(b"\0" + path.read_bytes())
    return hashed.hexdigest()[:12]


def kept_row(path):
    """Of an earlier run; nothing where it is not whole."""
    try:
        row = json.loads(inputs.text_of(path)) if path.exists() else None
    except ValueError:
        return None
    columns = {*table.NUMBERS, *table.TEXTS}
    return row if isinstance(row, dict) and columns <= row.keys() else None


def check_yosys():
    if not find_spec("pyosys"):
        raise BadInput("the Python package pyosys is missing; remove .kit/area and run ./kit synth again")


def counts_of(blocks, kept_in, jobs):
    """The row of each block; prints how far it is. If one cannot be counted, the others are kept."""

    def path_of(block):
        return kept_in / f"{digest(block)}.json"

    def kept(block):
        return kept_row(path_of(block))

    def count(children, folder, block):
        check_yosys()
        command = [sys.executable, "-B", str(WORKER), block.name, *block.parameters]
        code, output = children.run(command, folder / "log", None, str(block))
        if code != 0:
            raise NotMeasured(reasons(output, folder))
        # Warnings may stand before it.
        row = {**json.loads(output.splitlines()[-1]), "digest": digest(block)}
        store(path_of(block), json.dumps(row))
        return row

    kept_in.mkdir(parents=True, exist_ok=True)
    return measured(blocks, kept, count, jobs)


def measured(blocks, kept, measure, jobs, ready=lambda block, row: None):
    """The row of each block: what is kept of it, or else what `measure` finds with these children in a folder of its
    own. `ready` is given each row as soon as it is known. What cannot be measured is told when all others are."""
    rows = {block: row for block, row in ((one, kept(one)) for one in blocks) if row is not None}
    for block, row in rows.items():
        ready(block, row)
    missing = [block for block in blocks if block not in rows]
    failed = []

    def done(number, future):
        block = missing[number]
        try:
            rows[block] = future.result()
            ready(block, rows[block])
        except Undecided as error:
            failed.append(f"{block}: {error}")
        print(f"{len(rows) - before + len(failed)} of {len(missing)}: {block}", file=sys.stderr, flush=True)

    before = len(rows)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        children = Children({**os.environ, "TMPDIR": folder})

        def task(number, block):
            place = Path(folder) / str(number)
            place.mkdir()
            return measure(children, place, block)

        children.run_all([partial(task, *one) for one in enumerate(missing)], done, jobs)
    if failed:
        raise BadInput("\n".join(["not measured:", *failed]))
    return {str(block): rows[block] for block in blocks}


def arguments():
    parser = argparse.ArgumentParser(prog="./kit synth", add_help=False, allow_abbrev=False)
    parser.add_argument("--cache", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--jobs", type=number_of_jobs, default=os.cpu_count() or 1, metavar="N")
    one = parser.add_mutually_exclusive_group()
    one.add_argument("--write", action="store_true")
    one.add_argument("--check", action="store_true")
    parser.add_argument("--changed", action="store_true")
    parser.add_argument("blocks", nargs="*", metavar="BLOCK [NAME=NUMBER ...]")
    given = parsed(parser)
    if given.changed and not given.check:
        parser.error("--changed chooses what is compared: with --check only")
    return given


def main():
    given = arguments()
    known = listed()
    blocks = chosen(given.blocks, known, modules()) if given.blocks else known
    check_parameters(blocks)
    kept = table.read(TABLE)
    if given.write and any(block not in known for block in blocks):
        raise BadInput("--write: only blocks and parameters of hw/area/blocks.txt are in the table")
    if given.changed:
        blocks = [one for one in blocks if str(one) in kept and kept[str(one)]["digest"] != digest(one)]
    rows = counts_of(blocks, given.cache, given.jobs)
    if given.write:
        table.write(TABLE, table.markdown.ordered(TABLE, {**kept, **rows}, [str(one) for one in known]))
    elif given.check:
        gone = [] if given.blocks else sorted(set(kept) - {str(one) for one in known})
        grown, smaller = table.compare(kept, rows, gone)
        print("".join(f"{one}\n" for one in [*grown, *smaller]), end="")
        if grown:
            sys.exit(
                "synth: mend the block, or say the reason in the commit that renews the table: ./kit synth --write"
            )
        print(f"No count has grown by more than 5 %: {len(rows)} counted, {len(kept)} in the table.")
    else:
        print(table.text(rows), end="")


if __name__ == "__main__":
    run_command("synth", main, "what was counted is kept")
