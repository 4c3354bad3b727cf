// Generated from hw/regs by hw/regs/generate; do not edit.
// sources-sha256: 38bc4d28d1001033159a9bc0decdb2a28634abe826fca59311d82b44ecb98176 cores.py verilog.py
// body-sha256: 4053c0cac1ee8b1597203787a3da137cca0c6cdeaa595f49c79553a24691f884
// All files of nic, each after those that it needs.
byte_aligner.sv
vector_pkg.sv
../common/block_ram.sv
../common/lut_ram.sv
../common/lut_fifo.sv
piece_landing.sv
piece_splitter.sv
piece_tally.sv
piece_writer.sv
copy_path.sv
done_merge.sv
element_check.sv
vector_fill.sv
vector_queue.sv
vector_turns.sv
vector_engine.sv
generated/dma_vectorizer_map_pkg.sv
generated/dma_vectorizer_registers_pkg.sv
generated/dma_vectorizer_registers.sv
vectorizer_block.sv
../common/axi_lite_blocks.sv
dma_vectorizer.sv
take_turns.sv
entry_chooser.sv
home_address.sv
index_pkg.sv
index_operation.sv
index_entries.sv
index_memory_port.sv
index_misses.sv
index_tags.sv
lookup_pkg.sv
generated/nic_lookup_map_pkg.sv
generated/nic_lookup_registers_pkg.sv
generated/nic_lookup_registers.sv
lookup_block.sv
nic_index_cache.sv
nic_lookup.sv
probe_scan_pkg.sv
probe_lines.sv
probe_result.sv
probe_slots.sv
stream_buffer.sv
probe_scan.sv
