// Generated from hw/regs by hw/regs/generate; do not edit.
// sources-sha256: 1c24591b6956c9b6d3e59c7c8df4ebd4fc9672c5a45b281f53eac893f99e8ebe dma_vectorizer.rdl model.py properties.rdl requirements.txt systemverilog.py
// body-sha256: dc8be8ea22d39c4b7be5974f5615ac5c0785172e3d23624dede73ca04868eef8
// Offsets of the dma vectorizer's registers, and the writes that are refused.
package dma_vectorizer_map_pkg;
    // Switches the queues on. What was accepted before they are switched off is carried out. Settings can be written when they are off and RETURN is 0.
    localparam logic [11:0] CONTROL = 12'h000;
    // Elements that were accepted and have not ended.
    localparam logic [11:0] RETURN = 12'h010;
    // The first page of host memory that elements may touch.
    localparam logic [11:0] HOST_FIRST = 12'h020;
    // The last page of host memory that elements may touch, which is inside.
    localparam logic [11:0] HOST_LAST = 12'h030;
    // The first page of NIC memory that elements may touch.
    localparam logic [11:0] NIC_FIRST = 12'h040;
    // The last page of NIC memory that elements may touch, which is inside.
    localparam logic [11:0] NIC_LAST = 12'h050;
    // Clocks without a new element after which a queue sends its vectors.
    localparam logic [11:0] IDLE_TIME = 12'h060;
    // Clocks after which the oldest element of a vector has it sent.
    localparam logic [11:0] FLUSH_TIME = 12'h070;
    // The characters LSDV.
    localparam logic [11:0] IDENTITY = 12'h100;
    // Version of the register map. A driver knows one major version.
    localparam logic [11:0] VERSION = 12'h104;
    // What the vectorizer has.
    localparam logic [11:0] CAPABILITIES = 12'h108;
    // Elements accepted.
    localparam logic [11:0] ELEMENTS = 12'h200;
    // Vectors sent because they were full.
    localparam logic [11:0] VECTORS_FULL = 12'h208;
    // Vectors sent because their oldest element had waited for the flush time.
    localparam logic [11:0] VECTORS_FLUSHED = 12'h210;
    // Vectors sent because their queue was without a new element for the idle time.
    localparam logic [11:0] VECTORS_IDLE = 12'h218;
    // Bytes of elements that were asked of host memory.
    localparam logic [11:0] BYTES_READ = 12'h220;
    // Bytes of elements that were asked of NIC memory, to be written to the host's.
    localparam logic [11:0] BYTES_WRITTEN = 12'h228;
    // Elements that ended with an error, those that were refused among them.
    localparam logic [11:0] ERRORS = 12'h230;
    // Elements that were not begun: their length or a place is not allowed.
    localparam logic [11:0] REFUSED = 12'h238;

    // Whether a write to a register that takes writes is refused all the same: the value
    // is impossible, the block is enabled, or bytes are missing.
    function automatic logic write_refused(
        input logic [11:0] address,
        input logic [31:0] data,
        input logic [3:0] strobe,
        input logic enabled
    );
        case (address)
            12'h020: return strobe != 4'hf || enabled || data[11:0] != 0;  // HOST_FIRST
            12'h024: return strobe != 4'hf || enabled;  // HOST_FIRST
            12'h030: return strobe != 4'hf || enabled || data[11:0] != 0;  // HOST_LAST
            12'h034: return strobe != 4'hf || enabled;  // HOST_LAST
            12'h040: return strobe != 4'hf || enabled || data[11:0] != 0;  // NIC_FIRST
            12'h044: return strobe != 4'hf || enabled;  // NIC_FIRST
            12'h050: return strobe != 4'hf || enabled || data[11:0] != 0;  // NIC_LAST
            12'h054: return strobe != 4'hf || enabled;  // NIC_LAST
            12'h060: return strobe != 4'hf || enabled || data > 32'd65535;  // IDLE_TIME
            12'h070: return strobe != 4'hf || enabled || data > 32'd65535;  // FLUSH_TIME
            default: return strobe != 4'hf;
        endcase
    endfunction
endpackage
