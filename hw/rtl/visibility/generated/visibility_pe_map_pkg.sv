// Generated from hw/regs by hw/regs/generate; do not edit.
// sources-sha256: 2b985e83d38698ecef53d5310f50792524d4ad2009f2753af71eaf520e267f5c model.py properties.rdl requirements.txt systemverilog.py visibility_pe.rdl
// body-sha256: f566a801ffbb259245d1c2cb6a4c0ce8c6d89f4359b74a5e350d779266c0bcab
// Offsets of the visibility element's registers, and the writes that are refused.
package visibility_pe_map_pkg;
    // Starts and ends a run. Writing 0 to a bit does nothing. The start of a run while another one is under way is refused with an error.
    localparam logic [11:0] CONTROL = 12'h000;
    // Global interrupt enable.
    localparam logic [11:0] GIE = 12'h004;
    // Interrupt enable, by cause.
    localparam logic [11:0] IER = 12'h008;
    // Interrupt status, by cause; write 1 to clear. An event in the clock of its clearing stays.
    localparam logic [11:0] ISR = 12'h00c;
    // Rows that the snapshot sees, of the run under way or of the last.
    localparam logic [11:0] RETURN = 12'h010;
    // Address of the job block, of 128 bytes, in device memory.
    localparam logic [11:0] JOB = 12'h020;
    // The characters LSVE.
    localparam logic [11:0] IDENTITY = 12'h100;
    // Version of the register map. A driver knows one major version.
    localparam logic [11:0] VERSION = 12'h104;
    // What the element has.
    localparam logic [11:0] CAPABILITIES = 12'h108;
    // Clocks from the start to the end.
    localparam logic [11:0] CLOCKS = 12'h200;
    // VIDs visited.
    localparam logic [11:0] VIDS = 12'h208;
    // Versions looked at.
    localparam logic [11:0] HOPS = 12'h210;
    // Rows that the snapshot sees.
    localparam logic [11:0] VISIBLE = 12'h218;
    // Rows that were emitted.
    localparam logic [11:0] EMITTED = 12'h220;
    // VIDs that ended with a fault, of the walk or of the program.
    localparam logic [11:0] FAULTS = 12'h228;
    // Lines read by walks.
    localparam logic [11:0] LINE_READS = 12'h230;
    // Pages checked.
    localparam logic [11:0] PAGE_CHECKS = 12'h238;
    // Lines of the L2P map that were not at hand.
    localparam logic [11:0] PAGE_MAP_MISSES = 12'h240;
    // Clocks in which a beat of a packet was offered and not taken.
    localparam logic [11:0] OUTPUT_STALLS = 12'h248;

    // Whether a write to a register that takes writes is refused all the same: the value
    // is impossible, the block is enabled, or bytes are missing.
    function automatic logic write_refused(
        input logic [11:0] address,
        input logic [31:0] data,
        input logic [3:0] strobe,
        input logic enabled
    );
        case (address)
            12'h020: return strobe != 4'hf || enabled || data[5:0] != 0;  // JOB
            12'h024: return strobe != 4'hf || enabled;  // JOB
            default: return strobe != 4'hf;
        endcase
    endfunction
endpackage
