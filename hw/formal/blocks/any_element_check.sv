// SPDX-License-Identifier: MIT OR Apache-2.0
// In the place of element_check, whose job proves it: there is room for 16 elements, and each leaves once by one of the outputs,
// in order. Which one is anything here, but for elements without a length that may be. One element, which is any, is
// followed; the others are anything. What is asked of whoever uses it is proven here.
`include "../rules/rule.svh"
module element_check
    import vector_pkg::*;
#(
    parameter bit Writes = 1'b0
) (
    input  logic         clk_i,
    input  logic         rst_ni,
    input  logic [63:12] host_first_i,
    input  logic [63:12] host_last_i,
    input  logic [63:12] nic_first_i,
    input  logic [63:12] nic_last_i,
    output logic         ready_o,
    input  logic         take_i,
    input  logic         valid_i,
    input  logic [2:0]   queue_i,
    input  element_t     element_i,
    output logic         copy_valid_o,
    output copy_t        copy_o,
    input  logic         copy_ready_i,
    output logic         refused_valid_o,
    output done_t        refused_o,
    input  logic         refused_ready_i
);
    function automatic logic has_length(input logic [15:0] bytes);
        has_length = bytes >= 16'd1 && bytes <= 16'd4096;
    endfunction
    // Elements from `take_i` on. 1: of those that are refused. What comes can be seen two clocks later.
    logic [4:0]      places_q;
    logic [1:0][4:0] held_q;
    logic [1:0]      comes, came_q, leaves;
    logic            refuses, mark;
    assign ready_o         = places_q < 5'd16;
    assign comes           = {valid_i && refuses, valid_i && !refuses};
    assign copy_valid_o    = held_q[0] != 5'(came_q[0]);
    assign refused_valid_o = held_q[1] != 5'(came_q[1]);
    assign leaves          = {refused_valid_o && refused_ready_i, copy_valid_o && copy_ready_i};

    // The one that is followed.
    logic       begins, followed_q, refused_q, in_front;
    logic [4:0] ahead_q;
    logic [1:0] code, code_q;
    logic [2:0] queue_q;
    element_t   element_q;
    copy_t      other_copy, other_copy_q;
    done_t      other_end, other_end_q;
    logic       wants_to_refuse;
    anything #(.Width($bits(copy_t) + $bits(done_t) + 3)) i_any (
        .clk_i, .value_o({mark, wants_to_refuse, code[0], other_copy, other_end}));
    assign code[1]   = 1'b1;
    assign refuses   = wants_to_refuse || !has_length(element_i.bytes);
    assign begins    = valid_i && mark && !followed_q;
    assign in_front  = followed_q && ahead_q == 0 && (refused_q ? refused_valid_o : copy_valid_o);
    assign copy_o    = !(in_front && !refused_q) ? other_copy_q : '{
        target:     Writes ? element_q.host_address : element_q.nic_address,
        source:     Writes ? element_q.nic_address : element_q.host_address,
        bytes:      element_q.bytes[12:0],
        from_queue: queue_q,
        token:      element_q.token
    };
    assign refused_o = in_front && refused_q ? {code_q, queue_q, element_q.token} : other_end_q;
    always_ff @(posedge clk_i) begin
        came_q <= comes;
        for (int unsigned n = 0; n < 2; n++) held_q[n] <= held_q[n] + 5'(comes[n]) - 5'(leaves[n]);
        places_q <= places_q + 5'(take_i) - 5'(leaves[0]) - 5'(leaves[1]);
        if (leaves[0] || !copy_valid_o) other_copy_q <= other_copy;
        if (leaves[1] || !refused_valid_o) other_end_q <= other_end;
        if (begins) begin
            followed_q <= 1'b1;
            refused_q  <= refuses;
            code_q     <= code;
            queue_q    <= queue_i;
            element_q  <= element_i;
            ahead_q    <= held_q[refuses] - 5'(leaves[refuses]);
        end else if (followed_q && leaves[refused_q]) begin
            followed_q <= ahead_q != 0;
            ahead_q    <= ahead_q - 1'b1;
        end
        if (!rst_ni) begin
            came_q     <= '0;
            held_q     <= '0;
            places_q   <= '0;
            followed_q <= 1'b0;
        end
    end
    `RULE(other_copies_have_a_length, 0, has_length(16'(other_copy_q.bytes)))
    `RULE(other_ends_have_a_response, 0, other_end_q.response[1])
    // What is asked of its user.
    `RULE(element_is_taken_when_there_is_a_place, 1, !take_i || ready_o)
    `RULE(element_comes_after_it_was_taken, 1, valid_i == $past(rst_ni && take_i))
    // What induction needs.
    `RULE(elements_have_their_places, 1, 7'(places_q) == 7'(valid_i) + 7'(held_q[0]) + 7'(held_q[1])
        && held_q[0] >= 5'(came_q[0]) && held_q[1] >= 5'(came_q[1]) && places_q <= 5'd16)
    `RULE(followed_element_is_inside, 1, !followed_q || ahead_q < held_q[refused_q]
        && (refused_q || has_length(element_q.bytes)))
endmodule
