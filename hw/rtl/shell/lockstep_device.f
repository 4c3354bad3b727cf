// Generated from hw/regs by hw/regs/generate; do not edit.
// sources-sha256: 38bc4d28d1001033159a9bc0decdb2a28634abe826fca59311d82b44ecb98176 cores.py verilog.py
// body-sha256: 217b99b09fd07ff4a7cd1d0627c535dd7e5d94510de44a21fbfad897b5c98df5
// All files of lockstep_device, each after those that it needs.
../common/axi_lite_blocks.sv
../queue/queue_pkg.sv
../queue/copy_engine.sv
../common/interrupt_collector.sv
../queue/job_port.sv
../common/clock_gate.sv
../common/quiet_watch.sv
../common/activity_clock.sv
../common/lut_ram.sv
../../bsv/generated/tuple_lock_unit.v
../lock/lock_block.sv
../lock/lock_port.sv
../nic/lookup_port.sv
../nic/lookup_pkg.sv
../nic/generated/nic_lookup_map_pkg.sv
../nic/generated/nic_lookup_registers_pkg.sv
../nic/generated/nic_lookup_registers.sv
../nic/lookup_block.sv
../nic/nic_lookup.sv
../nic/stream_buffer.sv
../nic/lookup_unit.sv
../queue/completion_store.sv
../queue/submission_fetch.sv
../queue/queue_engine.sv
../queue/generated/queue_map_pkg.sv
../queue/generated/queue_registers_pkg.sv
../queue/generated/queue_registers.sv
../queue/queue_block.sv
../queue/queue_memory_port.sv
generated/shell_map_pkg.sv
generated/shell_registers_pkg.sv
generated/shell_registers.sv
shell_block.sv
lockstep_device.sv
