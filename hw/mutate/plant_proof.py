# SPDX-License-Identifier: MIT OR Apache-2.0
"""Plants mutants of a bench once more, in the model of a job of hw/formal that has the same block. A process of its
own, as plant_bench.py, which has written what it reads.

plant_proof.py WISH, where WISH is a file of JSON as that of plant.py, with the folder of the bench, and the numbers of
mutants there, besides. Writes to its folder: mutants.txt and numbers.json, those of them that the model has a place for;
and, if there is any, the properties, as plant.py does. Where the wish says what miters compare, and the job's block is
what it is in the bench and no large memory is in it, both of them, too, as compares.json says.

A place is that of the same line of the source, in a cell of the same kind, at a port that has the bit. It counts only
where the model has the same instance, and as many such cells as the bench, since nothing tells them apart if there are
more; but registers have names. All bits of the words of a memory or a buffer are alike, so there the last bit stands for
one that narrower words do not have. The place of a pin of an instance is the buffer that the reader makes of it.
"""

import json
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import plant
from miter_bench import MEMORIES
from plant import model, run
from plant_bench import id_of, libyosys, name_of, options_of


# Blocks in which all bits of a word go the same way.
OF_WORDS = (*MEMORIES, "stream_buffer")
# Miters are not made where memories have more bits: each copy would have a register for each.
MOST_BITS = 1 << 14
# How the reader names the register of a signal.
REGISTER = "$driver$"


@dataclass(frozen=True)
class Kind:
    """What tells cells apart that a line makes: file, line and columns, and what they do."""

    file: str
    columns: str
    type: str


def kind_of(cell):
    path, _, columns = cell.get_string_attribute(id_of("\\src")).split("|")[0].rpartition(":")
    return Kind(os.path.realpath(path), columns, str(cell.type).split("$")[0] or str(cell.type))


def instance_of(name):
    """That of a cell in a flat design, where its name tells; cells that the reader has only numbered tell nothing."""
    own = name.removeprefix("$flatten").removeprefix("\\")
    return re.match(r"(?:[^$]*\.)?", own)[0]


def kind_in(cell, copies):
    """That in a bench, which may have read a copy in the place of a file."""
    kind = kind_of(cell)
    return Kind(copies.get(kind.file, kind.file), kind.columns, kind.type)


def by_kind(module):
    """The cells of each kind in each instance, in the order of their names; each register is by itself."""
    result = {}
    for cell in sorted(module.cells_.values(), key=natural):
        name = name_of(cell)
        place = name if name.startswith(REGISTER) else instance_of(name)
        result.setdefault(kind_of(cell), {}).setdefault(place, []).append(cell)
    return result


def path_of(module):
    """Where the instance is of which a module was made, by its name; that of the top is its own."""
    return module.partition("$")[2] or module


def place_in(job, module):
    """The path of a module's instance in the model of the job, or nothing where the job's block is not around it."""
    block = module
    while block and block.split("$")[0] != job["block"]:
        block = job["parents"].get(block)
    return block and f"i_block{path_of(module).removeprefix(path_of(block))}"


def is_there(flat, instance, module):
    """Whether a model has an instance, and not only a stand-in of what is around it."""
    ports = [name_of(one) for one in module.wires_.values() if one.port_input or one.port_output]
    return any(flat.wire(id_of(f"{instance}.{port}")) is not None for port in ports)


def modules_of(bench, job):
    """Those that mutants are in."""
    names = {options_of(line)["module"] for line in mutants_of(job).values()}
    return [bench.module(id_of(name)) for name in sorted(names)]


def has_same_widths(bench, job, flat):
    """Whether all signals of each mutant's module are as wide in the model, whose block may have other parameters."""
    signals = [one for module in modules_of(bench, job) for one in module.wires_.values() if str(one.name)[0] == "\\"]
    there = [flat.wire(id_of(f"i_block.{name_of(one)}")) for one in signals]
    return all(found is not None and found.width == one.width for one, found in zip(signals, there, strict=True))


def constants_of(cell):
    """The inputs of a cell that are constant."""
    signals = [(str(port), signal) for port, signal in cell.connections_.items() if not cell.output(port)]
    return tuple(sorted((port, one.as_const().as_string()) for port, one in signals if one.is_fully_const()))


def constants_by_kind(cells, copies):
    """What is constant in the cells of each place in the source, since a parameter may be in it; reads and writes of
    memories are collected in the models."""
    result = {}
    for cell in cells:
        kind = kind_in(cell, copies)
        if kind.columns and kind.type.startswith("$") and not kind.type.startswith(("$mem", *plant.CHECKS)):
            result.setdefault(kind, set()).add(constants_of(cell))
    return result


def has_same_constants(bench, job, flat, copies):
    """The same of constants, of parameters that no width follows from. A constant that its neighbours give a block in the model
    alone is taken for a parameter, too."""
    there = constants_by_kind(flat.cells_.values(), {})
    own = [constants_by_kind(module.cells_.values(), copies) for module in modules_of(bench, job)]
    return all(there.get(kind) == constants for one in own for kind, constants in one.items())


def bits_of_memories(flat):
    memories = [one for one in flat.cells_.values() if str(one.type) == "$mem_v2"]
    sizes = [[one.getParam(id_of(name)).as_int() for name in ("SIZE", "WIDTH")] for one in memories]
    return sum(words * width for words, width in sizes)


def alike_in(planted, kind, name, instance):
    """The cells that are alike, those of each instance; of a register the one of its name."""
    found = planted.get(kind, {})
    if not name.startswith(REGISTER):
        return [cells for place, cells in found.items() if not place.startswith(REGISTER)]
    register = f"{REGISTER}{instance}.{name.removeprefix(REGISTER)}"
    return [found[register]] if register in found else []


def natural(cell):
    """By their numbers, of which those that Yosys counts may get another digit."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name_of(cell))]


def width_of(cell, port):
    return cell.getPort(id_of(port)).size() if cell.hasPort(id_of(port)) else 0


def place_of(design, line, job, flat, copies, planted):
    """The cell, the bits and the mode of a mutant in the model of the job, or nothing."""
    options = options_of(line)
    module = design.module(id_of(options["module"]))
    instance = place_in(job, name_of(module))
    if not instance or not is_there(flat, instance, module):
        return None
    cell = module.cell(id_of(options["cell"]))
    kind = kind_in(cell, copies)
    name = name_of(cell)
    alike = [one for one in sorted(module.cells_.values(), key=natural) if kind_of(one) == kind_of(cell)]
    alike = [cell] if name.startswith(REGISTER) else [one for one in alike if not name_of(one).startswith(REGISTER)]
    number = [name_of(one) for one in alike].index(name)
    width = width_of(cell, options["port"])
    is_word = name_of(module).split("$")[0] in OF_WORDS and "ADDR" not in options["port"]
    for found in alike_in(planted, kind, name, instance):
        # If there are more, some are of another instance, or of the wrapper, and nothing tells which.
        has = len(found) == len(alike) and width_of(found[number], options["port"])
        bits = [int(options[one]) for one in ("portbit", "ctrlbit") if one in options]
        if is_word and 1 < has < width:
            bits = [min(bit, has - 1) for bit in bits]
            if len(bits) == 2 and bits[0] == bits[1]:
                bits[1] -= 1
        if has and has <= width and max(bits) < has:
            return found[number], bits, options
    return None


def pin_of(design, line, job, flat):
    """The buffer that stands for a mutant's pin in the model of the job, before it is taken away, or nothing."""
    options = options_of(line)
    module = design.module(id_of(options["module"]))
    cell, around = module.cell(id_of(options["cell"])), place_in(job, name_of(module))
    if not around or str(cell.type).startswith("$"):
        return None
    instance = f"{around}.{name_of(cell)}"
    wire = flat.wire(id_of(f"{instance}.{options['port']}"))
    if wire is None or wire.width != width_of(cell, options["port"]):
        return None
    is_input = design.module(cell.type).wire(id_of(options["port"])).port_input
    pin = Pin(wire, instance, is_input)
    return next((one for one in flat.cells_.values() if str(one.type) == "$buf" and pin.is_through(one)), None)


@dataclass(frozen=True)
class Pin:
    """A port of an instance: its wire inside, and which way it goes."""

    wire: object
    instance: str
    is_input: bool

    def is_through(self, buffer):
        """Whether a buffer is between the inside and the outside."""
        inside, outside = ("Y", "A") if self.is_input else ("A", "Y")
        inside, outside = (buffer.getPort(id_of(f"\\{port}")) for port in (inside, outside))
        names = [name_of(bit.wire) for bit in outside.bits() if bit.is_wire()]
        return inside == libyosys.SigSpec(self.wire) and not any(one.startswith(f"{self.instance}.") for one in names)


def keep_pins(design, job, flat):
    """The buffers that stand for mutants' pins, by number, which stay until they are planted in."""
    pins = {number: pin_of(design, line, job, flat) for number, line in mutants_of(job).items()}
    pins = {number: cell for number, cell in pins.items() if cell}
    for cell in pins.values():
        cell.set_bool_attribute(id_of("keep"))
    return {number: name_of(cell) for number, cell in pins.items()}


def line_of(job, cell, bits, options):
    control = f" -ctrlbit {bits[1]}" if len(bits) == 2 else ""
    name = f"-module {job['top']} -cell {name_of(cell)} -port {options['port']}"
    return f"mutate -mode {options['mode']} {name} -portbit {bits[0]}{control}"


def mutants_of(job):
    """Those that are asked for, as Yosys names them, by number."""
    lines = json.loads((Path(job["bench"]) / "mutants.json").read_text(encoding="utf-8"))["mutants"]
    return {number: lines[number - 1] for number in job["numbers"]}


def sound(job):
    """The bench's design, without mutants."""
    folder = json.loads((Path(job["bench"]) / "wish.json").read_text(encoding="utf-8"))["folder"]
    design = libyosys.Design()
    run(design, f"read_rtlil {folder}/sound.il")
    return design


def copies_of(job):
    """What the bench has read, without some assertions, in the place of a file."""
    folder = Path(job["bench"]) / "copies"
    return {os.path.realpath(folder / Path(one).name): os.path.realpath(one) for one in job["sources"]}


def choose(design, job, flat, pins, copies):
    """The mutants that the model has a place for, and their numbers."""
    planted = by_kind(flat)
    found = {}
    for number, line in mutants_of(job).items():
        if number in pins:
            options = options_of(line)
            bits = [int(options[one]) for one in ("portbit", "ctrlbit") if one in options]
            found[number] = (flat.cell(id_of(pins[number])), bits, {**options, "port": "Y"})
        else:
            found[number] = place_of(design, line, job, flat, copies, planted)
    return {number: line_of(job, *place) for number, place in found.items() if place}


def main(path):
    job = json.loads(Path(path).read_text(encoding="utf-8"))
    folder = Path(job["folder"])
    # Paths in the bench's design count from its folder.
    os.chdir(job["bench"])
    bench, design = sound(job), libyosys.Design()
    model.read(design, job)
    flat = plant.module_of(design, job["top"])
    pins = keep_pins(bench, job, flat)
    is_same = has_same_widths(bench, job, flat)
    given = plant.prepare(design, job)
    flat = plant.module_of(design, job["top"])
    copies = copies_of(job)
    compares = (
        "outputs" in job
        and is_same
        and has_same_constants(bench, job, flat, copies)
        and bits_of_memories(flat) <= MOST_BITS
    )
    (folder / "compares.json").write_text(json.dumps(compares), encoding="utf-8")
    chosen = choose(bench, job, flat, pins, copies)
    (folder / "numbers.json").write_text(json.dumps(list(chosen)), encoding="utf-8")
    (folder / "mutants.txt").write_text("".join(f"{line}\n" for line in chosen.values()), encoding="utf-8")
    if chosen:
        width = plant.plant(design, list(chosen.values()))
        for name in pins.values():
            flat.cell(id_of(name)).set_bool_attribute(id_of("keep"), False)
        run(design, "design -save planted")
        given.keep(flat, False)
        plant.write_properties(design, job, folder)
        if compares:
            plant.write_miters(design, job, width, given)


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except Exception as error:  # The library has no type of its own for a failed pass.
        sys.stdout.flush()
        print(f"ERROR: {error}", flush=True)
        os._exit(1)
