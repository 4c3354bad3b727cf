# SPDX-License-Identifier: MIT OR Apache-2.0
"""Plants mutants in a block, all in one model, of which an input chooses one. A process of its own, since Yosys
prints from C++ and keeps what it has read.

plant.py WISH, where WISH is a file of JSON as that of hw/formal/model.py, with more besides (mutate.py). Writes to its
folder: mutants.txt, a mutant a line as Yosys names it; properties.aag, the properties of the wrapper, in which `mutant`
chooses, 0 for none, with their names in properties.txt; miter.aag, which says whether the block with a mutant ever
differs from that without; and asked.aag, which says whether what the contract asks for ever differs: for inputs that
keep what the job assumes, and in the signal `seen` of the wrapper, where it has one, or else in all outputs.

What stands in the place of a module inside the block hardly looks at what it gets. So the miters compare that, too: all
of it, or in asked.aag what a signal `seen` of the stand-in names, where it has one.
"""

import json
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from pyosys import libyosys

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "formal"))
import model  # noqa: E402
from model import run  # noqa: E402

# What says something about a block, and is no part of it.
CHECKS = ("$check", "$print", "$assert", "$assume", "$cover", "$scopeinfo")
# The models have one clock that nothing stops, and memories that are read at any time.
NO_LOGIC = re.compile(r"-port (\w*CLK|RD_EN|RD_[AS]RST) ")
# Nothing is merged: a cell that the block and its properties have in common would change both.
READ = """
hierarchy -check -top {top}
proc -norom
flatten
{seen}
opt_expr -keepdc
opt_clean
memory_collect
"""
# In the first copy no mutant is chosen.
COPIES = """
rename {top} gate
copy gate gold
cd gold
delete -input w:mutant
rename mutant none
connect -set none {width}'b{none}
add -input mutant {width}
cd
{checks}
setattr -mod -unset top gold gate
"""
MITER = """
miter -equiv -flatten -make_assert gold gate miter
prep -top miter -flatten
async2sync
chformal -lower
formalff -clk2ff
opt_clean
"""
# What the job assumes and proves, as constraints on the copy without a mutant.
PROVEN = """
async2sync
chformal -early
chformal -lower
{chosen}
chformal -cover -remove
chformal -assert2assume
"""


def module_of(design, name):
    return design.module(libyosys.IdString(f"\\{name}"))


def unchecked_lines(path):
    """The lines of a file that make hardware, and no assertions."""
    lines, within = set(), False
    for number, line in enumerate(Path(path).read_text(encoding="utf-8").splitlines(), 1):
        within = within or line.strip().startswith("`ifndef SYNTHESIS")
        if not within:
            lines.add(number)
        within = within and not line.strip().startswith("`endif")
    return lines


def choose(design, job, folder):
    """The list of mutants: of cells that lines of the block make, without those of its assertions."""
    lines = {os.path.realpath(path): unchecked_lines(path) for path in job["block_files"]}
    cells = []
    for cell in module_of(design, job["top"]).cells_.values():
        source = cell.get_string_attribute(libyosys.IdString("\\src")).split("|")[0]
        path, _, place = source.rpartition(":")
        line = place.split(".")[0]
        if line.isdigit() and int(line) in lines.get(os.path.realpath(path), ()):
            cells.append(f"{job['top']}/{str(cell.name).lstrip(chr(92))}\n")
    if not cells:
        raise RuntimeError("no cell of the block is in the model")
    (folder / "cells.txt").write_text("".join(cells), encoding="utf-8")
    # Some more than wanted: what the models do not have cannot be changed.
    listing = f"mutate -list {job['number'] * 5 // 4} -seed {job['seed']} -o {folder}/listed.txt"
    run(design, f"select -read {folder}/cells.txt\n{listing}\nselect -clear")
    listed = (folder / "listed.txt").read_text(encoding="utf-8").splitlines()
    mutants = [line for line in listed if not NO_LOGIC.search(line)][: job["number"]]
    (folder / "mutants.txt").write_text("".join(f"{line}\n" for line in mutants), encoding="utf-8")
    return mutants


@dataclass(frozen=True)
class Given:
    """The signals by which stand-ins get what a block gives them: all, and those that say what counts of it."""

    whole: list
    counts: list

    def keep(self, module, keep=True):
        """Keeps what makes them, or no longer."""
        for name in {*self.whole, *self.counts}:
            module.wire(libyosys.IdString(f"\\{name}")).set_bool_attribute(libyosys.IdString("\\keep"), keep)


def given_to_stand_ins(module, stand_ins):
    """Of a wrapper, by the files that declare the signals; `stand_ins` has the names of each file's inputs, and whether
    it says what counts of them."""
    whole, counts = [], []
    for wire in module.wires_.values():
        name = str(wire.name).lstrip("\\")
        path = wire.get_string_attribute(libyosys.IdString("\\src")).rpartition(":")[0]
        one = stand_ins.get(os.path.basename(path))
        if one and name.startswith("i_block."):
            own = name.rpartition(".")[2]
            whole += [name] * (own in one["inputs"])
            counts += [name] * (own == "seen" or (own in one["inputs"] and not one["seen"]))
    return Given(whole, counts)


def plant(design, mutants):
    width = len(mutants).bit_length()
    for number, line in enumerate(mutants, 1):
        run(design, line.replace("mutate ", f"mutate -ctrl mutant {width} {number} ", 1))
    return width


def write_bits(design, path):
    # A mutant may read beside a table always, which is anything.
    bits = model.BITS + "setundef -anyseq\n"
    run(design, bits + f"write_aiger -ascii -zinit -I -B -no-startoffset -map {path}.aim {path}.aag")


def write_properties(design, job, folder):
    model.write_smt2(design, job)
    write_bits(design, folder / "properties")
    cells = module_of(design, job["top"]).cells_.values()
    names = [str(cell.name).lstrip("\\") for cell in cells if str(cell.type) == "$assert"]
    (folder / "properties.txt").write_text("".join(f"{one}\n" for one in names), encoding="utf-8")


def name_states(module):
    """Registers get names that both copies have: planting hides some."""
    quantity = libyosys.IdString("\\Q")
    for number, cell in enumerate(list(module.cells_.values())):
        if cell.hasPort(quantity):
            state = cell.getPort(quantity)
            wire = module.addWire(libyosys.IdString(f"\\state_{number}"), state.size())
            module.connect(libyosys.SigSpec(wire), state)


def remove_checks(module):
    """All but that a run begins in reset."""
    for cell in list(module.cells_.values()):
        if str(cell.type).lstrip("\\") in CHECKS and ".begins_in_reset" not in str(cell.name):
            module.remove(cell)


def share_choices(module):
    """Makes inputs of all that the prover may choose, so that it chooses the same for both copies."""
    chosen = [cell for cell in module.cells_.values() if str(cell.type) == "$anyseq"]
    for number, cell in enumerate(chosen):
        value = cell.getPort(libyosys.IdString("\\Y"))
        undriven = [str(bit.wire.name) for bit in value.bits() if re.search(r"\bseen$", str(bit.wire.name))]
        if undriven:
            raise RuntimeError(f"nothing drives {undriven[0]}")
        wire = module.addWire(libyosys.IdString(f"\\chosen_{number}"), value.size())
        wire.port_input = True
        module.remove(cell)
        module.connect(value, libyosys.SigSpec(wire))
    module.fixup_ports()


def write_miter(design, job, width, name, outputs, checks=""):
    """Both copies have the inputs of the wrapper, and the outputs that are compared."""
    top = job["top"]
    outputs = " ".join(f"{top}/{one}" for one in outputs)
    if outputs:
        run(design, f"expose {outputs}")
    run(design, "setundef -undriven -anyseq")
    share_choices(module_of(design, top))
    run(design, "opt_clean -purge\nmemory_map -formal")
    name_states(module_of(design, top))
    run(design, COPIES.format(top=top, width=width, none="0" * width, checks=checks) + MITER)
    write_bits(design, Path(job["folder"]) / name)


def write_miters(design, job, width, given=Given([], [])):
    outputs = [f"i_block.{name}" for name in job["outputs"]]
    run(design, "design -load planted")
    remove_checks(module_of(design, job["top"]))
    given.keep(module_of(design, job["top"]), False)
    write_miter(design, job, width, "miter", outputs + given.whole)
    # As model.py does.
    chosen = [f"chformal -assert2assume {job['top']}/{name}" for name in job["assumed"]]
    chosen += [f"chformal -assert -remove {job['top']}/*{name}" for name in job["without"]]
    run(design, "design -load planted\n" + PROVEN.format(chosen="\n".join(chosen)))
    given.keep(module_of(design, job["top"]), False)
    compared = ([] if job["seen"] else outputs) + given.counts
    write_miter(design, job, width, "asked", compared, "delete gate/t:$assume")


def prepare(design, job):
    """Makes the model ready for mutants, once it is read. Gives what goes to stand-ins."""
    given = given_to_stand_ins(module_of(design, job["top"]), job.get("stand_ins", {}))
    given.keep(module_of(design, job["top"]))
    # Before what drives it is removed, since nothing reads it.
    seen = f"expose {job['top']}/seen" if job["seen"] else ""
    run(design, READ.format(top=job["top"], seen=seen))
    return given


def main(wish):
    job = json.loads(Path(wish).read_text(encoding="utf-8"))
    folder = Path(job["folder"])
    design = libyosys.Design()
    model.read(design, job)
    given = prepare(design, job)
    mutants = choose(design, job, folder)
    width = plant(design, mutants)
    run(design, "design -save planted")
    given.keep(module_of(design, job["top"]), False)
    write_properties(design, job, folder)
    write_miters(design, job, width, given)


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except Exception as error:  # The library has no type of its own for a failed pass.
        sys.stdout.flush()
        print(f"ERROR: {error}", flush=True)
        os._exit(1)
