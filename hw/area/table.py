# SPDX-License-Identifier: MIT OR Apache-2.0
"""The table of counts: its form as Markdown, and what has grown."""

NUMBERS = ("LUT", "as memory", "FF", "latch", "BRAM", "URAM", "DSP", "levels", "with carries")
TEXTS = ("deepest path", "digest")
HEADER = f"| block | {' | '.join(NUMBERS + TEXTS)} |\n{'|---' * (len(NUMBERS + TEXTS) + 1)}|\n"
TITLE = """# Cells and levels of all blocks

Written by `./kit synth --write`; do not edit. [Area and depth](../../docs/area.md) says what the columns mean.

"""


def text(rows):
    lines = []
    for name, row in rows.items():
        numbers = [f"{row[column]:,g}" if row[column] < 1e5 else f"{row[column]:,}" for column in NUMBERS]
        lines.append(f"| {' | '.join([name, *numbers, *(row[column] for column in TEXTS)])} |\n")
    return HEADER + "".join(lines)


def write(path, rows):
    path.write_text(TITLE + text(rows), encoding="utf-8")


def read(path):
    """Of each block its row; nothing where there is no table yet."""
    result = {}
    if not path.exists():
        return result
    for line in path.read_text(encoding="utf-8").splitlines():
        cells = [one.strip() for one in line.strip("|").split("|")]
        if not line.startswith("|") or cells[0] in ("block", "---"):
            continue
        name, *values = cells
        numbers = [float(one.replace(",", "")) for one in values[: len(NUMBERS)]]
        result[name] = dict(zip(NUMBERS + TEXTS, [*numbers, *values[len(NUMBERS) :]], strict=True))
    return result


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
