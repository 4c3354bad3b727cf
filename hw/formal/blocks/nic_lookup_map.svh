// SPDX-License-Identifier: MIT OR Apache-2.0
// The words of nic_lookup_map_pkg, once more by hand. `Inside` is 1 where the registers are looked at by
// themselves. Times have one more bit there, which is 0 behind the block that refuses larger ones.
function automatic place_t place_of(input logic [11:0] at);
    case (at)
        CONTROL:            return setting(32'd3, 32'd0);
        MORE:               return setting('1, 32'd2);
        VALUE_BYTES, MOST_READINGS:
                            return setting('1, 32'd8);
        IDLE_TIME:          return setting(Inside ? 32'h1ffff : 32'hffff, 32'd16);
        FLUSH_TIME:         return setting(Inside ? 32'h1ffff : 32'hffff, 32'd64);
        TABLE_BASE, TABLE_BASE + 12'd4, SLOTS, LIMIT, SEGMENT_SHIFT, DIRECTORY_BASE, DIRECTORY_BASE + 12'd4,
        OVERFLOW_BASE, OVERFLOW_BASE + 12'd4, OVERFLOW_SLOTS, INDEX_BASE, INDEX_BASE + 12'd4, SEGMENTS:
                            return setting('1, 32'd0);
        IDENTITY:           return constant("LSNL");
        VERSION:            return constant({16'd1, 16'd0});
        CAPABILITIES:       return Inside ? Told : constant({8'd24, 4'd7, 4'd1, 16'd32});
        CAPABILITIES_INDEX: return Inside ? Told : constant({8'd32, 8'd255, 4'd2, 4'd2, 8'd12});
        RETURN, SETTINGS_ERROR, FLUSH:
                            return Told;
        default: return at >= REQUESTS && at <= INDEX_ERRORS + 12'd4 && at[1:0] == 0 ? Told : Nothing;
    endcase
endfunction
