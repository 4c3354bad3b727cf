// Generated from hw/regs by hw/regs/generate; do not edit.
// sources-sha256: 31c564c54e34f980e534522a7738ce931ac4e0816ebfba9c72e79e990ace8955 cores.py verilog.py
// body-sha256: 2587f89d55141d2e78b4d2939ed1e92a43869ed6d38f9eae7ea4bf78fc39f8e9
// All files of float, each after those that it needs.
float_pkg.sv
float_add.sv
float_multiply.sv
integer_multiply.sv
arithmetic_unit.sv
