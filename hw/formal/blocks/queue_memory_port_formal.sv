// SPDX-License-Identifier: MIT OR Apache-2.0
// queue_memory_port: the rules of AXI4 as a manager; what a queue, which is any, asks for goes out once, in order and
// whole; its answers come back to it; queues take turns.
`include "../rules/rule.svh"
module queue_memory_port_formal #(
    parameter int unsigned Queues = 2
) (
    input logic                    clk_i,
    input logic                    rst_ni,
    input logic [Queues-1:0]       read_valid_i,
    input logic [Queues-1:0][63:6] read_address_i,
    input logic [Queues-1:0]       store_valid_i,
    input logic [Queues-1:0][63:3] store_address_i,
    input logic [Queues-1:0][63:0] store_data_i,
    input logic                    m_axi_awready,
    input logic                    m_axi_wready,
    input logic                    m_axi_bvalid,
    input logic [10:0]             m_axi_bid,
    input logic [1:0]              m_axi_bresp,
    input logic                    m_axi_arready,
    input logic                    m_axi_rvalid,
    input logic [10:0]             m_axi_rid,
    input logic [511:0]            m_axi_rdata,
    input logic [1:0]              m_axi_rresp
);
    logic [Queues-1:0] read_ready_o, line_valid_o, store_ready_o, stored_valid_o;
    logic              line_error_o, stored_error_o, m_axi_awvalid, m_axi_wvalid, m_axi_arvalid;
    logic [511:0]      line_o, m_axi_wdata;
    logic [10:0]       m_axi_awid, m_axi_arid;
    logic [63:0]       m_axi_awaddr, m_axi_wstrb, m_axi_araddr;

    power_up i_power_up (.*);
    queue_memory_port #(.Queues(Queues)) i_block (.*);
    axi4_rules #(.Manager(1), .IdWidth(11), .Most(8), .Bursts(0)) i_rules (
        .clk_i, .rst_ni,
        .awvalid(m_axi_awvalid), .awready(m_axi_awready), .awid(m_axi_awid), .awaddr(m_axi_awaddr),
        .awlen('0), .awsize(3'd3), .awburst(2'b01), .awlock('0), .awatop('0),
        .wvalid(m_axi_wvalid), .wready(m_axi_wready), .wdata(m_axi_wdata), .wstrb(m_axi_wstrb), .wlast(1'b1),
        .bvalid(m_axi_bvalid), .bready(1'b1), .bid(m_axi_bid), .bresp(m_axi_bresp),
        .arvalid(m_axi_arvalid), .arready(m_axi_arready), .arid(m_axi_arid), .araddr(m_axi_araddr),
        .arlen('0), .arsize(3'd6), .arburst(2'b01), .arlock('0),
        .rvalid(m_axi_rvalid), .rready(1'b1), .rid(m_axi_rid), .rdata(m_axi_rdata), .rresp(m_axi_rresp),
        .rlast(1'b1));

    // What counts of the outputs.
    logic [4*Queues+1304:0] seen;
    assign seen = {read_ready_o & read_valid_i, line_valid_o, line_valid_o != 0 ? {line_error_o, line_o} : '0,
        store_ready_o & store_valid_i, stored_valid_o, stored_valid_o != 0 && stored_error_o,
        m_axi_awvalid, m_axi_awvalid ? {m_axi_awid, m_axi_awaddr} : '0,
        m_axi_wvalid, m_axi_wvalid ? {m_axi_wdata, m_axi_wstrb} : '0,
        m_axi_arvalid, m_axi_arvalid ? {m_axi_arid, m_axi_araddr} : '0};

    // Address and data of a store begin together, and the next one when both are taken.
    `RULE(address_and_data_are_of_one_store, 1, !i_rules.g_followed.i_write.partial_q && i_rules.g_followed.i_write.lead_q
        == 6'(m_axi_wvalid && !m_axi_awvalid) - 6'(m_axi_awvalid && !m_axi_wvalid))
    `RULE(followed_store_has_one_beat, 1, !i_rules.g_followed.i_write.addressed_q || i_rules.g_followed.i_write.length_q == 0
        && i_rules.g_followed.i_write.size_q == 3'd3 && i_rules.g_followed.i_write.burst_q == 2'b01)
    `RULE(followed_store_is_the_last, 1, !i_rules.g_followed.i_write.addressed_q || i_rules.g_followed.i_write.ended_q
        || m_axi_wvalid && i_rules.g_followed.i_write.address_q == m_axi_awaddr[11:0])
    `RULE(data_of_a_store_are_in_their_place, 1,
        !m_axi_wvalid || m_axi_wstrb == 64'hff << m_axi_awaddr[5:0] && m_axi_awaddr[2:0] == 0)

    // One queue, which is any.
    logic [10:0]       number;
    logic [Queues-1:0] queue;
    arbitrary #(.Width(11)) i_number (.clk_i, .value_o(number));
    assign queue = Queues'(2048'd1 << number);
    logic [63:6] read_address;
    logic [63:3] store_address;
    logic [63:0] store_data;
    always_comb begin
        read_address  = '0;
        store_address = '0;
        store_data    = '0;
        for (int unsigned n = 0; n < Queues; n++) begin
            if (queue[n]) begin
                read_address  = read_address_i[n];
                store_address = store_address_i[n];
                store_data    = store_data_i[n];
            end
        end
    end

    // What it asked for last is on the channel until it is taken. The channel has one place.
    logic        read_q, address_q, data_q;
    logic [63:6] read_address_q;
    logic [63:3] store_address_q;
    logic [63:0] store_data_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            read_q    <= 1'b0;
            address_q <= 1'b0;
            data_q    <= 1'b0;
        end else begin
            read_q    <= (queue & read_valid_i & read_ready_o) != 0 || read_q && !m_axi_arready;
            address_q <= (queue & store_valid_i & store_ready_o) != 0 || address_q && !m_axi_awready;
            data_q    <= (queue & store_valid_i & store_ready_o) != 0 || data_q && !m_axi_wready;
        end
        if ((queue & read_valid_i & read_ready_o) != 0) read_address_q <= read_address;
        if ((queue & store_valid_i & store_ready_o) != 0) begin
            store_address_q <= store_address;
            store_data_q    <= store_data;
        end
    end
    `RULE(nothing_is_of_another_number, 1, queue != 0 || !read_q && !address_q && !data_q)
    `RULE(data_on_the_channel_are_those_of_queues, 1,
        number >= 11'(Queues) || data_q == (m_axi_wvalid && m_axi_awid == number))
    `RULE(address_of_the_data_is_kept, 1, !data_q || m_axi_awaddr == {store_address_q, 3'd0})
    `RULE(reads_on_the_channel_are_those_of_queues, 1,
        number >= 11'(Queues) || read_q == (m_axi_arvalid && m_axi_arid == number))
    `RULE(read_goes_out_as_it_came, 1, !read_q || m_axi_araddr == {read_address_q, 6'd0})
    `RULE(stores_on_the_channel_are_those_of_queues, 1,
        number >= 11'(Queues) || address_q == (m_axi_awvalid && m_axi_awid == number))
    `RULE(store_goes_out_as_it_came, 1, !address_q || m_axi_awaddr == {store_address_q, 3'd0})
    `RULE(data_of_a_store_go_out_as_they_came, 1, !data_q || m_axi_wvalid
        && 64'(m_axi_wdata >> {store_address_q[5:3], 6'd0}) == store_data_q
        && m_axi_wstrb == 64'hff << {store_address_q[5:3], 3'd0})
    `RULE(ids_begin_as_those_of_queues, 1, 32'(m_axi_arid) < Queues && 32'(m_axi_awid) < Queues)

    // Answers go to their queue alone, in the clock after.
    `RULE(line_goes_to_its_queue, 1, ((queue & line_valid_o) != 0)
        == ($past(rst_ni && m_axi_rvalid && m_axi_rid == number) && queue != 0))
    `RULE(line_comes_as_it_is, 1, !$past(rst_ni && m_axi_rvalid)
        || line_o == $past(m_axi_rdata) && line_error_o == $past(m_axi_rresp != 0))
    `RULE(end_of_a_store_goes_to_its_queue, 1, ((queue & stored_valid_o) != 0)
        == ($past(rst_ni && m_axi_bvalid && m_axi_bid == number) && queue != 0))
    `RULE(end_of_a_store_comes_as_it_is, 1, !$past(rst_ni && m_axi_bvalid)
        || stored_error_o == $past(m_axi_bresp != 0))

    // Nothing waits without a reason.
    logic read_moves, store_moves;
    assign read_moves  = !m_axi_arvalid || m_axi_arready;
    assign store_moves = (!m_axi_awvalid || m_axi_awready) && (!m_axi_wvalid || m_axi_wready);
    `RULE(one_reads_where_the_channel_is_free, 1, $onehot0(read_valid_i & read_ready_o)
        && ((read_valid_i & read_ready_o) != 0) == (read_valid_i != 0 && read_moves))
    `RULE(one_stores_where_the_channels_are_free, 1, $onehot0(store_valid_i & store_ready_o)
        && ((store_valid_i & store_ready_o) != 0) == (store_valid_i != 0 && store_moves))

    // Queues take turns.
    fair_turns #(.Count(Queues)) i_reader_turns (.clk_i, .rst_ni, .asks_i(read_valid_i),
        .taken_i(read_valid_i & read_ready_o), .behind_i(i_block.i_readers.behind_q));
    fair_turns #(.Count(Queues)) i_storer_turns (.clk_i, .rst_ni, .asks_i(store_valid_i),
        .taken_i(store_valid_i & store_ready_o), .behind_i(i_block.i_storers.behind_q));
    `REACHED(reader_waits_for_all_others, 32'($countones(i_reader_turns.went_q)) == Queues - 1)
    `REACHED(storer_waits_for_all_others, 32'($countones(i_storer_turns.went_q)) == Queues - 1)
endmodule
