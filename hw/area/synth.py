# SPDX-License-Identifier: MIT OR Apache-2.0
"""Counts all blocks of blocks.txt, several at a time, and keeps or compares the table of their counts.

What was counted is kept by the digest of all that it follows from, so that only what has changed is counted again.
"""

import argparse
import functools
import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

import area
import table

HERE = Path(__file__).resolve().parent
WORKER = HERE / "area.py"
TABLE = HERE / "table.md"
# Assertions are in no netlist.
CHECKS = re.compile(r"^\s*`ifndef SYNTHESIS\b.*?^\s*`endif", re.DOTALL | re.MULTILINE)


class BadInput(Exception):
    """Something that the caller can mend."""


@dataclass(frozen=True)
class Block:
    name: str
    parameters: tuple = ()
    is_top: bool = False

    def __str__(self):
        return " ".join([self.name, *self.parameters])


def listed(path=HERE / "blocks.txt"):
    """The blocks of the file, in its order."""
    result = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        if words[0] not in ("top", "block") or len(words) < 2:
            raise BadInput(f"{path.name}:{number}: expected top or block, a name and parameters, found: {line}")
        result.append(Block(words[1], tuple(words[2:]), words[0] == "top"))
    return result


def chosen(arguments, known, modules):
    """The blocks of the command line: each with parameters of its own, or as it is listed."""
    wishes = []
    for argument in arguments:
        if "=" not in argument:
            if argument not in modules:
                raise BadInput(f"{argument}: no such block; hw/area/blocks.txt has all of them")
            wishes.append((argument, []))
        elif wishes and re.fullmatch(r"\w+=\w+", argument):
            wishes[-1][1].append(argument)
        else:
            raise BadInput(f"{argument}: expected a block, then its parameters as NAME=VALUE")
    result = []
    for name, parameters in wishes:
        rows = [one for one in known if one.name == name and not parameters]
        result += rows or [Block(name, tuple(parameters))]
    return result


def modules():
    """The names of all blocks: what the sources have besides packages."""
    return {name for name in known_sources() if not name.endswith("_pkg")}


@functools.cache
def text_of(path):
    """What is synthesised of a file, whatever its comments and spaces."""
    return " ".join(CHECKS.sub("", area.verilog.plain(path)).split())


@functools.cache
def known_sources():
    return area.verilog.sources()


@functools.cache
def digest(block):
    """Of what the counts follow from: the RTL without what is not synthesised, parameters, tool and this program."""
    hashed = hashlib.sha256(str(block).encode())
    for one in area.verilog.closure(known_sources(), [block.name]):
        hashed.update(b"\0" + text_of(area.verilog.HARDWARE / one.path).encode())
    for path in (WORKER, HERE / "requirements.txt"):
        hashed.update(b"\0" + path.read_bytes())
    return hashed.hexdigest()[:12]


class Workers:
    """Processes that count, each with all that it starts in a group of its own, so that they can be ended."""

    def __init__(self):
        self.lock = threading.Lock()
        self.running = set()
        self.ended = False

    def count(self, block, folder):
        environment = {**os.environ, "TMPDIR": folder}
        with self.lock:
            if self.ended:
                raise KeyboardInterrupt
            process = subprocess.Popen(
                [sys.executable, "-B", str(WORKER), block.name, *block.parameters],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True,
            )  # fmt: skip
            self.running.add(process)
        output, errors = process.communicate()
        with self.lock:
            self.running.discard(process)
        if process.returncode != 0:
            raise RuntimeError(errors)
        return json.loads(output)

    def end(self):
        with self.lock:
            self.ended = True
            for process in self.running:
                # The leader of the group has not been waited for, so its number is still its own.
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)


def counts_of(blocks, cache, jobs):
    """The row of each block; prints how far it is, and exits if one cannot be counted."""
    rows, missing = {}, []
    for block in blocks:
        kept = cache / f"{digest(block)}.json"
        if kept.exists():
            rows[str(block)] = json.loads(kept.read_text(encoding="utf-8"))
        else:
            missing.append((block, kept))
    cache.mkdir(parents=True, exist_ok=True)
    workers, failed = Workers(), []

    def interrupted(*_):
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupted)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, ThreadPoolExecutor(jobs) as pool:
        work = {pool.submit(workers.count, block, folder): (block, kept) for block, kept in missing}
        try:
            for number, one in enumerate(as_completed(work), start=1):
                block, kept = work[one]
                if one.exception():
                    failed.append(f"{block}: {one.exception()}")
                else:
                    rows[str(block)] = {**one.result(), "digest": kept.stem}
                    store(kept, rows[str(block)])
                print(f"{number} of {len(missing)}: {block}", file=sys.stderr, flush=True)
        except KeyboardInterrupt:
            workers.end()
            pool.shutdown(cancel_futures=True)
            raise
    if failed:
        sys.exit("\n".join(["synth: not counted:", *failed]))
    return {str(block): rows[str(block)] for block in blocks}


def store(path, row):
    """Whole or not at all."""
    new = path.with_suffix(".new")
    new.write_text(json.dumps(row), encoding="utf-8")
    new.replace(path)


def arguments():
    parser = argparse.ArgumentParser(prog="./kit synth", add_help=False)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--changed", action="store_true")
    parser.add_argument("blocks", nargs="*")
    return parser.parse_intermixed_args()


def main():
    given = arguments()
    known = listed()
    blocks = chosen(given.blocks, known, modules()) if given.blocks else known
    kept = table.read(TABLE)
    if given.write and any(block not in known for block in blocks):
        raise BadInput("--write: only blocks and parameters of hw/area/blocks.txt are in the table")
    if given.changed:
        blocks = [one for one in blocks if str(one) in kept and kept[str(one)]["digest"] != digest(one)]
    rows = counts_of(blocks, given.cache, given.jobs)
    if given.write:
        order = [str(one) for one in known]
        table.write(TABLE, {name: {**kept, **rows}[name] for name in order if name in kept or name in rows})
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
    try:
        main()
    except BadInput as error:
        print(f"synth: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("synth: ended; what was counted is kept", file=sys.stderr)
        os._exit(130)
