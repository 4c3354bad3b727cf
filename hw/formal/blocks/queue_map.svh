// SPDX-License-Identifier: MIT OR Apache-2.0
// The words of queue_map_pkg, once more by hand. `Inside` is 1 where the registers are looked at by themselves.

// Words that the engine changes, too.
localparam place_t Changed = '{1'b1, 1'b1, '0, '0};
function automatic place_t place_of(input logic [11:0] at);
    case (at)
        CONTROL:                                                 return Inside ? setting(32'd1, 32'd0) : Changed;
        ISR:                                                     return Inside ? setting(32'd3, 32'd0) : Changed;
        SUBMISSION_TAIL, COMPLETION_HEAD:                        return Inside ? setting(32'hffff, 32'd0) : Changed;
        GIE:                                                     return setting(32'd1, 32'd0);
        IER:                                                     return setting(32'd3, 32'd0);
        SUBMISSION_BASE, COMPLETION_BASE:                        return setting(~32'd63, 32'd0);
        SUBMISSION_BASE + 12'd4, COMPLETION_BASE + 12'd4:        return setting('1, 32'd0);
        LOG2_ENTRIES:                                            return setting(32'd15, 32'd0);
        IDENTITY:                                                return constant("LSQU");
        VERSION:                                                 return constant({16'd1, 16'd2});
        CAPABILITIES:                                            return Inside ? Told : constant({16'd0, 8'd12, 8'd1});
        RETURN, SUBMISSION_HEAD, COMPLETION_TAIL, queue_map_pkg::ERROR: return Told;
        default: return at >= SUBMISSIONS && at <= FAILURES + 12'd4 && at[1:0] == 0 ? Told : Nothing;
    endcase
endfunction
