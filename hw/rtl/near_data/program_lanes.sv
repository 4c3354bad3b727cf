// SPDX-License-Identifier: MIT OR Apache-2.0
// Executes a program for each row of a stream, in several lanes at once.
//
// Contract: the output has the packets of `program_lane.sv` in any order, with the beats of a
// packet together. The program is stored, and its properties change, only while `idle_o` is high
// and no row is offered. The pulses, one clock late, count packets that left without and with a
// code.
module program_lanes #(
    parameter int unsigned Lanes = 8
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

    localparam int unsigned Width = $clog2(Lanes);

    // Of the lanes.
    logic [Lanes-1:0] free, row_valid, packet_valid, packet_first, packet_last, packet_taken;
    logic [511:0]     packet_data[Lanes];

    // A row goes to the first free lane.
    logic             inside_q;
    logic [Width-1:0] receiver_q, receiver;
    logic             row_taken;
    always_comb begin
        receiver = receiver_q;
        for (int unsigned n = Lanes; n > 0; n--) begin
            if (!inside_q && free[n-1]) receiver = Width'(n - 1);
        end
    end
    assign s_axis_row_tready = inside_q || free != 0;
    assign row_taken         = s_axis_row_tvalid && s_axis_row_tready;
    assign row_valid         = Lanes'(row_taken) << receiver;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            inside_q <= 1'b0;
        end else if (row_taken) begin
            inside_q   <= !s_axis_row_tlast;
            receiver_q <= receiver;
        end
    end

    // Packets go by turns, so that no lane waits for ever; begun ones to their end.
    logic             sending_q, output_free, packet_moves;
    logic [Width-1:0] sender_q, sender;
    always_comb begin
        sender = sender_q;
        if (!sending_q) begin
            for (int unsigned n = Lanes; n > 0; n--) begin
                if (packet_valid[Width'(32'(sender_q) + n)]) sender = Width'(32'(sender_q) + n);
            end
        end
    end
    assign output_free  = !m_axis_row_tvalid || m_axis_row_tready;
    assign packet_moves = packet_valid[sender] && output_free;
    assign packet_taken = Lanes'(packet_moves) << sender;

    always_ff @(posedge clk_i) begin
        if (packet_moves) begin
            m_axis_row_tdata <= packet_data[sender];
            m_axis_row_tlast <= packet_last[sender];
            sender_q         <= sender;
        end
        if (!rst_ni) begin
            sending_q         <= 1'b0;
            sender_q          <= '0;
            m_axis_row_tvalid <= 1'b0;
        end else begin
            if (packet_moves) sending_q <= !packet_last[sender];
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
    assign packet_faulty = packet_data[sender][CodeBit+:8] != 0;
    assign first_taken   = packet_moves && packet_first[sender];
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
