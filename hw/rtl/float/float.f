// Generated from hw/regs by hw/regs/generate; do not edit.
// sources-sha256: ea8406dc7257e88c5775b336fb4a9bd0c3ef2546fd4e9865a293dd9a8ae5d6fb cores.py verilog.py
// body-sha256: 2587f89d55141d2e78b4d2939ed1e92a43869ed6d38f9eae7ea4bf78fc39f8e9
// All files of float, each after those that it needs.
float_pkg.sv
float_add.sv
float_multiply.sv
integer_multiply.sv
arithmetic_unit.sv
