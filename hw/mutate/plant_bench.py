# SPDX-License-Identifier: MIT OR Apache-2.0
"""Plants mutants in a top and in the blocks below it, all in one netlist that Verilator reads in the place of the
RTL. A process of its own, since Yosys prints from C++ and keeps what it has read.

plant_bench.py WISH, where WISH is a file of JSON that bench.py writes. Writes to its folder: mutants.json, each mutant
as Yosys names it, and the numbers of those of each row of the report; planted.v, in which the variable
LOCKSTEP_MUTANT of the environment chooses one, 0 for none; and sound.il, the design without mutants.
"""

import json
import os
import re
import sys
from pathlib import Path

from pyosys import libyosys

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "formal"))
import plant  # noqa: E402
from model import run  # noqa: E402

# Ports of instances besides those of plant.NO_LOGIC. Clocks are not stopped by mutants, but by the blocks that gate them.
NO_LOGIC = re.compile(plant.NO_LOGIC.pattern + r"|-port \w*clk\w* ", re.I)
# Of the only module that is written by hand: a netlist has no way to ask for a variable. It also makes a file, by which
# a test is seen to use the model.
CHOICE = """
module planted_choice (output logic [{high}:0] number_o);
    initial begin
        $c("if (const char *seen = std::getenv(\\"LOCKSTEP_SEEN\\")) if (FILE *file = std::fopen(seen, \\"w\\")) std::fclose(file);");
        number_o = $c32("(std::getenv(\\"LOCKSTEP_MUTANT\\") ? std::atoi(std::getenv(\\"LOCKSTEP_MUTANT\\")) : 0)");
    end
endmodule
"""
READ = """
hierarchy -check -top {top}
proc -norom
opt_expr -keepdc
opt_clean
memory_collect
"""


def name_of(item):
    """Without the backslash that marks names that people have given."""
    return str(item.name).removeprefix("\\")


def read(design, wish):
    sets = [f"-G {name}={value}" for name, value in wish["parameters"].items()]
    # As verilate has it, whose models check.
    options = ["--no-proc", "--no-synthesis-define", "-D", "BSV_NO_INITIAL_BLOCKS", "--keep-hierarchy"]
    run(design, " ".join(["read_slang", *options, "--top", wish["top"], *sets, *wish["files"]]))
    run(design, READ.format(top=wish["top"]))


def cells_of(module, lines):
    """Those that lines of blocks make, without those of assertions."""
    for cell in module.cells_.values():
        source = cell.get_string_attribute(id_of("src")).split("|")[0]
        path, _, place = source.rpartition(":")
        line = place.split(".")[0]
        if line.isdigit() and int(line) in lines.get(os.path.realpath(path), ()):
            yield f"{name_of(module)}/{name_of(cell)}\n"


def listed(design, cells, row, folder):
    if not cells:
        raise RuntimeError(f"{row['name']}: no cell of it is in the netlist")
    (folder / "cells.txt").write_text("".join(cells), encoding="utf-8")
    # More than wanted: what the netlist does not have cannot be changed.
    listing = f"mutate -list {row['number'] * 3 // 2} -seed {row['seed']} -o {folder}/listed.txt"
    run(design, f"select -read {folder}/cells.txt\n{listing}\nselect -clear")
    lines = (folder / "listed.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if not NO_LOGIC.search(line)][: row["number"]]


def is_below(modules, name, blocks):
    """Whether a module is an instance of some blocks, or inside one. Modules have the paths of their instances in their
    names, but for the top."""
    tops = [one.partition("$")[2] for one in map(name_of, modules) if one.split("$")[0] in blocks]
    place = name.partition("$")[2]
    return any(place == one or place.startswith(f"{one}.") for one in tops)


def choose(design, wish, folder):
    """All mutants, and the numbers of those of each row. That of a top has mutants anywhere below it, but for what is
    below the top of a smaller bench, which has its own."""
    lines = {os.path.realpath(path): plant.unchecked_lines(path) for path in wish["lines_of"]}
    modules = sorted(design.modules_.values(), key=lambda module: (len(name_of(module)), name_of(module)))
    mutants, rows = {}, {}
    for row in wish["rows"]:
        known = [one for one in modules if not is_below(modules, name_of(one), row["apart"])]
        if not row["anywhere"]:
            # Of equal instances the first.
            known = [one for one in modules if name_of(one).split("$")[0] == row["name"]][:1]
        cells = [cell for module in known for cell in cells_of(module, lines)]
        chosen = listed(design, cells, row, folder)
        rows[row["name"]] = [mutants.setdefault(line, len(mutants) + 1) for line in chosen]
    text = json.dumps({"mutants": list(mutants), "rows": rows}, indent=1)
    (folder / "mutants.json").write_text(text, encoding="utf-8")
    return list(mutants)


def options_of(line):
    return dict(re.findall(r"-(\w+) (\S+)", line))


class Planter:
    """Plants mutants in one module. What Yosys' `mutate` does with its option -ctrl, but each port is read and written
    as a whole: Verilator, which follows vectors and no bits, would see loops otherwise."""

    def __init__(self, module, choice):
        self.module = module
        self.choice = choice
        self.names = 0

    def id(self):
        self.names += 1
        return libyosys.IdString(f"$planted${self.names}")

    def mutated(self, options, bits):
        """What stands in the place of a bit."""
        bit, mode = bits[int(options["portbit"])], options["mode"]
        if mode == "inv":
            return self.module.Not(self.id(), bit)
        if mode in ("const0", "const1"):
            return libyosys.SigSpec(int(mode[-1]), 1)
        other = bits[int(options["ctrlbit"])]
        return (self.module.Xor if mode == "cnot1" else self.module.Xnor)(self.id(), bit, other)

    def plant(self, cell, port, numbered):
        signal = cell.getPort(port)
        is_input = cell.input(port)
        if not is_input:
            wire = libyosys.SigSpec(self.module.addWire(self.id(), signal.size()))
            cell.setPort(port, wire)
        sound = signal if is_input else wire
        bits = [sound.extract(number, 1) for number in range(signal.size())]
        result = list(bits)
        for number, options in numbered:
            wanted = libyosys.SigSpec(number, self.choice.size())
            chosen = self.module.Eq(self.id(), self.choice, wanted)
            place = int(options["portbit"])
            result[place] = self.module.Mux(self.id(), result[place], self.mutated(options, bits), chosen)
        joined = libyosys.SigSpec()
        for bit in result:
            joined.append(bit)
        if is_input:
            cell.setPort(port, joined)
        else:
            self.module.connect(signal, joined)


def plant_all(design, numbered, choice_of):
    """Plants mutants, given as their numbers and Yosys' lines; `choice_of` gives the signal that chooses in a module."""
    places = {}
    for number, line in numbered:
        options = options_of(line)
        place = places.setdefault(options["module"].removeprefix("\\"), {})
        place.setdefault((options["cell"], options["port"]), []).append((number, options))
    for name, ports in places.items():
        module = plant.module_of(design, name)
        planter = Planter(module, choice_of(module))
        for (cell, port), chosen in ports.items():
            planter.plant(module.cell(id_of(cell)), id_of(port), chosen)


def id_of(name):
    return libyosys.IdString(name if name[0] in "$\\" else f"\\{name}")


def choice_by_cell(width):
    """The choice of a module is the output of a cell in it."""

    def choice(module):
        wire = libyosys.SigSpec(module.addWire(id_of("mutant"), width))
        module.addCell(id_of("i_planted_choice"), id_of("planted_choice")).setPort(id_of("number_o"), wire)
        return wire

    return choice


class Enables:
    """Of a module, which bits that enable writes are the same. Those of a word come from multiplexers, each a bit of its
    own, and would be written one by one, in which a model spends most of its time."""

    def __init__(self, module):
        self.same, self.chosen, self.known, self.numbers = {}, {}, {}, {}
        for left, right in module.connections_:
            self.same.update(zip(map(self.place, left.bits()), right.bits(), strict=True))
        for cell in module.cells_.values():
            if str(cell.type) == "$mux":
                low, high, select, result = (cell.getPort(id_of(f"\\{port}")).bits() for port in "ABSY")
                for bit, one, other in zip(result, low, high, strict=True):
                    self.chosen[self.place(bit)] = (self.place(select[0]), one, other)

    @staticmethod
    def place(bit):
        return (str(bit.wire.name), bit.offset) if bit.is_wire() else str(bit.data)

    def meaning(self, bit):
        """Bits that mean the same are the same."""
        place = self.place(bit)
        if place not in self.known:
            self.known[place] = self.derived(place)
        return self.known[place]

    def derived(self, place):
        if place in self.same:
            return self.meaning(self.same[place])
        if place not in self.chosen:
            return place
        select, low, high = self.chosen[place]
        choice = (select, self.meaning(low), self.meaning(high))
        return choice[1] if choice[1] == choice[2] else self.numbers.setdefault(choice, len(self.numbers))

    def share(self, cell):
        """One bit for all that mean the same."""
        enables, first = cell.getPort(id_of("\\WR_EN")), {}
        joined = libyosys.SigSpec()
        for bit in enables.bits():
            joined.append(first.setdefault(self.meaning(bit), bit))
        cell.setPort(id_of("\\WR_EN"), joined)


def share_enables(design):
    for module in design.modules_.values():
        enables = Enables(module)
        for cell in module.cells_.values():
            if str(cell.type) == "$mem_v2":
                enables.share(cell)


def write_netlist(design, wish, width, path):
    share_enables(design)
    top = plant.module_of(design, wish["top"])
    for name, size in wish["unused_inputs"].items():
        wire = top.addWire(id_of(name), size)
        wire.port_input = True
    top.fixup_ports()
    if wish["module"] != wish["top"]:
        run(design, f"rename {wish['top']} {wish['module']}")
    # The only cell of the reader that Verilog has no expression for.
    run(design, f"bwmuxmap\nwrite_verilog -sv -noattr {path}")
    with open(path, "a", encoding="utf-8") as file:
        file.write(CHOICE.format(high=width - 1))


def main(path):
    # A chain of multiplexers is followed by recursion.
    sys.setrecursionlimit(100_000)
    wish = json.loads(Path(path).read_text(encoding="utf-8"))
    folder = Path(wish["folder"])
    design = libyosys.Design()
    read(design, wish)
    run(design, f"write_rtlil {folder}/sound.il")
    mutants = choose(design, wish, folder)
    width = len(mutants).bit_length()
    plant_all(design, enumerate(mutants, 1), choice_by_cell(width))
    write_netlist(design, wish, width, folder / "planted.v")


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except Exception as error:  # The library has no type of its own for a failed pass.
        sys.stdout.flush()
        print(f"ERROR: {error}", flush=True)
        os._exit(1)
