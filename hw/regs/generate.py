"""Reads the SystemRDL of this folder and writes all that is made from it; see `generate`."""

import hashlib
import sys
from pathlib import Path

import bluespec
import cores
import ipxact
import model
import page
import rust
import systemverilog

FOLDER = Path(__file__).resolve().parent
NOTICE = "Generated from hw/regs by hw/regs/generate; do not edit."
# How each kind of file marks a line as a comment.
COMMENTS = {
    ".bsv": ("// ", ""),
    ".core": ("# ", ""),
    ".f": ("// ", ""),
    ".html": ("<!-- ", " -->"),
    ".rs": ("// ", ""),
    ".sv": ("// ", ""),
    ".xml": ("<!-- ", " -->"),
}
# A file of these kinds is known by its first line.
FIRST_LINES = (".core", ".xml")


def digest(names):
    """SHA-256 over name, line feed and bytes of each file."""
    result = hashlib.sha256()
    for name in names:
        result.update(name.encode() + b"\n" + (FOLDER / name).read_bytes())
    return result.hexdigest()


def with_header(suffix, sources, text):
    """The text with the three lines of a generated file at its top.

    The body, of which the last line has the digest, is the text without these lines.
    """
    start, end = COMMENTS[suffix]
    named = " ".join([digest(sources), *sources])
    body = hashlib.sha256(text.encode()).hexdigest()
    lines = (NOTICE, f"sources-sha256: {named}", f"body-sha256: {body}")
    header = "".join(f"{start}{line}{end}\n" for line in lines)
    if suffix in FIRST_LINES:
        first, rest = text.split("\n", 1)
        return f"{first}\n{header}{rest}"
    return header + text


def main():
    root = Path(sys.argv[1])
    device = model.read(FOLDER)
    for template in (systemverilog, bluespec, rust, page, cores, ipxact):
        for name, (text, descriptions) in template.files(device).items():
            own = [f"{template.__name__}.py", *template.SOURCES]
            sources = sorted([*own, *(f"{part}.rdl" for part in descriptions)])
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            text = with_header(path.suffix, sources, text)
            path.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
