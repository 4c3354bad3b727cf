// Generated from hw/regs by hw/regs/generate; do not edit.
// sources-sha256: ea8406dc7257e88c5775b336fb4a9bd0c3ef2546fd4e9865a293dd9a8ae5d6fb cores.py verilog.py
// body-sha256: cd4f1241e73c7471c7a2126b80e45b9d13fe08b758c7f602800bb37903894b99
// All files of lock, each after those that it needs.
../common/clock_gate.sv
../common/quiet_watch.sv
../common/activity_clock.sv
../common/lut_ram.sv
../../bsv/generated/tuple_lock_unit.v
lock_block.sv
../queue/queue_pkg.sv
lock_port.sv
