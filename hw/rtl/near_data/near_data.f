// Generated from hw/regs by hw/regs/generate; do not edit.
// sources-sha256: ea8406dc7257e88c5775b336fb4a9bd0c3ef2546fd4e9865a293dd9a8ae5d6fb cores.py verilog.py
// body-sha256: 6035b494b674b197bcdf09929ce73bf23cfbf624017c0a90ff0559a1f23241fc
// All files of near_data, each after those that it needs.
job_loader.sv
program_pkg.sv
../float/float_pkg.sv
../float/float_add.sv
../float/float_multiply.sv
../float/integer_multiply.sv
../float/arithmetic_unit.sv
lane_execute.sv
../common/block_ram.sv
../common/lut_ram.sv
program_lane.sv
../common/take_turns.sv
program_lanes.sv
