# SPDX-License-Identifier: MIT OR Apache-2.0
"""The table of counts: its form as Markdown, and what has grown."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "blocks"))
import markdown  # noqa: E402

NUMBERS = ("LUT", "as memory", "FF", "latch", "BRAM", "URAM", "DSP", "levels", "with carries")
TEXTS = ("deepest path", "digest")
TITLE = """# Cells and levels of all blocks

Written by `./kit synth --write`; do not edit. [Area and depth](../../docs/area.md) says what the columns mean.

"""


def number(value):
    return f"{value:,g}" if value < 1e5 else f"{value:,}"


def text(rows):
    return markdown.text(
        ("block", *NUMBERS, *TEXTS),
        {
            name: {column: number(row[column]) if column in NUMBERS else row[column] for column in NUMBERS + TEXTS}
            for name, row in rows.items()
        },
    )


def write(path, rows):
    markdown.store(path, TITLE + text(rows))


def read(path):
    """Of each block its row; nothing where there is no table yet."""
    return {
        name: {column: float(row[column].replace(",", "")) if column in NUMBERS else row[column] for column in row}
        for name, row in markdown.read(path, NUMBERS + TEXTS, NUMBERS).items()
    }


def compare(kept, found, gone=()):
    """What is worse than in the table, by more than 5 % of any count, and what only differs."""
    worse = [f"{name}: in the table, but not among the blocks" for name in gone]
    differs = []
    for name, row in found.items():
        if name not in kept:
            worse.append(f"{name}: not in the table")
            continue
        for column in NUMBERS:
            old, new = kept[name][column], row[column]
            line = f"{name}: {column} {old:g} → {new:g}"
            if new * 100 > old * 105:
                worse.append(f"{line}, more than 5 % more")
            elif new != old:
                differs.append(line)
    return worse, differs
