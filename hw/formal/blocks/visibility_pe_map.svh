// SPDX-License-Identifier: MIT OR Apache-2.0
// The words of visibility_pe_map_pkg, once more by hand. `Inside` is 1 where the registers are looked at by themselves.

// Words that the element changes, too.
localparam place_t Changed = '{1'b1, 1'b1, '0, '0};
function automatic place_t place_of(input logic [11:0] at);
    case (at)
        CONTROL:      return Inside ? setting(32'd3, 32'd0) : Changed;
        ISR:          return Inside ? setting(32'd1, 32'd0) : Changed;
        GIE, IER:     return setting(32'd1, 32'd0);
        JOB:          return setting(~32'd63, 32'd0);
        JOB + 12'd4:  return setting('1, 32'd0);
        IDENTITY:     return constant("LSVE");
        VERSION:      return constant({16'd1, 16'd0});
        CAPABILITIES, RETURN: return Told;
        default:      return at >= CLOCKS && at <= OUTPUT_STALLS + 12'd4 && at[1:0] == 0 ? Told : Nothing;
    endcase
endfunction
