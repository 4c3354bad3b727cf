# SPDX-License-Identifier: MIT OR Apache-2.0
"""Makes the models of a block that ABC and smtbmc read. A process of its own, since Yosys prints from C++ and keeps
what it has read.

model.py WISH, where WISH is a file of JSON: files, top, parameters, assumed and others, and the folder to write to.
"""

import json
import os
import sys

from pyosys import libyosys

# One clock; what a property samples is moved back to the clock in which it is sampled, for assertions as for
# assumptions, so that neither is a clock ahead of the other. A table stays logic: as a memory it could hold anything here.
PREPARE = """
hierarchy -check -top {top}
proc -norom
prep -top {top} -flatten
async2sync
chformal -early
chformal -lower
"""
FINISH = """
opt_clean
setundef -undriven -anyseq
formalff -setundef -clk2ff -ff2anyinit
opt_clean
write_smt2 -wires {folder}/model.smt2
"""
# Registers that no reset touches begin with any value: with zero and an input beside it.
BITS = """
chformal -cover -remove
delete -output
opt -full
techmap
opt -fast
memory_map -formal
simplemap
dffunmap
aigmap
opt_clean
"""
WRITE_BITS = "write_aiger -I -B -zinit -no-startoffset -map {folder}/model.aim {folder}/model.aig"


def run(design, script):
    """Runs a script of Yosys, a pass a line."""
    for line in script.strip().splitlines():
        libyosys.run_pass(line, design)


def read(design, job):
    """Reads the block with its wrapper."""
    sets = [f"-G {name}={value}" for name, value in job["parameters"].items()]
    # The initial blocks of Bluespec's Verilog would hide a missing reset.
    read = [
        "read_slang",
        "--no-proc",
        "--no-synthesis-define",
        # What a wrapper says in fewer bits than it has would lose the first of them unnoticed.
        "-Werror=width-trunc",
        "-D",
        "BSV_NO_INITIAL_BLOCKS",
        "--top",
        job["top"],
        *sets,
        *job["files"],
    ]
    if job["open_memories"]:
        read.insert(1, "--no-implicit-memories")
    run(design, " ".join(read))


def check_assumed(design, job):
    """That what the job assumes is there. Yosys is silent where it is not; what it leaves out in vain is proven."""
    for name in job["assumed"]:
        found = os.path.join(job["folder"], "assumed.txt")
        run(design, f"select -write {found} {job['top']}/{name} t:$assert %i")
        if not os.path.getsize(found):
            raise RuntimeError(f"`assumed` names {name}, but no property of the block is called so")


def write_smt2(design, job, is_checked=False):
    """Writes the properties, those of the job."""
    run(design, PREPARE.format(**job))
    if is_checked:
        check_assumed(design, job)
    # What a block asks of its inputs is an assertion of its own; here it is assumed.
    chosen = [f"chformal -assert2assume {job['top']}/{name}" for name in job["assumed"]]
    chosen += [f"chformal -assert -cover -remove {job['top']}/*{name}" for name in job["without"]]
    if job["progress"]:
        # All else is proven by another job, for a world that takes any time. Runs that begin in reset need none of it.
        rest = f"{job['top']}/* {job['top']}/i_progress.* %d"
        chosen.append(f"chformal -assert{' -remove' if job['engine'] == 'bounded' else '2assume'} {rest}")
        chosen.append(f"chformal -cover -remove {rest}")
    run(design, "\n".join(chosen))
    run(design, FINISH.format(**job))


def main(wish):
    with open(wish, encoding="utf-8") as file:
        job = json.load(file)
    design = libyosys.Design()
    read(design, job)
    # With the place of each property in the sources.
    run(design, f"select t:$check\nwrite_rtlil -selected {job['folder']}/properties.il\nselect -clear")
    write_smt2(design, job, is_checked=True)
    if job["engine"] == "pdr":
        run(design, BITS + WRITE_BITS.format(**job))


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except Exception as error:  # The library has no type of its own for a failed pass.
        sys.stdout.flush()
        print(f"ERROR: {error}", flush=True)
        os._exit(1)
