"""Reads the SystemRDL of this folder and writes all that is made from it; see `generate`."""

import hashlib
import sys
from pathlib import Path

import bluespec
import model
import page
import rust
import systemverilog

SOURCES = Path(__file__).resolve().parent
NOTICE = "Generated from hw/regs by hw/regs/generate; do not edit."
# How each kind of file marks a line as a comment.
COMMENTS = {".sv": ("// ", ""), ".bsv": ("// ", ""), ".rs": ("// ", ""), ".html": ("<!-- ", " -->")}


def digest(names):
    """SHA-256 over name, line feed and bytes of each file."""
    result = hashlib.sha256()
    for name in names:
        result.update(name.encode() + b"\n" + (SOURCES / name).read_bytes())
    return result.hexdigest()


def header(suffix, sources):
    """The two lines at the top of a generated file."""
    start, end = COMMENTS[suffix]
    first = f"{start}{NOTICE}{end}\n"
    return first + f"{start}sources-sha256: {digest(sources)} {' '.join(sources)}{end}\n"


def main():
    root = Path(sys.argv[1])
    device = model.read(SOURCES)
    for template in (systemverilog, bluespec, rust, page):
        for name, (text, descriptions) in template.files(device).items():
            own = [f"{template.__name__}.py", "model.py", "requirements.txt"]
            sources = sorted([*own, "properties.rdl", *(f"{part}.rdl" for part in descriptions)])
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(header(path.suffix, sources) + text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
