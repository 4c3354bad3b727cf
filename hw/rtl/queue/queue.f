// Generated from hw/regs by hw/regs/generate; do not edit.
// sources-sha256: ea8406dc7257e88c5775b336fb4a9bd0c3ef2546fd4e9865a293dd9a8ae5d6fb cores.py verilog.py
// body-sha256: e886cc072ddd32996154af26d5ea15a0e1090155812070eae3de90c0491daf02
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
../common/register_access.sv
queue_block.sv
../common/take_turns.sv
queue_memory_port.sv
