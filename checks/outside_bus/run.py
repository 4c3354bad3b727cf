# SPDX-License-Identifier: MIT OR Apache-2.0
"""Drives blocks of hw/rtl by bus models that are not ours: run.py [--seed N] [BLOCK ...].

Each block of BLOCKS is read by slang and written as plain Verilog by Yosys, because Icarus does not read all
of SystemVerilog; then cocotb runs the tests of the module `test_<block>` on it, and those of `test_registers` if
it has registers, each module in a simulation of its own, so that it begins with registers that are X. The
module that watch.py writes watches the ports of the block meanwhile.
"""

import argparse
import os
import resource
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import watch
from cocotb_tools.check_results import get_results
from cocotb_tools.runner import get_runner

HERE = Path(__file__).resolve().parent
HARDWARE = HERE.parents[1] / "hw"
sys.path.insert(0, str(HARDWARE / "area"))
import area  # noqa: E402

# Of a block: its sets of parameters. Those that take longest come first.
BLOCKS = {
    "lockstep_device": [{"LookupLogSets": 1, "LookupLogContexts": 2}],
    "visibility_pe": [{"LogChains": 3, "LogPages": 10, "Lanes": 2}],
    "dma_vectorizer": [{}],
    "nic_lookup": [
        {"SlotBytes": 32, "ValueWords": 1, "LogSets": 1, "LogWays": 1, "SegmentBits": 8, "MostPins": 3,
         "LogMisses": misses, "LogParked": 3, "LogContexts": 2, "LandingLines": 2}
        for misses in (1, 2)
    ],
    "tuple_lock_unit": [{}],
    "nic_index_cache": [
        {"LogSets": 1, "LogWays": 1, "SegmentBits": 8, "LogMisses": 2, "LogParked": 3, "MostPins": 7,
         "Objects": 2, "ValueWords": words}
        for words in (1, 2)
    ],
    "probe_scan": [{"SlotBytes": 32, "ValueWords": 2}, {"SlotBytes": 128, "ValueWords": 8}],
}  # fmt: skip

# Ports of which the documents call some bits arbitrary; their tests look at the others.
LOOSE = {"m_axis_row_tdata"}


def write_verilog(top, parameters, output):
    from pyosys import libyosys

    design = libyosys.Design()
    sets = [f"-G {name}={value}" for name, value in parameters.items()]
    files = map(str, area.verilog.paths(area.verilog.sources(), top))
    # Without the values that the Bluespec compiler gives to registers before the reset.
    libyosys.run_pass(" ".join(["read_slang", "-D BSV_NO_INITIAL_BLOCKS", "--top", top, *sets, *files]), design)
    libyosys.run_pass(f"hierarchy -top {top}", design)
    # Six times as fast in Icarus with `opt`. Enables and resets that it finds stay multiplexers, through which X goes
    # on; as conditions of a register they would hold it back.
    for step in ("proc", "flatten", "opt -full -nodffe -nosdff", "bwmuxmap", f"write_verilog -noattr {output}"):
        libyosys.run_pass(step, design)


def used():
    """Seconds of processors that this process and those that it has waited for have used."""
    several = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in several)


def passed(results):
    """Whether there are tests and all have passed; a simulation that ended before them leaves no results."""
    try:
        tests, failures = get_results(results)
    except RuntimeError:
        return False
    return tests > 0 and failures == 0


def run(top, parameters, seed):
    """Whether the tests pass, and what they say if not."""
    begun = used()
    said = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        verilog = folder / f"{top}.v"
        with open(folder / "yosys_log", "w", encoding="utf-8") as yosys_log:
            area.quietly(lambda: write_verilog(top, parameters, verilog), yosys_log)
        ports = watch.ports(verilog.read_text(encoding="utf-8"))
        (folder / "watch.v").write_text(watch.module(top, ports, LOOSE), encoding="utf-8")
        runner = get_runner("icarus")
        runner.build(
            sources=[verilog, folder / "watch.v"], hdl_toplevel=top, build_dir=folder, build_args=["-s", "watch"],
            timescale=("1ns", "1ps"), log_file=folder / "build_log",
        )  # fmt: skip
        environment = {
            "TOP": top,
            "INPUTS": " ".join(name for name, (direction, _) in ports.items() if direction == "input"),
            **{name.upper(): str(value) for name, value in parameters.items()},
        }
        for module in [f"test_{top}"] + ["test_registers"] * ("s_axil_awvalid" in ports):
            log = folder / f"{module}.log"
            results = runner.test(
                hdl_toplevel=top,
                test_module=module,
                test_dir=HERE,
                build_dir=folder,
                results_xml=str(folder / f"{module}.xml"),
                seed=seed,
                log_file=log,
                extra_env=environment,
            )
            if not passed(results):
                said.append(log.read_text(encoding="utf-8"))
    shaped = " ".join([top, *(f"{name}={value}" for name, value in parameters.items())])
    outcome = "FAILED" if said else "passed"
    return not said, "".join(said), f"{shaped}: {outcome}, seed {seed}, {used() - begun:.0f} s of a processor"


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("blocks", nargs="*", metavar="BLOCK", help="of BLOCKS; without one, all")
    wanted = parser.parse_args()
    unknown = set(wanted.blocks) - set(BLOCKS)
    if unknown:
        parser.error(f"no block here: {' '.join(sorted(unknown))}")
    os.environ.update(PYTHONPATH=str(HERE), PYTHONDONTWRITEBYTECODE="1")
    jobs = [(top, one) for top, sets in BLOCKS.items() for one in sets if top in (wanted.blocks or BLOCKS)]
    with ProcessPoolExecutor(max_workers=min(len(os.sched_getaffinity(0)), 4)) as pool:
        running = [pool.submit(run, top, one, wanted.seed) for top, one in jobs]
        outcomes = [one.result() for one in running]
    for _, said, line in outcomes:
        if said:
            print(said, file=sys.stderr)
        print(line, flush=True)
    sys.exit(int(not all(good for good, _, _ in outcomes)))


if __name__ == "__main__":
    main()
