# SPDX-License-Identifier: MIT OR Apache-2.0
"""Drives blocks of hw/rtl by bus models that are not ours: run.py [SEED].

Each block of BLOCKS is read by slang and written as plain Verilog by Yosys, because Icarus does not read all
of SystemVerilog; then cocotb runs the tests of the module `test_<block>` on it.
"""

import os
import sys
import tempfile
from pathlib import Path

from cocotb_tools.check_results import get_results
from cocotb_tools.runner import get_runner

HERE = Path(__file__).resolve().parent
HARDWARE = HERE.parents[1] / "hw"
sys.path.insert(0, str(HARDWARE / "area"))
import area  # noqa: E402

# Of a block: its sets of parameters.
BLOCKS = {
    "dma_vectorizer": [{}],
    "nic_index_cache": [
        {"LogSets": 1, "LogWays": 1, "SegmentBits": 8, "LogMisses": 2, "LogParked": 3, "MostPins": 7,
         "Objects": 2, "ValueWords": words}
        for words in (1, 2)
    ],
    "nic_lookup": [
        {"SlotBytes": 32, "ValueWords": 1, "LogSets": 1, "LogWays": 1, "SegmentBits": 8, "MostPins": 3,
         "LogMisses": misses, "LogParked": 3, "LogContexts": 2, "LandingLines": 2}
        for misses in (1, 2)
    ],
    "probe_scan": [{"SlotBytes": 32, "ValueWords": 2}, {"SlotBytes": 128, "ValueWords": 8}],
}


def write_verilog(top, parameters, output):
    from pyosys import libyosys

    design = libyosys.Design()
    sets = [f"-G {name}={value}" for name, value in parameters.items()]
    files = map(str, area.verilog.paths(area.verilog.sources(), top))
    libyosys.run_pass(" ".join(["read_slang", "--top", top, *sets, *files]), design)
    libyosys.run_pass(f"hierarchy -top {top}", design)
    for step in ("proc", "flatten", "opt_clean", f"write_verilog -noattr {output}"):
        libyosys.run_pass(step, design)


def run(top, parameters, seed):
    """Whether the tests pass; prints what they say if not."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        verilog, log = folder / f"{top}.v", folder / "log"
        with open(folder / "yosys_log", "w", encoding="utf-8") as yosys_log:
            area.quietly(lambda: write_verilog(top, parameters, verilog), yosys_log)
        runner = get_runner("icarus")
        runner.build(
            sources=[verilog], hdl_toplevel=top, build_dir=folder, timescale=("1ns", "1ps"),
            log_file=folder / "build_log",
        )  # fmt: skip
        results = runner.test(
            hdl_toplevel=top,
            test_module=f"test_{top}",
            test_dir=HERE,
            build_dir=folder,
            results_xml=str(folder / "results.xml"),
            seed=seed,
            log_file=log,
            extra_env={name.upper(): str(value) for name, value in parameters.items()},
        )
        tests, failures = get_results(results)
        if failures or not tests:
            print(log.read_text(encoding="utf-8"), file=sys.stderr)
        return tests > 0 and failures == 0


def main(seed="1"):
    os.environ.update(PYTHONPATH=str(HERE), PYTHONDONTWRITEBYTECODE="1")
    failed = False
    for top, sets in BLOCKS.items():
        for parameters in sets:
            passed = run(top, parameters, int(seed))
            shaped = " ".join([top, *(f"{name}={value}" for name, value in parameters.items())])
            print(f"{shaped}: {'passed' if passed else 'FAILED'}, seed {seed}", flush=True)
            failed |= not passed
    sys.exit(int(failed))


if __name__ == "__main__":
    main(*sys.argv[1:])
