// SPDX-License-Identifier: MIT OR Apache-2.0
// The words of dma_vectorizer_map_pkg, once more by hand. `Inside` is 1 where the registers are looked at by
// themselves. Times have one more bit there, which is 0 behind the block that refuses larger ones.

localparam logic [31:0] Page = 32'hffff_f000;
function automatic place_t place_of(input logic [11:0] at);
    case (at)
        CONTROL:               return setting(32'd1, 32'd0);
        HOST_FIRST, NIC_FIRST: return setting(Page, 32'h1000);
        HOST_LAST, NIC_LAST:   return setting(Page, 32'd0);
        HOST_FIRST + 12'd4, HOST_LAST + 12'd4, NIC_FIRST + 12'd4, NIC_LAST + 12'd4:
                               return setting('1, 32'd0);
        IDLE_TIME:             return setting(Inside ? 32'h1ffff : 32'hffff, 32'd16);
        FLUSH_TIME:            return setting(Inside ? 32'h1ffff : 32'hffff, 32'd64);
        IDENTITY:              return constant("LSDV");
        VERSION:               return constant({16'd1, 16'd0});
        CAPABILITIES:          return constant({8'd0, 8'd8, 8'd15, 8'd8});
        RETURN:                return Told;
        default:               return at >= ELEMENTS && at <= REFUSED + 12'd4 && at[1:0] == 0 ? Told : Nothing;
    endcase
endfunction
