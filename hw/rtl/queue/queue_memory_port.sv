// SPDX-License-Identifier: MIT OR Apache-2.0
// Joins the memory accesses of several queues on one AXI4 port (data 512, address 64, id 11).
//
// Contract: the id of an access is the number of its queue, so each queue gets its answers
// in order. Queues take turns. AW and W of a store are offered together and taken in any
// order. Answers are always taken: a queue requests only what it has a place for.
module queue_memory_port #(
    parameter int unsigned Queues = 2  // at least 2
) (
    input  logic                    clk_i,
    input  logic                    rst_ni,

    input  logic [Queues-1:0]       read_valid_i,
    input  logic [Queues-1:0][63:6] read_address_i,
    output logic [Queues-1:0]       read_ready_o,
    output logic [Queues-1:0]       line_valid_o,
    output logic                    line_error_o,
    output logic [511:0]            line_o,
    input  logic [Queues-1:0]       store_valid_i,
    input  logic [Queues-1:0][63:3] store_address_i,
    input  logic [Queues-1:0][63:0] store_data_i,
    output logic [Queues-1:0]       store_ready_o,
    output logic [Queues-1:0]       stored_valid_o,
    output logic                    stored_error_o,

    output logic                    m_axi_awvalid,
    input  logic                    m_axi_awready,
    output logic [10:0]             m_axi_awid,
    output logic [63:0]             m_axi_awaddr,
    output logic                    m_axi_wvalid,
    input  logic                    m_axi_wready,
    output logic [511:0]            m_axi_wdata,
    output logic [63:0]             m_axi_wstrb,
    input  logic                    m_axi_bvalid,
    input  logic [10:0]             m_axi_bid,
    input  logic [1:0]              m_axi_bresp,
    output logic                    m_axi_arvalid,
    input  logic                    m_axi_arready,
    output logic [10:0]             m_axi_arid,
    output logic [63:0]             m_axi_araddr,
    input  logic                    m_axi_rvalid,
    input  logic [10:0]             m_axi_rid,
    input  logic [511:0]            m_axi_rdata,
    input  logic [1:0]              m_axi_rresp
);

    localparam int unsigned LogQueues = $clog2(Queues);

    logic                 read_free, store_free;
    logic [Queues-1:0]    reads, stores;
    logic [LogQueues-1:0] reader, storer;
    assign read_free  = !m_axi_arvalid || m_axi_arready;
    assign store_free = (!m_axi_awvalid || m_axi_awready) && (!m_axi_wvalid || m_axi_wready);

    take_turns #(
        .Count(Queues)
    ) i_readers (
        .clk_i,
        .rst_ni,
        .asks_i  (read_valid_i),
        .taken_i (read_free && |read_valid_i),
        .chosen_o(reads),
        .number_o(reader)
    );
    take_turns #(
        .Count(Queues)
    ) i_storers (
        .clk_i,
        .rst_ni,
        .asks_i  (store_valid_i),
        .taken_i (store_free && |store_valid_i),
        .chosen_o(stores),
        .number_o(storer)
    );
    assign read_ready_o  = read_free ? reads : '0;
    assign store_ready_o = store_free ? stores : '0;

    logic [63:6] read_address;
    logic [63:3] store_address;
    logic [63:0] store_data;
    always_comb begin
        read_address  = '0;
        store_address = '0;
        store_data    = '0;
        for (int unsigned n = 0; n < Queues; n++) begin
            if (reads[n]) read_address |= read_address_i[n];
            if (stores[n]) begin
                store_address |= store_address_i[n];
                store_data    |= store_data_i[n];
            end
        end
    end

    // Answers, one clock after they came: the queues look at registers.
    logic        line_q, stored_q;
    logic [10:0] line_id_q, stored_id_q;
    always_comb begin
        for (int unsigned n = 0; n < Queues; n++) begin
            line_valid_o[n]   = line_q && line_id_q == 11'(n);
            stored_valid_o[n] = stored_q && stored_id_q == 11'(n);
        end
    end

    always_ff @(posedge clk_i) begin
        if (read_free && |read_valid_i) begin
            m_axi_arid   <= 11'(reader);
            m_axi_araddr <= {read_address, 6'd0};
        end
        if (store_free && |store_valid_i) begin
            m_axi_awid   <= 11'(storer);
            m_axi_awaddr <= {store_address, 3'd0};
            m_axi_wdata  <= {8{store_data}};
            m_axi_wstrb  <= 64'hff << {store_address[5:3], 3'd0};
        end
        if (m_axi_rvalid) begin
            line_id_q    <= m_axi_rid;
            line_error_o <= m_axi_rresp != 2'b00;
            line_o       <= m_axi_rdata;
        end
        if (m_axi_bvalid) begin
            stored_id_q    <= m_axi_bid;
            stored_error_o <= m_axi_bresp != 2'b00;
        end
        if (!rst_ni) begin
            m_axi_arvalid <= 1'b0;
            m_axi_awvalid <= 1'b0;
            m_axi_wvalid  <= 1'b0;
            m_axi_arid    <= '0;
            m_axi_awid    <= '0;
            line_q        <= 1'b0;
            stored_q      <= 1'b0;
        end else begin
            m_axi_arvalid <= !read_free || |read_valid_i;
            m_axi_awvalid <= m_axi_awvalid && !m_axi_awready || store_free && |store_valid_i;
            m_axi_wvalid  <= m_axi_wvalid && !m_axi_wready || store_free && |store_valid_i;
            line_q        <= m_axi_rvalid;
            stored_q      <= m_axi_bvalid;
        end
    end

`ifndef SYNTHESIS
    ids_are_those_of_queues: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !m_axi_rvalid || 32'(m_axi_rid) < Queues);
    address_holds_until_taken: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !$past(rst_ni && m_axi_arvalid && !m_axi_arready)
            || m_axi_arvalid && $stable({m_axi_arid, m_axi_araddr}));
    store_address_holds_until_taken: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !$past(rst_ni && m_axi_awvalid && !m_axi_awready)
            || m_axi_awvalid && $stable({m_axi_awid, m_axi_awaddr}));
    store_data_hold_until_taken: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !$past(rst_ni && m_axi_wvalid && !m_axi_wready)
            || m_axi_wvalid && $stable({m_axi_wdata, m_axi_wstrb}));
`endif

endmodule
