# SPDX-License-Identifier: MIT OR Apache-2.0
"""Tables in Markdown, whose first column names the row."""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "regs"))
from inputs import BadInput, called, store, text_of  # noqa: E402

BETWEEN = re.compile(r"(?<!\\)\|")
RULE = re.compile(r"\|(?:\s*:?-+:?\s*\|)+\s*")
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
# Of a merge that is not done.
MARK = re.compile(r"(?:<{7}|={7}|>{7})(?:\s|$)")
# Behind what is older than what it was measured of.
STALE = " †"


def marked(value, kept, current):
    """A cell, marked where its digest is no longer the current one."""
    return f"{value}{'' if kept == current else STALE}" if value else ""


def read(path, columns=(), numbers=()):
    """Of each row its other cells by column; nothing where there is no file yet. Names stand without backticks. The
    table should have these columns, and numbers in some of them."""
    return rows_of(text_of(path), called(path), columns, numbers) if path.exists() else {}


def rows_of(text, place, columns=(), numbers=()):
    """The same of the tables of a text."""
    result, header, is_ruled = {}, None, False
    for number, line in enumerate(text.splitlines(), start=1):
        where = f"{place}:{number}"
        if MARK.match(line):
            raise BadInput(f"{where}: found the mark of a merge, {line[:7]}, expected a table")
        if not line.startswith("|"):
            header, is_ruled = None, False
            continue
        name, *cells = [one.strip() for one in BETWEEN.split(line.strip()[1:].removesuffix("|"))]
        if header is None:
            header = cells
            missing = [one for one in columns if one not in header]
            if missing:
                raise BadInput(f"{where}: the columns are {', '.join(header)}; expected {', '.join(missing)} among them")
        elif not is_ruled:
            is_ruled = bool(RULE.fullmatch(line))
            if not is_ruled:
                raise BadInput(f"{where}: found {line}, expected |---| below the names of the columns")
        else:
            name = name.strip("`")
            if name in result:
                raise BadInput(f"{where}: a second row of {name}")
            result[name] = row_of(where, name, cells, header, numbers)
    return result


def row_of(where, name, cells, header, numbers):
    if len(cells) != len(header):
        raise BadInput(
            f"{where}: the row of {name} has {len(cells) + 1} cells, expected {len(header) + 1}: its name,"
            f" {', '.join(header)}. A | within a cell is written \\|"
        )
    row = dict(zip(header, cells, strict=True))
    for column in numbers:
        if not NUMBER.fullmatch(row[column]):
            raise BadInput(f"{where}: {column} of {name} is {row[column]!r}, expected a number")
    return row


def text(columns, rows):
    """The table of rows, of each its cells by column, whose first is the name."""
    first, *others = columns
    lines = [f"| {first} | {' | '.join(others)} |", "|---" * len(columns) + "|"]
    lines += [f"| {name} | {' | '.join(row[column] for column in others)} |" for name, row in rows.items()]
    return "".join(f"{line}\n" for line in lines)


def renew(path, title, columns, order, rows):
    """Writes rows into the table of a file; those of `order` that it has besides stay as they are."""
    known = {**read(path, columns[1:]), **rows}
    store(path, title + text(columns, ordered(path, known, order)))


def ordered(path, rows, order):
    """Those of `order`, in that order. Others leave the table, and are named."""
    for name in rows.keys() - set(order):
        print(f"{called(path)}: the row of {name} goes, since nothing is called so", file=sys.stderr, flush=True)
    return {name: rows[name] for name in order if name in rows}
