// Generated from hw/regs by hw/regs/generate; do not edit.
// sources-sha256: c5b1e236d4d775f8213e87ad2d357e5b0afec0b41bac3bc613bafd4652436548 model.py properties.rdl queue.rdl requirements.txt systemverilog.py
// body-sha256: 0c1efc3b46e7b70a9ecc00fcc619fb42bfb9ce4f3df430f97f316f0acf32279d
// Offsets of the queue's registers, and the writes that are refused.
package queue_map_pkg;
    // Switches the queue on. Enabling sets the four counts and ERROR to 0; an error disables it.
    localparam logic [11:0] CONTROL = 12'h000;
    // Global interrupt enable.
    localparam logic [11:0] GIE = 12'h004;
    // Interrupt enable, by cause.
    localparam logic [11:0] IER = 12'h008;
    // Interrupt status, by cause; write 1 to clear. An event in the clock of its clearing stays.
    localparam logic [11:0] ISR = 12'h00c;
    // Lock requests: submissions fetched. All others: submissions fetched and not completed.
    localparam logic [11:0] RETURN = 12'h010;
    // Device address of the submission ring.
    localparam logic [11:0] SUBMISSION_BASE = 12'h020;
    // Device address of the completion ring.
    localparam logic [11:0] COMPLETION_BASE = 12'h030;
    // Size of both rings.
    localparam logic [11:0] LOG2_ENTRIES = 12'h040;
    // The doorbell: submissions written since the queue was enabled.
    localparam logic [11:0] SUBMISSION_TAIL = 12'h050;
    // Completions consumed since the queue was enabled.
    localparam logic [11:0] COMPLETION_HEAD = 12'h060;
    // Submissions fetched since the queue was enabled.
    localparam logic [11:0] SUBMISSION_HEAD = 12'h070;
    // Completions written since the queue was enabled.
    localparam logic [11:0] COMPLETION_TAIL = 12'h080;
    // Why the queue halted.
    localparam logic [11:0] ERROR = 12'h090;
    // The characters LSQU.
    localparam logic [11:0] IDENTITY = 12'h100;
    // Version of the register map. A driver knows one major version.
    localparam logic [11:0] VERSION = 12'h104;
    // What the queue does.
    localparam logic [11:0] CAPABILITIES = 12'h108;
    // Submissions fetched.
    localparam logic [11:0] SUBMISSIONS = 12'h200;
    // Completions written.
    localparam logic [11:0] COMPLETIONS = 12'h208;
    // Interrupts raised.
    localparam logic [11:0] INTERRUPTS = 12'h210;
    // Bytes moved by copies, or written to result buffers by jobs; 0 of others.
    localparam logic [11:0] BYTES_MOVED = 12'h218;
    // Submissions that ended with a status other than 0.
    localparam logic [11:0] FAILURES = 12'h220;

    // Whether a write to a register that takes writes is refused all the same: the value
    // is impossible, the block is enabled, or bytes are missing.
    function automatic logic write_refused(
        input logic [11:0] address,
        input logic [31:0] data,
        input logic [3:0] strobe,
        input logic enabled
    );
        case (address)
            12'h020: return strobe != 4'hf || enabled || data[5:0] != 0;  // SUBMISSION_BASE
            12'h024: return strobe != 4'hf || enabled;  // SUBMISSION_BASE
            12'h030: return strobe != 4'hf || enabled || data[5:0] != 0;  // COMPLETION_BASE
            12'h034: return strobe != 4'hf || enabled;  // COMPLETION_BASE
            12'h040: return strobe != 4'hf || enabled || data < 32'd1 || data > 32'd12;  // LOG2_ENTRIES
            default: return strobe != 4'hf;
        endcase
    endfunction
endpackage
