// SPDX-License-Identifier: MIT OR Apache-2.0
// The words of shell_map_pkg, once more by hand. `Inside` is 1 where the registers are looked at by themselves.
function automatic place_t place_of(input logic [11:0] at);
    case (at)
        SCRATCH_8:       return setting(32'hff, 32'd0);
        SCRATCH_16:      return setting(32'hffff, 32'd0);
        SCRATCH_32, SCRATCH_64, SCRATCH_64 + 12'd4:
                         return setting('1, 32'd0);
        INTERRUPT_FORCE: return '{1'b0, 1'b1, '0, '0};
        IDENTITY:        return constant("LSDV");
        VERSION:         return constant({16'd1, 16'd2});
        CAPABILITIES:    return Inside ? Told : constant({8'd0, 8'd26, 8'd6, 8'd4});
        default: return at >= INTERRUPT_COUNT && at < INTERRUPT_COUNT + 12'd24 && at[1:0] == 0 ? Told : Nothing;
    endcase
endfunction
