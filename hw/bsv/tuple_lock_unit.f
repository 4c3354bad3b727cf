// Generated from hw/regs by hw/regs/generate; do not edit.
// sources-sha256: 8a11454be0a0e2f8c1e739cea101f16b2a8050c6259cc46b8923794f16bcfe4a cores.py verilog.py
// body-sha256: a148826502484d560bab56bbf281ee2a284c4831425919ddcf8f53cb6b08a880
// All files of tuple_lock_unit, each after those that it needs.
../rtl/common/lut_ram.sv
generated/tuple_lock_unit.v
