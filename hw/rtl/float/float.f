// Generated from hw/regs by hw/regs/generate; do not edit.
// sources-sha256: 8a11454be0a0e2f8c1e739cea101f16b2a8050c6259cc46b8923794f16bcfe4a cores.py verilog.py
// body-sha256: 2587f89d55141d2e78b4d2939ed1e92a43869ed6d38f9eae7ea4bf78fc39f8e9
// All files of float, each after those that it needs.
float_pkg.sv
float_add.sv
float_multiply.sv
integer_multiply.sv
arithmetic_unit.sv
