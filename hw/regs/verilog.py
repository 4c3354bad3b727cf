"""What the Verilog of this repository says of itself: units of files, what they use, ports."""

import re
from dataclasses import dataclass
from pathlib import Path

HARDWARE = Path(__file__).resolve().parents[1]
VERSION = "0.1.0"

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
DEFINITION = re.compile(r"^\s*(?:module|package)\s+(\w+)", re.MULTILINE)
PORT = re.compile(
    r"^\s*(input|output)\s+(?:logic\s+|wire\s+)?(?:\[\s*(\d+)\s*:\s*0\s*\]\s*)?(\w+)\s*[,;]?\s*$",
    re.MULTILINE,
)
PARAMETER = re.compile(r"^\s*parameter\s+int\s+unsigned\s+(\w+)\s*=\s*(\d+)", re.MULTILINE)


@dataclass(frozen=True)
class Unit:
    """Files that belong together: a module, with the packages that are only its own."""

    name: str
    text: str  # the first sentence of its comment
    files: tuple  # below `hw`, packages first
    defines: tuple
    is_module: bool
    words: frozenset  # all identifiers


@dataclass(frozen=True)
class Port:
    name: str
    direction: str  # "in" or "out"
    width: int


def plain(path):
    """The text of a file without its comments."""
    return COMMENT.sub(" ", path.read_text(encoding="utf-8"))


def first_sentence(path):
    """Of the comment at the top."""
    lines = []
    for line in path.read_text(encoding="utf-8").splitlines():
        text = line.removeprefix("//").strip()
        if not line.startswith("//") or not text:
            break
        lines.append(text)
    return re.split(r"(?<=\.)\s", " ".join(lines))[0].replace(":", ",")


def unit(name, paths, sentence):
    paths = sorted(paths, key=lambda path: ("package" not in plain(path), path.name))
    plains = [plain(path) for path in paths]
    return Unit(
        name=name,
        text=sentence,
        files=tuple(path.relative_to(HARDWARE).as_posix() for path in paths),
        defines=tuple(found for text in plains for found in DEFINITION.findall(text)),
        is_module=any(re.search(rf"\bmodule\s+{name}\b", text) for text in plains),
        words=frozenset(word for text in plains for word in re.findall(r"\w+", text)),
    )


def units():
    """All of them, by name."""
    result = [
        unit(path.stem, [path], first_sentence(path)) for path in (HARDWARE / "rtl").glob("*.sv")
    ]
    for block in ("shell", "queue", "visibility_pe"):
        paths = (HARDWARE / "rtl/generated").glob(f"{block}_*.sv")
        result.append(unit(f"{block}_registers", paths, f"The registers of the {block}."))
    lock_unit = HARDWARE / "bsv/generated/tuple_lock_unit.v"
    result.append(unit(lock_unit.stem, [lock_unit], "The tuple-locking unit of docs/lock-unit.md."))
    return {one.name: one for one in sorted(result, key=lambda one: one.name)}


def uses(known, one):
    """Names of the units that a unit uses, sorted."""
    owners = {defined: other.name for other in known.values() for defined in other.defines}
    names = {owner for defined, owner in owners.items() if defined in one.words}
    return sorted(names - {one.name})


def closure(known, top):
    """The unit and all that it uses, each after what it uses itself."""
    order = []

    def visit(name):
        if name not in order:
            for other in uses(known, known[name]):
                visit(other)
            order.append(name)

    visit(top)
    return [known[name] for name in order]


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
