# SPDX-License-Identifier: MIT OR Apache-2.0
"""The benches of benches.toml: which blocks each judges, and what is planted for it."""

import functools
import hashlib
import json
import re
import shutil
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / one) for one in ("formal", "area", "regs")]
import mutate  # noqa: E402
import prove  # noqa: E402
import synth  # noqa: E402
import verilog  # noqa: E402
from children import Undecided  # noqa: E402
from inputs import BadInput, called, near, of_kinds, toml_of, write  # noqa: E402

BENCHES = HERE / "benches.toml"
POWER_UP = HERE.parent / "formal/rules/power_up.sv"
# How many mutants: in a top, and in any other block.
NUMBERS = (200, 40)
# An assertion that reads an array is one that the reader of the netlist does not know.
UNREAD = re.compile(r"^(?:\x1b\[[\d;]*m)*(\S+?):(\d+): .*unsupported operation on a memory variable", re.M)
ASSERTION = re.compile(r"^\s*(\w+): (?:assert|assume|cover) property\b")


@dataclass(frozen=True)
class Bench:
    top: str
    package: str
    model: str = ""
    module: str = ""
    parameters: dict = field(default_factory=dict)
    inputs: dict = field(default_factory=dict)
    without: tuple = ()

    @property
    def variable(self):
        """That tells the build script of the model to take the netlist."""
        return f"LOCKSTEP_PLANTED_{(self.model or self.top).upper()}"


@dataclass(frozen=True)
class File:
    """What benches.toml holds."""

    by_tests: tuple = ()
    bench: list = field(default_factory=list)
    seen: dict = field(default_factory=dict)


def read_toml(path=BENCHES):
    read = toml_of(path)
    missing = [one for one in ("by_tests", "bench") if one not in read]
    if missing:
        raise BadInput(f"{called(path)}: no `{missing[0]}`")
    return asdict(of_kinds(File, read, called(path)))


def judged_by_properties(jobs):
    """Those of the jobs in hw/formal that judge mutants of their block."""
    by_tests = read_toml()["by_tests"]
    unknown = sorted(set(by_tests) - {job.block for job in jobs})
    if unknown:
        raise BadInput(f"{called(BENCHES)}: by_tests: no job in hw/formal is of {', '.join(unknown)}")
    return [job for job in jobs if job.block not in by_tests and job.judges_mutants]


def read_benches(path=BENCHES):
    read, place = read_toml(path), called(path)
    found = {}
    for number, entry in enumerate(read["bench"], start=1):
        bench = checked(entry, f"{place}: [[bench]] {number}")
        if bench.top in found:
            raise BadInput(f"{place}: [[bench]] {number}: a second bench of {bench.top}")
        found[bench.top] = bench
    for name, expression in read["seen"].items():
        if name not in prove.sources():
            raise BadInput(f"{place}: seen: no block {name}{near(name, prove.sources())}")
        if not isinstance(expression, str):
            raise BadInput(f"{place}: seen: {name} is {expression!r}, expected a string")
    return list(found.values()), read["seen"]


def checked(entry, place):
    """A bench, if its entries are what they should be."""
    if not isinstance(entry, dict):
        raise BadInput(f"{place}: found {entry!r}, expected a table")
    for name in ("top", "package"):
        if not entry.get(name):
            raise BadInput(f"{place}: no `{name}`")
    bench = of_kinds(Bench, entry, f"{place}: {entry['top']}")
    place = f"{place}: {bench.top}"
    if bench.top not in prove.sources():
        raise BadInput(f"{place}: no such block in hw/rtl{near(bench.top, prove.sources())}")
    for kind, least in (("parameters", 0), ("inputs", 1)):
        for name, value in getattr(bench, kind).items():
            if type(value) is not int or value < least:
                raise BadInput(f"{place}: {kind}: {name} is {value!r}, expected a number from {least} on")
    if not bench.module:
        verilog.check_parameters(verilog.HARDWARE / prove.sources()[bench.top].path, bench.parameters, place)
    return bench


def below(top):
    """The blocks of a top, itself among them."""
    known = prove.sources()
    if top not in known:
        raise Undecided(f"{top}: hw/rtl has no such block")
    return {one.name for one in verilog.closure(known, [top])}


def blocks_by_bench(benches, below=below):
    """Of each bench the blocks that it judges: those for which it is the smallest, and its top, which comes first.
    Blocks that properties judge are left out."""
    with_job = {job.block for job in judged_by_properties(prove.read_jobs())}
    listed = dict.fromkeys(one.name for one in synth.listed())
    inside = {bench.top: below(bench.top) for bench in benches}
    own = {bench.top for bench in benches}
    result = {
        bench.top: [bench.top] if bench.top not in with_job else [] for bench in benches
    }
    for block in listed:
        smallest = min((top for top in inside if block in inside[top]), key=lambda top: len(inside[top]), default=None)
        if smallest and block not in own | with_job:
            result[smallest].append(block)
    return result


def seed_of(block):
    """As of blocks with a job: nobody chooses it."""
    return int(synth.hash_of_rtl(synth.Block(block)).hexdigest(), 16) % 2**31


def without_assertion(text, line):
    """A text without the assertion in which a line is, and its name. All others keep their numbers."""
    lines = text.split("\n")
    first = next((n for n in range(line - 1, -1, -1) if ASSERTION.match(lines[n])), None)
    last = next((n for n in range(line - 1, len(lines)) if lines[n].rstrip().endswith(";")), None)
    if first is None or last is None or any(";" in one for one in lines[first:last]):
        raise Undecided(f"no assertion is in line {line}")
    name = ASSERTION.match(lines[first])[1]
    lines[first : last + 1] = [""] * (last + 1 - first)
    return "\n".join(lines), name


def digest(paths, hashed=None):
    hashed = hashed or hashlib.sha256()
    for path in paths:
        hashed.update(b"\0" + path.read_bytes())
    return hashed.hexdigest()[:12]


class Plan:
    """The mutants of one bench: what is planted, and where what is known of them is kept."""

    def __init__(self, bench, blocks, seen, kept):
        self.bench = bench
        tops = {one.name for one in synth.listed() if one.is_top}
        files = [str(path) for path in verilog.paths(prove.sources(), bench.top)]
        smaller = sorted(below(bench.top) & {one.top for one in read_benches()[0]} - {bench.top})
        self.wish = {
            "top": bench.top, "module": bench.module or bench.top, "parameters": bench.parameters,
            "unused_inputs": bench.inputs, "files": files, "power_up": str(POWER_UP),
            "rows": [
                {
                    "name": one, "number": NUMBERS[one not in tops], "anywhere": one in tops, "seed": seed_of(one),
                    "apart": smaller if one == bench.top else [],
                }
                for one in blocks
            ],
        }  # fmt: skip
        self.folder = kept / "bench" / bench.top / self.digest()
        # What counts of the outputs of blocks decides on none but what survives.
        self.seen = {one: seen[one] for one in sorted(below(bench.top) & set(seen))}
        self.results = self.folder / "results.jsonl"
        self.netlist = self.folder / "planted.v"

    def digest(self):
        """Of all that the mutants follow from."""
        wish = {**self.wish, "files": None, "power_up": None, "bench": asdict(self.bench)}
        hashed = hashlib.sha256(json.dumps(wish).encode())
        return digest([*map(Path, self.wish["files"]), HERE / "plant_bench.py", HERE / "plant.py"], hashed)

    def plant(self, children):
        if mutate.is_sealed(self.folder):
            return
        copies = self.folder / "copies"
        shutil.rmtree(copies, ignore_errors=True)
        copies.mkdir(parents=True)
        left_out, files = [], dict.fromkeys(self.wish["files"])
        while True:
            read = [copied or path for path, copied in files.items()]
            self.write_wish(**{**self.wish, "files": read, "lines_of": read, "folder": str(self.folder)})
            code, log = self.child(children, "plant_bench.py", "plant.log")
            if code == 0:
                break
            unread = UNREAD.search(log)
            # From the folder in which it is planted.
            path = unread and (self.folder / unread[1]).resolve()
            original = next((one for one in files if path and Path(one).name == path.name), None)
            if not original:
                raise mutate.failure(f"no mutants planted; see {self.folder}/plant.log", log, self.folder)
            text, name = without_assertion(path.read_text(encoding="utf-8"), int(unread[2]))
            files[original] = str(copies / path.name)
            write(Path(files[original]), text)
            left_out.append(f"{path.stem}.{name}")
        if left_out:
            prove.say(f"{self.bench.top}: assertions that read an array are not in the netlist: {', '.join(left_out)}")
        mutate.seal(self.folder, ("mutants.json", "planted.v", "sound.il"))

    def write_wish(self, **more):
        path = self.folder / "wish.json"
        old = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        write(path, json.dumps({**old, **more}, indent=1))

    def child(self, children, program, log, *arguments):
        command = [sys.executable, "-B", str(HERE / program), str(self.folder / "wish.json"), *arguments]
        return children.run(command, self.folder / log, 900, program)

    @functools.cached_property
    def planted(self):
        return json.loads((self.folder / "mutants.json").read_text(encoding="utf-8"))

    def mutants(self):
        return self.planted["mutants"]

    def module(self, number):
        """In which a mutant is."""
        return re.search(r"-module (\S+)", self.mutants()[number - 1])[1]

    def around(self, number):
        """The module in which a mutant is, and that around it, by the names that slang gives to instances."""
        module = self.module(number)
        return {"module": module, "parent": self.parents.get(module, self.bench.top)}

    @functools.cached_property
    def parents(self):
        """Of each module but the top that in which its only instance is."""
        text = (self.folder / "sound.il").read_text(encoding="utf-8")
        result, module = {}, ""
        for kind, name in re.findall(r"^\s*(module|cell) \\(\S+)", text, re.M):
            if kind == "module":
                module = name
            else:
                result[name] = module
        return result

    @functools.cached_property
    def memories(self):
        """Of each memory, by the names of its module and its own, how many words it has, and address bits at each port."""
        text = (self.folder / "sound.il").read_text(encoding="utf-8")
        result, module = {}, ""
        for one in re.finditer(r"^module \\(\S+)|^  cell \$mem_v2 \\?(\S+)\n((?:    .*\n)*)", text, re.M):
            module = one[1] or module
            if one[2]:
                numbers = dict(re.findall(r"parameter \\(SIZE|ABITS|OFFSET) (\d+)", one[3]))
                result[module, one[2]] = tuple(int(numbers[name]) for name in ("SIZE", "ABITS", "OFFSET"))
        return result

    def is_beyond_memory(self, number):
        """Whether a mutant is in a bit of an address that its memory does not have: where it has few words, the reader
        gives it more bits than it needs."""
        found = re.search(r"-module (\S+) -cell (\S+) -port (?:RD|WR)_ADDR -portbit (\d+)", self.mutants()[number - 1])
        if not found:
            return False
        words, bits, first = self.memories[found[1], found[2]]
        is_power_of_two = words & (words - 1) == 0
        return first == 0 and is_power_of_two and int(found[3]) % bits >= (words - 1).bit_length()

    def seen_of(self, number):
        """What counts of the outputs of the block in which a mutant is; empty where all do."""
        return self.seen.get(self.module(number).split("$")[0], "")

    def is_worth_asking(self, number, module, kind):
        """Whether a miter of a kind may say more than those before it."""
        if kind == "asked":
            return bool(self.seen_of(number))
        return kind == "cut" or module != self.module(number) or module in self.parents.values()

    def asked_of(self, number):
        """Of what the answer of miters follows from, besides what is planted."""
        programs = [HERE / f"{one}.py" for one in ("bench", "miter_bench", "clocks", "seen", "aiger")] + [POWER_UP]
        return f"{digest(programs)} {self.seen_of(number)}".strip()

    def place(self, number):
        text = mutate.place(self.mutants()[number - 1], self.folder)
        copy = re.match(r"\S*/copies/(\w+\.s?v)", text)
        original = next((one for one in self.wish["files"] if copy and Path(one).name == copy[1]), None)
        return text.replace(copy[0], str(Path(original).relative_to(prove.ROOT))) if original else text
