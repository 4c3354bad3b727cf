// SPDX-License-Identifier: MIT OR Apache-2.0
// The step of the lock unit as Bluespec's compiler writes it: not any step, but one that no top is made of, so that it is
// not among the sources that the proofs know by themselves.
`include "../../bsv/generated/lock_step.v"
