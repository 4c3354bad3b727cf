// SPDX-License-Identifier: MIT OR Apache-2.0
// read_port: the rules of AXI4 as a manager; what a reader, which is any, asks for goes out once, in order and as it
// came; lines are passed on as they come.
`include "../rules/rule.svh"
module read_port_formal #(
    parameter int unsigned Readers = 3
) (
    input logic                     clk_i,
    input logic                     rst_ni,
    input logic [Readers-1:0]       read_valid_i,
    input logic [Readers-1:0][63:6] read_address_i,
    input logic [Readers-1:0][7:0]  read_id_i,
    input logic                     m_axi_arready,
    input logic                     m_axi_rvalid,
    input logic [7:0]               m_axi_rid,
    input logic [511:0]             m_axi_rdata,
    input logic [1:0]               m_axi_rresp
);
    logic [Readers-1:0] read_ready_o;
    logic               line_valid_o, line_error_o, asked_o, quiet_o, m_axi_arvalid;
    logic [7:0]         line_id_o, m_axi_arid;
    logic [511:0]       line_o;
    logic [63:0]        m_axi_araddr;

    power_up i_power_up (.*);
    read_port #(.Readers(Readers)) i_block (.*);
    axi4_rules #(.Most(8), .Bursts(0), .Writes(0)) i_rules (
        .clk_i, .rst_ni,
        .awvalid('0), .awready('0), .awid('0), .awaddr('0), .awlen('0), .awsize('0), .awburst('0), .awlock('0),
        .awatop('0), .wvalid('0), .wready('0), .wdata('0), .wstrb('0), .wlast('0),
        .bvalid('0), .bready('0), .bid('0), .bresp('0),
        .arvalid(m_axi_arvalid), .arready(m_axi_arready), .arid(m_axi_arid), .araddr(m_axi_araddr),
        .arlen('0), .arsize(3'd6), .arburst(2'b01), .arlock('0),
        .rvalid(m_axi_rvalid), .rready(1'b1), .rid(m_axi_rid), .rdata(m_axi_rdata), .rresp(m_axi_rresp),
        .rlast(1'b1));

    // What counts of the outputs.
    logic [Readers+596:0] seen;
    assign seen = {read_ready_o & read_valid_i, line_valid_o, line_valid_o ? {line_id_o, line_error_o, line_o} : '0,
        asked_o, quiet_o, m_axi_arvalid, m_axi_arvalid ? {m_axi_arid, m_axi_araddr} : '0};

    // One reader, which is any.
    typedef logic [$clog2(Readers)-1:0] number_t;
    number_t            number;
    logic [Readers-1:0] reader;
    arbitrary #(.Width($bits(number_t))) i_number (.clk_i, .value_o(number));
    assign reader = Readers'(1) << number;
    logic [63:6] address;
    logic [7:0]  id;
    always_comb begin
        address = '0;
        id      = '0;
        for (int unsigned n = 0; n < Readers; n++) begin
            if (reader[n]) begin
                address = read_address_i[n];
                id      = read_id_i[n];
            end
        end
    end
    logic        takes, asked_q;
    logic [63:6] address_q;
    logic [7:0]  id_q;
    assign takes = (reader & read_valid_i & read_ready_o) != 0;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) asked_q <= 1'b0;
        else asked_q <= takes || asked_q && !m_axi_arready;
        if (takes) begin
            address_q <= address;
            id_q      <= id;
        end
    end
    `RULE(request_goes_out_as_it_came, 1, !asked_q
        || m_axi_arvalid && m_axi_araddr == {address_q, 6'd0} && m_axi_arid == id_q)
    `RULE(one_request_is_taken_in_a_clock, 1, $onehot0(read_valid_i & read_ready_o))
    `RULE(reader_waits_for_the_channel_and_those_before_it_alone, 1, takes == ((reader & read_valid_i) != 0
        && (read_valid_i & (reader - 1'b1)) == 0 && (!m_axi_arvalid || m_axi_arready)))
    `RULE(requests_are_told, 1, asked_o == ((read_valid_i & read_ready_o) != 0))
    `RULE(first_reader_has_priority, 1, !takes || (read_valid_i & (reader - 1'b1)) == 0)
    `RULE(request_on_the_channel_was_asked_for, 1, $past(rst_ni && (asked_o || m_axi_arvalid && !m_axi_arready))
        == m_axi_arvalid)

    `RULE(line_is_passed_on, 1, line_valid_o == $past(rst_ni && m_axi_rvalid))
    `RULE(line_comes_as_it_is, 1, !$past(rst_ni && m_axi_rvalid) || line_o == $past(m_axi_rdata)
        && line_id_o == $past(m_axi_rid) && line_error_o == $past(m_axi_rresp != 0))

    // What is asked for and has not come, in a count of its own.
    logic [11:0] owed_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) owed_q <= '0;
        else owed_q <= owed_q + 12'(asked_o) - 12'(m_axi_rvalid);
    end
    `RULE(quiet_when_nothing_is_owed, 1, quiet_o == (owed_q == 0 && !line_valid_o))
    `RULE(what_is_owed_is_counted, 1, i_block.on_their_way_q == owed_q)
    `REACHED(lowest_priority_is_served, takes && number == number_t'(Readers - 1) && m_axi_arvalid)
    `REACHED(two_lines_are_owed, owed_q == 12'd2)
endmodule
