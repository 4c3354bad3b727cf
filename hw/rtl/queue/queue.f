// Generated from hw/regs by hw/regs/generate; do not edit.
// sources-sha256: 31c564c54e34f980e534522a7738ce931ac4e0816ebfba9c72e79e990ace8955 cores.py verilog.py
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
