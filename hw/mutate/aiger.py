# SPDX-License-Identifier: MIT OR Apache-2.0
"""A circuit of AND gates, as Yosys writes it as text, with some of its inputs fixed or joined, as ABC reads it."""

import re
from dataclasses import dataclass, replace

# It is 0 in the first clock of a run, in which there is a reset (hw/formal/rules/power_up.sv).
STARTED = re.compile(r"gold\.(\w+\.)*i_power_up\.started_q")


@dataclass
class Circuit:
    inputs: list  # their literals
    latches: list  # literal and literal of the next value; each begins with 0
    bad: list
    constraints: list  # each is 1 in all runs
    gates: list  # literal, two inputs

    def with_inputs(self, replaced):
        """The same with other literals in the place of those of some inputs."""

        def one(literal):
            return replaced.get(literal & ~1, literal & ~1) ^ (literal & 1)

        return Circuit(
            self.inputs,
            [(latch, one(after)) for latch, after in self.latches],
            [one(literal) for literal in self.bad],
            [one(literal) for literal in self.constraints],
            [(gate, one(first), one(second)) for gate, first, second in self.gates],
        )

    def watched_while(self, literal):
        """The same, bad only while a literal of an input or a latch is 1."""
        first = 2 * (len(self.inputs) + len(self.latches) + len(self.gates) + 1)
        watched = [first + 2 * number for number in range(len(self.bad))]
        gates = [(gate, bad, literal) for gate, bad in zip(watched, self.bad, strict=True)]
        return replace(self, bad=watched, gates=[*self.gates, *gates])

    def binary(self):
        counts = [len(self.inputs), len(self.latches), 0, len(self.gates), len(self.bad), len(self.constraints)]
        total = counts[0] + counts[1] + counts[3]
        lines = [f"aig {total} {' '.join(map(str, counts))}"]
        lines += [str(after) for _, after in self.latches]
        lines += [str(literal) for literal in [*self.bad, *self.constraints]]
        coded = b"".join(delta(gate - max(inputs)) + delta(max(inputs) - min(inputs)) for gate, *inputs in self.gates)
        return ("\n".join(lines) + "\n").encode() + coded


def delta(number):
    """Seven bits a byte, the lowest first; the top bit says that more follow."""
    result = bytearray()
    while number >= 0x80:
        result.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*result, number])


def read(text):
    lines = text.splitlines()
    kind, _, *counts = lines[0].split()
    inputs, latches, outputs, gates, bad, constraints = [*map(int, counts), 0, 0][:6]
    if kind != "aag" or outputs:
        raise ValueError(f"expected a circuit with no outputs, found {lines[0]}")
    rows = iter([*map(int, line.split())] for line in lines[1:])
    return Circuit(
        [next(rows)[0] for _ in range(inputs)],
        [tuple(next(rows)[:2]) for _ in range(latches)],
        [next(rows)[0] for _ in range(bad)],
        [next(rows)[0] for _ in range(constraints)],
        [tuple(next(rows)) for _ in range(gates)],
    )


def names(text):
    """Of Yosys' list of names: (kind, bit, name) of each number of an input or of a latch."""
    result = {}
    for line in text.splitlines():
        if line.startswith(("input ", "init ", "latch ")):
            kind, number, bit, name = line.split(maxsplit=3)
            result.setdefault(int(number), []).append((kind, int(bit), name))
    return result


def with_mutant(circuit, named, mutant):
    """The miter for one mutant: chosen, and with both copies in the same state when they begin. What they do in their
    first clock, in which they are reset from any state, does not count."""
    begins, replaced = {}, {}
    for number, known in named.items():
        for kind, bit, name in known:
            if kind == "input" and name in ("mutant", "in_mutant"):
                replaced[circuit.inputs[number]] = mutant >> bit & 1
            elif kind == "init" and name.startswith("gold."):
                begins[name.removeprefix("gold."), bit] = circuit.inputs[number]
            elif kind == "latch" and STARTED.fullmatch(name):
                circuit = circuit.watched_while(circuit.latches[number][0])
    for number, known in named.items():
        for kind, bit, name in known:
            if kind == "init" and name.startswith("gate.") and (name.removeprefix("gate."), bit) in begins:
                replaced[circuit.inputs[number]] = begins[name.removeprefix("gate."), bit]
    return circuit.with_inputs(replaced)
