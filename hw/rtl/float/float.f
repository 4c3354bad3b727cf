// Generated from hw/regs by hw/regs/generate; do not edit.
// sources-sha256: 40bd5ca1b7a791f54646426d18c7782d9fce96df4a2f8bc5078dc3236227d0d6 cores.py verilog.py
// body-sha256: 2587f89d55141d2e78b4d2939ed1e92a43869ed6d38f9eae7ea4bf78fc39f8e9
// All files of float, each after those that it needs.
float_pkg.sv
float_add.sv
float_multiply.sv
integer_multiply.sv
arithmetic_unit.sv
