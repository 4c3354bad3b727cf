# SPDX-License-Identifier: MIT OR Apache-2.0
"""Plants mutants in a block, all in one model, of which an input chooses one. A process of its own, since Yosys
prints from C++ and keeps what it has read.

plant.py WISH, where WISH is a file of JSON as that of hw/formal/model.py, with block, number and seed besides. Writes
to its folder: mutants.txt, a mutant a line as Yosys names it; model.smt2, the properties of the wrapper, in which
`mutant` chooses, 0 for none; and miter.aag, which says whether the block with a mutant ever differs from that without.
"""

import json
import os
import sys
from pathlib import Path

from pyosys import libyosys

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "formal"))
import model  # noqa: E402
from model import run  # noqa: E402

# What says something about a block, and is no part of it.
CHECKS = ("$check", "$print", "$assert", "$assume", "$cover", "$scopeinfo")
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
setattr -mod -unset top gold gate
"""
MITER = """
miter -equiv -flatten -make_assert gold gate miter
prep -top miter -flatten
async2sync
chformal -lower
setundef -undriven -zero
formalff -clk2ff
opt_clean
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
    listing = f"mutate -list {job['number']} -seed {job['seed']} -o {folder}/mutants.txt"
    run(design, f"select -read {folder}/cells.txt\n{listing}\nselect -clear")
    return (folder / "mutants.txt").read_text(encoding="utf-8").splitlines()


def plant(design, mutants):
    width = len(mutants).bit_length()
    for number, line in enumerate(mutants, 1):
        run(design, line.replace("mutate ", f"mutate -ctrl mutant {width} {number} ", 1))
    return width


def write_properties(design, job):
    run(design, "design -save planted")
    model.write_smt2(design, job)
    run(design, "design -load planted")


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


def write_miter(design, job, folder, width):
    """Both copies have the inputs of the wrapper and the outputs of the block."""
    top = job["top"]
    outputs = " ".join(f"{top}/i_block.{name}" for name in job["outputs"])
    remove_checks(module_of(design, top))
    run(design, f"expose {outputs}\nopt_clean -purge\nmemory_map -formal")
    name_states(module_of(design, top))
    script = COPIES.format(top=top, width=width, none="0" * width) + MITER + model.BITS
    run(design, script + f"write_aiger -ascii -zinit -I -B -no-startoffset -map {folder}/miter.aim {folder}/miter.aag")


def main(wish):
    job = json.loads(Path(wish).read_text(encoding="utf-8"))
    folder = Path(job["folder"])
    design = libyosys.Design()
    model.read(design, job)
    run(design, f"prep -top {job['top']} -flatten")
    mutants = choose(design, job, folder)
    width = plant(design, mutants)
    write_properties(design, job)
    write_miter(design, job, folder, width)


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except Exception as error:  # The library has no type of its own for a failed pass.
        sys.stdout.flush()
        print(f"ERROR: {error}", flush=True)
        os._exit(1)
