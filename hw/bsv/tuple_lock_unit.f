// Generated from hw/regs by hw/regs/generate; do not edit.
// sources-sha256: ea8406dc7257e88c5775b336fb4a9bd0c3ef2546fd4e9865a293dd9a8ae5d6fb cores.py verilog.py
// body-sha256: a148826502484d560bab56bbf281ee2a284c4831425919ddcf8f53cb6b08a880
// All files of tuple_lock_unit, each after those that it needs.
../rtl/common/lut_ram.sv
generated/tuple_lock_unit.v
