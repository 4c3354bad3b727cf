// Generated from hw/regs by hw/regs/generate; do not edit.
// sources-sha256: f98651c93cbc977cddb4ee2c2d070698e19cf970541bc2c1ac6b670b0b1ac7da cores.py verilog.py
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
