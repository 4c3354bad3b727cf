# SPDX-License-Identifier: MIT OR Apache-2.0
"""Tables in Markdown, whose first column names the row."""


def read(path):
    """Of each row its other cells by column; nothing where there is no file yet. Names stand without backticks."""
    result, columns = {}, None
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        if not line.startswith("|"):
            columns = None
            continue
        name, *cells = [one.strip() for one in line.strip("|").split("|")]
        if columns is None:
            columns = cells
        elif set(name) != {"-"}:
            result[name.strip("`")] = dict(zip(columns, cells, strict=True))
    return result


def text(columns, rows):
    """The table of rows, of each its cells by column, whose first is the name."""
    first, *others = columns
    lines = [f"| {first} | {' | '.join(others)} |", "|---" * len(columns) + "|"]
    lines += [f"| {name} | {' | '.join(row[column] for column in others)} |" for name, row in rows.items()]
    return "".join(f"{line}\n" for line in lines)


def renew(path, title, columns, order, rows):
    """Writes rows into the table of a file; those of `order` that it has besides stay as they are."""
    known = {**read(path), **rows}
    path.write_text(
        title + text(columns, {name: known[name] for name in order if name in known}), encoding="utf-8"
    )
