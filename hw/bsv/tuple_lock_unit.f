// Generated from hw/regs by hw/regs/generate; do not edit.
// sources-sha256: 38bc4d28d1001033159a9bc0decdb2a28634abe826fca59311d82b44ecb98176 cores.py verilog.py
// body-sha256: a148826502484d560bab56bbf281ee2a284c4831425919ddcf8f53cb6b08a880
// All files of tuple_lock_unit, each after those that it needs.
../rtl/common/lut_ram.sv
generated/tuple_lock_unit.v
