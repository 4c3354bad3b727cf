// SPDX-License-Identifier: MIT OR Apache-2.0
// Joins readers of single lines on one AXI4 read port.
//
// Contract: the first of the requesting readers has priority. Each reader has a place for every
// line that it requests, so lines are always taken. All readers see the lines, and identify theirs
// by the id. Lines of one id come in the order of their requests.
module read_port #(
    parameter int unsigned Readers = 8
) (
    input  logic                    clk_i,
    input  logic                    rst_ni,

    input  logic [Readers-1:0]      read_valid_i,
    input  logic [Readers-1:0][63:6] read_address_i,
    input  logic [Readers-1:0][7:0] read_id_i,
    output logic [Readers-1:0]      read_ready_o,
    output logic                    line_valid_o,
    output logic [7:0]              line_id_o,
    output logic                    line_error_o,
    output logic [511:0]            line_o,
    output logic                    asked_o,          // a line, in this clock
    output logic                    quiet_o,          // nothing is asked for that has not come

    output logic                    m_axi_arvalid,
    input  logic                    m_axi_arready,
    output logic [7:0]              m_axi_arid,
    output logic [63:0]             m_axi_araddr,
    input  logic                    m_axi_rvalid,
    input  logic [7:0]              m_axi_rid,
    input  logic [511:0]            m_axi_rdata,
    input  logic [1:0]              m_axi_rresp
);

    logic               free;
    logic [Readers-1:0] chosen;
    logic [63:6]        address;
    logic [7:0]         id;
    assign free         = !m_axi_arvalid || m_axi_arready;
    assign read_ready_o = free ? chosen : '0;
    assign asked_o      = free && |read_valid_i;
    always_comb begin
        chosen  = '0;
        address = '0;
        id      = '0;
        for (int n = int'(Readers) - 1; n >= 0; n--) begin
            if (read_valid_i[n]) begin
                chosen    = '0;
                chosen[n] = 1'b1;
                address   = read_address_i[n];
                id        = read_id_i[n];
            end
        end
    end

    // More lines cannot be on their way: walks, payloads and checks have fewer places together.
    logic [11:0] on_their_way_q;
    assign quiet_o = on_their_way_q == 0 && !line_valid_o;

    always_ff @(posedge clk_i) begin
        if (asked_o) begin
            m_axi_araddr <= {address, 6'd0};
            m_axi_arid   <= id;
        end
        if (m_axi_rvalid) begin
            line_id_o    <= m_axi_rid;
            line_error_o <= m_axi_rresp != 2'b00;
            line_o       <= m_axi_rdata;
        end
        if (!rst_ni) begin
            m_axi_arvalid  <= 1'b0;
            line_valid_o   <= 1'b0;
            on_their_way_q <= '0;
        end else begin
            m_axi_arvalid <= asked_o || m_axi_arvalid && !m_axi_arready;
            line_valid_o  <= m_axi_rvalid;
            if (asked_o != m_axi_rvalid) begin
                on_their_way_q <= asked_o ? on_their_way_q + 1'b1 : on_their_way_q - 1'b1;
            end
        end
    end

`ifndef SYNTHESIS
    address_holds_until_taken: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !$past(rst_ni && m_axi_arvalid && !m_axi_arready)
            || m_axi_arvalid && $stable({m_axi_arid, m_axi_araddr}));
    each_line_was_requested: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !m_axi_rvalid || on_their_way_q != 0);
`endif

endmodule
