// Generated from hw/regs by hw/regs/generate; do not edit.
// sources-sha256: aee4e764430b36227ec7934a34f7b0d107791ee7aac16ad7aaca05dc3d00199c cores.py verilog.py
// body-sha256: 2c22543d39137c08ee2f04fc9376d4ce1e1497bef37c55e6f8c88c17665c4483
// All files of visibility_pe, each after those that it needs.
axi_lite_blocks.sv
job_loader.sv
block_ram.sv
float_pkg.sv
float_add.sv
float_multiply.sv
integer_multiply.sv
arithmetic_unit.sv
program_pkg.sv
lane_execute.sv
lut_ram.sv
program_lane.sv
program_lanes.sv
generated/visibility_pe_map_pkg.sv
generated/visibility_pe_registers_pkg.sv
generated/visibility_pe_registers.sv
lut_fifo.sv
entry_stream.sv
delta_page_table.sv
crc32c_pkg.sv
walk_pkg.sv
page_checker.sv
divide_by_127.sv
page_map_cache.sv
page_results.sv
page_lookup.sv
read_port.sv
row_output.sv
version_walk.sv
vid_stream.sv
visibility_walk.sv
visibility_pe.sv
