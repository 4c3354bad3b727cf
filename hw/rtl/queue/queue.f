// Generated from hw/regs by hw/regs/generate; do not edit.
// sources-sha256: f98651c93cbc977cddb4ee2c2d070698e19cf970541bc2c1ac6b670b0b1ac7da cores.py verilog.py
// body-sha256: 07aefc1d5ffd7ba1ed06710bbd7f33591b7aff8b6a5f2567ef6d7bdc25c09f73
// All files of queue, each after those that it needs.
queue_pkg.sv
completion_store.sv
copy_engine.sv
job_port.sv
../common/lut_ram.sv
submission_fetch.sv
queue_engine.sv
generated/queue_map_pkg.sv
generated/queue_registers_pkg.sv
generated/queue_registers.sv
../common/clock_gate.sv
../common/quiet_watch.sv
../common/activity_clock.sv
queue_block.sv
../common/take_turns.sv
queue_memory_port.sv
