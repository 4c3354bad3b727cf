// SPDX-License-Identifier: MIT OR Apache-2.0
// Executes a program for each row of a stream, in several lanes at once.
//
// Contract: the output has the packets of `program_lane.sv` in any order, with the beats of a
// packet together. The program is stored, and its properties change, only while `idle_o` is high
// and no row is offered. The pulses, one clock late, count packets that left without and with a
// code.
module program_lanes #(
    parameter int unsigned Lanes = 8   // at least 2
) (
    input  logic         clk_i,
    input  logic         rst_ni,

    input  logic         has_program_i,
    input  logic [3:0]   outputs_i,          // values in a packet, at most 8
    input  logic         wants_payloads_i,
    input  logic         code_write_i,
    input  logic         constant_write_i,
    input  logic [5:0]   store_address_i,
    input  logic [63:0]  store_data_i,

    input  logic         s_axis_row_tvalid,
    output logic         s_axis_row_tready,
    input  logic [511:0] s_axis_row_tdata,
    input  logic         s_axis_row_tlast,

    output logic         m_axis_row_tvalid,
    input  logic         m_axis_row_tready,
    output logic [511:0] m_axis_row_tdata,
    output logic         m_axis_row_tlast,

    output logic         emitted_o,
    output logic         fault_o,
    output logic         idle_o
);

    import program_pkg::*;

    // Of the lanes.
    logic [Lanes-1:0] free, row_valid, packet_valid, packet_first, packet_last, packet_taken;
    logic [511:0]     packet_data[Lanes];

    // Without a carry, through which the row would come late to its lane.
    function automatic logic [Lanes-1:0] first_of(input logic [Lanes-1:0] lanes);
        for (int unsigned n = 0; n < Lanes; n++) begin
            first_of[n] = lanes[n] && (lanes & (Lanes'(1) << n) - 1'b1) == '0;
        end
    endfunction

    // A row goes to the first free lane.
    logic             inside_q;
    logic [Lanes-1:0] receiver_q, receiver;
    assign receiver          = inside_q ? receiver_q : first_of(free);
    assign row_valid         = s_axis_row_tvalid ? receiver : '0;
    assign s_axis_row_tready = inside_q || free != 0;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            inside_q <= 1'b0;
        end else if (s_axis_row_tvalid && s_axis_row_tready) begin
            inside_q   <= !s_axis_row_tlast;
            receiver_q <= receiver;
        end
    end

    // Packets go by turns, so that no lane waits for ever; begun ones to their end. The next lane is
    // chosen with the last beat of a packet, or a clock before its own first beat.
    logic             sending_q, output_free, packet_moves, packet_ends, moving_last, moving_first, chooses;
    logic [Lanes-1:0] sender_q, others, waits_q, waiting, chosen;
    logic [511:0]     moving;
    // Who waits is known a clock late, so that the choice follows registers.
    assign others  = ~(sending_q ? sender_q : '0);
    assign waiting = waits_q & others;
    assign chooses = (!sending_q || packet_ends) && waiting != 0;

    logic [$clog2(Lanes)-1:0] unused;
    take_turns #(
        .Count(Lanes)
    ) i_turns (
        .clk_i,
        .rst_ni,
        .asks_i  (waiting),
        .taken_i (chooses),
        .chosen_o(chosen),
        .number_o(unused)
    );
    always_comb begin
        moving = '0;
        for (int unsigned n = 0; n < Lanes; n++) if (sender_q[n]) moving |= packet_data[n];
    end
    assign moving_first = (packet_first & sender_q) != 0;
    assign moving_last  = (packet_last & sender_q) != 0;
    assign output_free  = !m_axis_row_tvalid || m_axis_row_tready;
    assign packet_moves = sending_q && output_free;
    assign packet_taken = packet_moves ? sender_q : '0;
    assign packet_ends  = packet_moves && moving_last;

    always_ff @(posedge clk_i) begin
        if (packet_moves) begin
            m_axis_row_tdata <= moving;
            m_axis_row_tlast <= moving_last;
        end
        if (!rst_ni) begin
            sending_q         <= 1'b0;
            sender_q          <= '0;
            m_axis_row_tvalid <= 1'b0;
            waits_q           <= '0;
        end else begin
            waits_q <= packet_valid & others;
            if (chooses) begin
                sending_q <= 1'b1;
                sender_q  <= chosen;
            end else if (packet_ends) begin
                sending_q <= 1'b0;
            end
            if (output_free) m_axis_row_tvalid <= packet_moves;
        end
    end

    for (genvar n = 0; n < Lanes; n++) begin : gen_lanes
        program_lane i_lane (
            .clk_i,
            .rst_ni,
            .has_program_i,
            .outputs_i,
            .wants_payloads_i,
            .code_write_i,
            .constant_write_i,
            .store_address_i,
            .store_data_i,
            .free_o        (free[n]),
            .row_valid_i   (row_valid[n]),
            .row_data_i    (s_axis_row_tdata),
            .row_last_i    (s_axis_row_tlast),
            .packet_valid_o(packet_valid[n]),
            .packet_data_o (packet_data[n]),
            .packet_first_o(packet_first[n]),
            .packet_last_o (packet_last[n]),
            .packet_taken_i(packet_taken[n])
        );
    end

    // A packet has the code of its row, or one that the lane gave.
    logic packet_faulty, first_taken;
    assign packet_faulty = moving[CodeBit+:8] != 0;
    assign first_taken   = packet_moves && moving_first;
    always_ff @(posedge clk_i) begin
        emitted_o <= rst_ni && first_taken && !packet_faulty;
        fault_o   <= rst_ni && first_taken && packet_faulty;
    end

    assign idle_o = &free && !inside_q && !m_axis_row_tvalid
        && !emitted_o && !fault_o;

`ifndef SYNTHESIS
    packet_holds_until_taken: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !$past(rst_ni && m_axis_row_tvalid && !m_axis_row_tready)
            || m_axis_row_tvalid && $stable({m_axis_row_tdata, m_axis_row_tlast}));
`endif

endmodule
