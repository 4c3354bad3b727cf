// Generated from hw/regs by hw/regs/generate; do not edit.
// sources-sha256: 38bc4d28d1001033159a9bc0decdb2a28634abe826fca59311d82b44ecb98176 cores.py verilog.py
// body-sha256: 40c42100351cccc4fb0b627a50a5dc5d6f966a99782957d03cf86a1146d7e11e
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
dma_vectorizer.sv
probe_scan_pkg.sv
probe_lines.sv
probe_result.sv
probe_slots.sv
stream_buffer.sv
probe_scan.sv
