# SPDX-License-Identifier: MIT OR Apache-2.0
"""Of a module what counts of its outputs when, as a module of SystemVerilog that miter_bench.py adds to it."""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Port:
    name: str
    width: int
    is_output: bool


def module_of(ports, expression):
    """Text with the signal `seen`, and those ports that it reads. The expression has to name all outputs."""
    named = {one.name for one in ports if re.search(rf"\b{one.name}\b", expression)}
    missing = [one.name for one in ports if one.is_output and one.name not in named]
    if missing:
        raise RuntimeError(f"`seen` in benches.toml does not name {', '.join(missing)}")
    read = [one for one in ports if one.name in named]
    declared = ", ".join(f"input logic [{one.width - 1}:0] {one.name}" for one in read)
    text = (
        f"module planted_seen ({declared});\n"
        f"    (* keep *) wire [$bits({expression})-1:0] seen = {expression};\nendmodule\n"
    )
    return text, read
