# SPDX-License-Identifier: MIT OR Apache-2.0
"""Writes a Verilog module that watches the ports of a block, beside it in the same simulation.

Icarus has four values, so that a register without a reset shows as X. From the reset on no valid, no ready and
no output outside a channel may be X, and no payload while its valid is high. An offer stays as it is until it
is taken. What breaks this ends the simulation, and with it the test that runs.
"""

import re

PORT = re.compile(r"^  (input|output) (?:\[(\d+):0\] )?(\w+);$", re.MULTILINE)


def ports(netlist):
    """Name, direction and width of each port of the only module of a netlist that Yosys has written."""
    return {name: (direction, int(high or 0) + 1) for direction, high, name in PORT.findall(netlist)}


def channels(known):
    """Of each channel that the block offers something on: valid, ready if there is one, payload."""
    outputs = [name for name, (direction, _) in known.items() if direction == "output"]
    for valid in outputs:
        stem, found, _ = valid.rpartition("valid")
        if found and valid.endswith(("valid", "valid_o")):
            ready = next((stem + end for end in ("ready", "ready_i") if stem + end in known), None)
            yield valid, ready, [name for name in outputs if name.startswith(stem) and name != valid]


def module(top, known, loose=()):
    """The text of the module `watch`, a root of its own; ports that are `loose` may have X in them."""
    offered, declared, watched = set(), [], []
    for number, (valid, ready, payload) in enumerate(channels(known)):
        offered.update(payload)
        bits = ", ".join(f"{top}.{name}" for name in payload)
        strict = ", ".join(f"{top}.{name}" for name in payload if name not in loose)
        width = sum(known[name][1] for name in payload)
        declared.append(f"  reg waits_{number}; reg [{width - 1}:0] kept_{number};")
        watched.append(f"""
      if ({top}.{valid} === 1'b1 && ^{{{strict}}} === 1'bx) fail("X in the payload of {valid}");
      if (waits_{number} && {top}.{valid} !== 1'b1) fail("{valid} falls before {ready} has come");
      if (waits_{number} && {{{bits}}} !== kept_{number}) fail("the payload of {valid} changes before it is taken");
      waits_{number} <= {top}.{valid} && {f"{top}.{ready}" if ready else "1'b1"} !== 1'b1;
      kept_{number} <= {{{bits}}};""")
    for name, (direction, _) in known.items():
        if direction == "output" and name not in offered:
            watched.append(f"""
      if (^{top}.{name} === 1'bx) fail("X at {name}");""")
    forgotten = " ".join(f"waits_{number} <= 1'b0;" for number in range(len(declared)))
    return f"""module watch;
{chr(10).join(declared)}
  task fail(input [8*80-1:0] what);
    begin
      $display("watch: %0s, at %0t", what, $time);
      $finish;
    end
  endtask
  always @(posedge {top}.clk_i) begin
    if ({top}.rst_ni !== 1'b1) begin
      {forgotten}
    end else begin{"".join(watched)}
    end
  end
endmodule
"""
