// SPDX-License-Identifier: MIT OR Apache-2.0
// Takes an access to the registers of a block in steps, so that nothing else is on their paths: it comes
// and is judged, it is carried out, and its end is given.
//
// Contract: an access that is refused in its first clock is not carried out, and ends with an error. Any
// other is carried out once, in the clock after it came; it ends a clock after the registers have
// answered, with what they say. At `m_cpuif_*` are registers that PeakRDL-regblock has made: they
// answer each request once, in its clock or the next. Their stall signals are not looked at: they are
// low again long before another access can come.
module register_access (
    input  logic        clk_i,
    input  logic        rst_ni,

    // The access: valid and all beside it hold until done, but data and strobe of a read, which mean
    // nothing.
    input  logic        valid_i,
    input  logic        write_i,
    input  logic [11:0] address_i,
    input  logic [31:0] data_i,
    input  logic [3:0]  strobe_i,
    input  logic        refused_i,        // counts in the first clock of valid
    output logic        done_o,
    output logic        error_o,          // with done
    output logic [31:0] data_o,           // with done, of a read

    output logic        m_cpuif_req,
    output logic        m_cpuif_req_is_wr,
    output logic [11:0] m_cpuif_addr,
    output logic [31:0] m_cpuif_wr_data,
    output logic [31:0] m_cpuif_wr_biten,
    input  logic        m_cpuif_rd_ack,
    input  logic        m_cpuif_rd_err,
    input  logic [31:0] m_cpuif_rd_data,
    input  logic        m_cpuif_wr_ack,
    input  logic        m_cpuif_wr_err
);

    logic       taken_q, refused_q;   // taken: from the second clock of an access to its last
    logic [3:0] strobe_q;
    assign m_cpuif_wr_biten = {{8{strobe_q[3]}}, {8{strobe_q[2]}}, {8{strobe_q[1]}}, {8{strobe_q[0]}}};

    always_ff @(posedge clk_i) begin
        taken_q     <= rst_ni && valid_i && !done_o;
        m_cpuif_req <= rst_ni && valid_i && !taken_q && !refused_i;
        refused_q   <= rst_ni && valid_i && !taken_q && refused_i;
        done_o      <= rst_ni && (refused_q || m_cpuif_rd_ack || m_cpuif_wr_ack);
        error_o     <= refused_q || (m_cpuif_req_is_wr ? m_cpuif_wr_err : m_cpuif_rd_err);
        data_o      <= m_cpuif_rd_data;
        if (valid_i && !taken_q) begin
            m_cpuif_req_is_wr <= write_i;
            m_cpuif_addr      <= address_i;
            m_cpuif_wr_data   <= data_i;
            strobe_q          <= strobe_i;
        end
    end

`ifndef SYNTHESIS
    access_holds_until_done: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !$past(rst_ni && valid_i && !done_o)
            || valid_i && $stable({write_i, address_i}) && (!write_i || $stable({data_i, strobe_i})));
    answers_are_to_requests: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !(m_cpuif_rd_ack || m_cpuif_wr_ack) || taken_q && !refused_q && !done_o);
    requests_are_answered_by_the_next_clock: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !$past(rst_ni && m_cpuif_req && !m_cpuif_rd_ack && !m_cpuif_wr_ack)
            || m_cpuif_rd_ack || m_cpuif_wr_ack);
`endif

endmodule
