// SPDX-License-Identifier: MIT OR Apache-2.0
// In the place of index_operation, whose job proves it: it leaves any entry, and answers anything; but what it says for the next
// comparisons is true of that entry, in which no key is twice if none was before.
`include "../rules/rule.svh"
module index_operation
    import index_pkg::*;
#(
    parameter int unsigned Objects    = 2,
    parameter int unsigned ValueWords = 1,
    parameter int unsigned MostPins   = 255,
    localparam int unsigned HandBits   = Objects == 1 ? 1 : $clog2(Objects),
    localparam int unsigned PinBits    = $clog2(MostPins + 1),
    localparam int unsigned ObjectBits = 64 * ValueWords + 116 + PinBits,
    localparam int unsigned EntryBits  = 22 + DirectoryBits + HandBits + Objects * ObjectBits
) (
    input  logic                     enable_i,
    input  operation_t               operation_i,
    input  request_t                 request_i,
    input  logic [64*ValueWords-1:0] value_i,
    input  logic [EntryBits-1:0]     entry_i,
    input  logic [Objects-1:0]       match_i,
    input  logic [Objects-1:0]       same_owner_i,
    input  logic [Objects-1:0]       same_version_i,
    input  logic [Objects-1:0]       pinned_i,
    input  logic [Objects-1:0]       most_i,
    input  logic                     fresh_i,
    input  logic [5:0]               limit_i,
    input  logic [6:0]               more_i,
    output logic [EntryBits-1:0]     entry_o,
    output logic [Objects-1:0]       placed_o,
    output logic [Objects-1:0]       owner_taken_o,
    output logic [Objects-1:0]       version_taken_o,
    output logic [Objects-1:0]       pinned_o,
    output logic [Objects-1:0]       most_o,
    output logic                     epoch_grows_o,
    output logic [3:0]               status_o,
    output logic                     is_found_o,
    output logic                     has_content_o,
    output logic                     is_locked_o,
    output logic [15:0]              owner_o,
    output logic [31:0]              version_o,
    output logic [64*ValueWords-1:0] value_o,
    output logic [6:0]               slots_o
);
    // The block has no clock; that of the wrapper stands in.
    logic [EntryBits-1:0]      left;
    logic [Objects-1:0]        placed, owner_taken, version_taken;
    logic                      grows;
    logic [64*ValueWords+61:0] told;
    anything #(.Width(EntryBits)) i_left (.clk_i(index_entries_formal.clk_i), .value_o(left));
    anything #(.Width(3*Objects + 1)) i_taken (.clk_i(index_entries_formal.clk_i), .value_o({placed, owner_taken, version_taken, grows}));
    anything #(.Width(64*ValueWords + 62)) i_told (.clk_i(index_entries_formal.clk_i), .value_o(told));
    assign {status_o, is_found_o, has_content_o, is_locked_o, owner_o, version_o, value_o, slots_o} = told;

    assign placed_o        = enable_i ? placed : '0;
    assign owner_taken_o   = enable_i ? owner_taken : '0;
    assign version_taken_o = enable_i ? version_taken : '0;
    assign epoch_grows_o   = enable_i && grows;
    // Where these stand: of an object pins, owner, version and key, above four flags.
    localparam int unsigned At = 22 + DirectoryBits + HandBits;
    always_comb begin
        entry_o = enable_i ? left : entry_i;
        entry_o[6 + HandBits +: 16] = entry_i[6 + HandBits +: 16] + 16'(epoch_grows_o);
        for (int unsigned n = 0; n < Objects; n++) begin
            entry_o[At + n*ObjectBits + 4 + PinBits +: 16] = owner_taken_o[n] ? request_i.owner
                : entry_i[At + n*ObjectBits + 4 + PinBits +: 16];
            entry_o[At + n*ObjectBits + 20 + PinBits +: 32] = version_taken_o[n] ? request_i.version
                : entry_i[At + n*ObjectBits + 20 + PinBits +: 32];
            entry_o[At + n*ObjectBits + 52 + PinBits +: 64] = placed_o[n] ? request_i.key
                : entry_i[At + n*ObjectBits + 52 + PinBits +: 64];
            pinned_o[n] = entry_o[At + n*ObjectBits + 4 +: PinBits] != 0;
            most_o[n]   = entry_o[At + n*ObjectBits + 4 +: PinBits] == PinBits'(MostPins);
        end
    end
    logic unused;
    assign unused = ^{operation_i, value_i, match_i, same_owner_i, same_version_i, pinned_i, most_i, fresh_i, limit_i, more_i};
endmodule
