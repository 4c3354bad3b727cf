// Generated from hw/regs by hw/regs/generate; do not edit.
// sources-sha256: 38bc4d28d1001033159a9bc0decdb2a28634abe826fca59311d82b44ecb98176 cores.py verilog.py
// body-sha256: 5f9baf57b57eb0a48312ad5dda2d63c31fed4986d0433be24a3cbeb212d318a1
// All files of visibility, each after those that it needs.
crc32c_pkg.sv
../common/lut_ram.sv
delta_page_table.sv
divide_by_127.sv
../common/lut_fifo.sv
entry_stream.sv
walk_pkg.sv
page_checker.sv
page_map_cache.sv
page_results.sv
page_lookup.sv
read_port.sv
row_output.sv
version_walk.sv
vid_stream.sv
visibility_walk.sv
