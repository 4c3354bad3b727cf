// Generated from hw/regs by hw/regs/generate; do not edit.
// sources-sha256: 38bc4d28d1001033159a9bc0decdb2a28634abe826fca59311d82b44ecb98176 cores.py verilog.py
// body-sha256: 21259f7b048a59006185102badb0ae8aa589a538e27654962c832b4d2ec5e111
// All files of nic, each after those that it needs.
take_turns.sv
entry_chooser.sv
home_address.sv
index_pkg.sv
index_operation.sv
../common/block_ram.sv
index_entries.sv
../common/lut_ram.sv
index_memory_port.sv
index_misses.sv
index_tags.sv
../common/lut_fifo.sv
nic_index_cache.sv
probe_scan_pkg.sv
probe_lines.sv
probe_result.sv
probe_slots.sv
stream_buffer.sv
probe_scan.sv
