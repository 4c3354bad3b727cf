// Generated from hw/regs by hw/regs/generate; do not edit.
// sources-sha256: f98651c93cbc977cddb4ee2c2d070698e19cf970541bc2c1ac6b670b0b1ac7da cores.py verilog.py
// body-sha256: 2587f89d55141d2e78b4d2939ed1e92a43869ed6d38f9eae7ea4bf78fc39f8e9
// All files of float, each after those that it needs.
float_pkg.sv
float_add.sv
float_multiply.sv
integer_multiply.sv
arithmetic_unit.sv
