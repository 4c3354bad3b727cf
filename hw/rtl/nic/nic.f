// Generated from hw/regs by hw/regs/generate; do not edit.
// sources-sha256: 38bc4d28d1001033159a9bc0decdb2a28634abe826fca59311d82b44ecb98176 cores.py verilog.py
// body-sha256: 655c9c499df904831a169567c8cc62cc7f8d3f1674a884aafd1dbfa1e1f22a2a
// All files of nic, each after those that it needs.
probe_scan_pkg.sv
probe_lines.sv
probe_result.sv
probe_slots.sv
stream_buffer.sv
probe_scan.sv
