"""Reads the SystemRDL of this folder and writes all that is made from it; see `generate`."""

import hashlib
import sys
from pathlib import Path

import model
import rust
import systemverilog

SOURCES = Path(__file__).resolve().parent
NOTICE = "Generated from hw/regs by hw/regs/generate; do not edit."


def digest(folder):
    """SHA-256 over name, line feed and bytes of each file, in the byte order of the names."""
    result = hashlib.sha256()
    for path in sorted(folder.iterdir(), key=lambda path: path.name.encode()):
        if path.is_file():
            result.update(path.name.encode() + b"\n" + path.read_bytes())
    return result.hexdigest()


def header(comment, end=""):
    """The two lines at the top of a generated file whose comments start with `comment`."""
    return f"{comment} {NOTICE}{end}\n{comment} sources-sha256: {digest(SOURCES)}{end}\n"


def main():
    root = Path(sys.argv[1])
    device = model.read(SOURCES)
    files = systemverilog.files(device, header("//"))
    files |= rust.files(device, header("//"))
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
