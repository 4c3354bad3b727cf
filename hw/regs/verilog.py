"""What the Verilog of this repository says of itself: files, what they use, ports."""

import re
from dataclasses import dataclass
from pathlib import Path

from inputs import BadInput, text_of

HARDWARE = Path(__file__).resolve().parents[1]
VERSION = "0.1.0"
# The compiler that writes the only Verilog that is not SystemVerilog has no sentence for it.
LOCK_UNIT = "The tuple-locking unit of docs/lock-unit.md."

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
DEFINITION = re.compile(r"^\s*(?:module|package)\s+(\w+)", re.MULTILINE)
PORT = re.compile(
    r"^\s*(input|output)\s+(?:logic\s+|wire\s+)?(?:\[\s*(\d+)\s*:\s*0\s*\]\s*)?(\w+)\s*[,;]?\s*$",
    re.MULTILINE,
)
PARAMETER = re.compile(r"^\s*parameter\s+int\s+unsigned\s+(\w+)\s*=\s*(\d+)", re.MULTILINE)

SETTABLE = re.compile(r"(?<!\w)parameter\s+(?:[\w\s:\[\]]+\s)?(\w+)\s*=")


@dataclass(frozen=True)
class Source:
    """A file: a module or a package, named as the file is."""

    name: str
    text: str  # the first sentence of its comment
    path: str  # below `hw`
    defines: tuple
    words: frozenset  # all identifiers


@dataclass(frozen=True)
class Port:
    name: str
    direction: str  # "in" or "out"
    width: int


def plain(path):
    """The text of a file without its comments."""
    return COMMENT.sub(" ", text_of(path))


def first_sentence(path):
    """Of the comment at the top."""
    lines = []
    for line in text_of(path).splitlines():
        if line.startswith("// SPDX-"):
            continue
        text = line.removeprefix("//").strip()
        if not line.startswith("//") or not text:
            break
        lines.append(text)
    return re.split(r"(?<=\.)\s", " ".join(lines))[0].replace(":", ",")


def source(path):
    text = plain(path)
    return Source(
        name=path.stem,
        text=LOCK_UNIT if path.suffix == ".v" else first_sentence(path),
        path=path.relative_to(HARDWARE).as_posix(),
        defines=tuple(DEFINITION.findall(text)),
        words=frozenset(re.findall(r"\w+", text)),
    )


def sources():
    """All that the tops are made of, by name: what is written by hand, registers, the lock unit."""
    paths = [*(HARDWARE / "rtl").glob("**/*.sv"), HARDWARE / "bsv/generated/tuple_lock_unit.v"]
    return {one.name: one for one in map(source, sorted(paths, key=lambda path: path.stem))}


def uses(known, one):
    """Names of the files that a file uses, sorted."""
    owners = {defined: other.name for other in known.values() for defined in other.defines}
    names = {owner for defined, owner in owners.items() if defined in one.words}
    return sorted(names - {one.name})


def closure(known, names):
    """These files and all that they use, each after what it uses itself."""
    order = []

    def visit(name):
        if name not in order:
            for other in uses(known, known[name]):
                visit(other)
            order.append(name)

    for name in names:
        visit(name)
    return [known[name] for name in order]


def paths(known, top):
    """The paths of a module and of all that it uses, in the order in which they are read."""
    return [HARDWARE / one.path for one in closure(known, [top])]


def ports(path):
    """The ports of the only module of a file, in the order of their declarations."""
    found = PORT.findall(plain(HARDWARE / path))
    return [
        Port(name, "in" if direction == "input" else "out", int(high or 0) + 1)
        for direction, high, name in found
    ]


def parameters(path):
    """Name and default of each parameter of the only module of a file."""
    return PARAMETER.findall(plain(HARDWARE / path))


def check_parameters(path, names, place):
    """That a module has the parameters that are to be set: Yosys is silent about others."""
    has = SETTABLE.findall(plain(path))
    for name in names:
        if name not in has:
            raise BadInput(f"{place}: no parameter {name}; {path.stem} has {', '.join(has) or 'none'}")
