// Generated from hw/regs by hw/regs/generate; do not edit.
// sources-sha256: 00ee1cc37a54bb5c8ba0135004b36ba3d769339b4e342b03e4c4ddf460784aa4 model.py properties.rdl requirements.txt shell.rdl systemverilog.py
// body-sha256: 0d8c5b7593c31d094398b69a39a78ee3efeac4addddb445050101980b98a517a
// Offsets of the shell's registers, and the writes that are refused.
package shell_map_pkg;
    // Keeps what is written, for tests of 8-bit accesses.
    localparam logic [11:0] SCRATCH_8 = 12'h020;
    // Keeps what is written, for tests of 16-bit accesses.
    localparam logic [11:0] SCRATCH_16 = 12'h024;
    // Keeps what is written, for tests of 32-bit accesses.
    localparam logic [11:0] SCRATCH_32 = 12'h028;
    // Keeps what is written, for tests of 64-bit accesses.
    localparam logic [11:0] SCRATCH_64 = 12'h030;
    // Raises interrupts by hand: each bit that is written as 1 raises its vector once.
    localparam logic [11:0] INTERRUPT_FORCE = 12'h040;
    // The characters LSDV.
    localparam logic [11:0] IDENTITY = 12'h100;
    // Version of the register map. A driver knows one major version.
    localparam logic [11:0] VERSION = 12'h104;
    // What the device has.
    localparam logic [11:0] CAPABILITIES = 12'h108;
    // Interrupts raised on vector n since reset.
    localparam logic [11:0] INTERRUPT_COUNT = 12'h200;

    // Whether a write to a register that takes writes is refused all the same: the value
    // is impossible, the block is enabled, or bytes are missing.
    function automatic logic write_refused(
        input logic [11:0] address,
        input logic [3:0] strobe
    );
        case (address)
            12'h020: return 1'b0;  // SCRATCH_8
            12'h024: return 1'b0;  // SCRATCH_16
            12'h028: return 1'b0;  // SCRATCH_32
            12'h030: return 1'b0;  // SCRATCH_64
            12'h034: return 1'b0;  // SCRATCH_64
            default: return strobe != 4'hf;
        endcase
    endfunction
endpackage
