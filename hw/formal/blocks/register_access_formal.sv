// SPDX-License-Identifier: MIT OR Apache-2.0
// register_access: each access is carried out once or refused, and ends with what its registers have answered.
`include "../rules/rule.svh"
module register_access_formal (
    input logic        clk_i,
    input logic        rst_ni,
    input logic        valid_i,
    input logic        write_i,
    input logic [11:0] address_i,
    input logic [31:0] data_i,
    input logic [3:0]  strobe_i,
    input logic        refused_i,
    input logic        m_cpuif_rd_ack,
    input logic        m_cpuif_rd_err,
    input logic [31:0] m_cpuif_rd_data,
    input logic        m_cpuif_wr_ack,
    input logic        m_cpuif_wr_err
);
    logic        done_o, error_o, m_cpuif_req, m_cpuif_req_is_wr;
    logic [31:0] data_o, m_cpuif_wr_data, m_cpuif_wr_biten;
    logic [11:0] m_cpuif_addr;

    power_up i_power_up (.*);
    register_access i_block (.*);

    logic [112:0] seen;
    assign seen = {
        m_cpuif_req, m_cpuif_req ? {m_cpuif_req_is_wr, m_cpuif_addr} : 13'd0,
        m_cpuif_req && m_cpuif_req_is_wr ? {m_cpuif_wr_data, m_cpuif_wr_biten} : 64'd0,
        done_o, done_o && error_o, done_o && !write_i && !error_o ? data_o : 32'd0
    };

    // The registers answer each request once, by the answer of its kind, in its clock or the next.
    logic asked, asked_q, is_write_q, answer;
    assign asked  = asked_q || m_cpuif_req;
    assign answer = m_cpuif_rd_ack || m_cpuif_wr_ack;
    always_ff @(posedge clk_i) begin
        asked_q <= rst_ni && asked && !answer;
        if (m_cpuif_req) is_write_q <= m_cpuif_req_is_wr;
    end
    `RULE(reads_are_answered_once, 0, !m_cpuif_rd_ack
        || asked && !(m_cpuif_req ? m_cpuif_req_is_wr : is_write_q))
    `RULE(writes_are_answered_once, 0, !m_cpuif_wr_ack
        || asked && (m_cpuif_req ? m_cpuif_req_is_wr : is_write_q))

    // Where the access is.
    logic first, valid_q, done_q, refused_q;
    assign first = valid_i && (!valid_q || done_q);
    always_ff @(posedge clk_i) begin
        valid_q <= rst_ni && valid_i;
        done_q  <= rst_ni && done_o;
        if (first) refused_q <= refused_i;
    end
    logic [31:0] bits;
    always_comb for (int unsigned n = 0; n < 32; n++) bits[n] = strobe_i[n / 8];

    `RULE(what_is_not_refused_is_carried_out_next, 1, m_cpuif_req == $past(rst_ni && first && !refused_i))
    `RULE(it_is_the_access_that_is_carried_out, 1, !m_cpuif_req
        || {m_cpuif_req_is_wr, m_cpuif_addr} == {write_i, address_i})
    `RULE(data_are_passed_on, 1, !m_cpuif_req || !write_i || {m_cpuif_wr_data, m_cpuif_wr_biten} == {data_i, bits})
    `RULE(refused_access_ends_next, 1, !$past(rst_ni && valid_i && !first && refused_q && !done_o)
        || done_o && error_o)
    `RULE(end_follows_the_answer, 1, !$past(rst_ni && answer) || done_o)
    `RULE(nothing_else_ends, 1, !done_o || $past(rst_ni && (answer || valid_i && !first && refused_q)))
    `RULE(error_is_that_of_the_registers, 1, !done_o || refused_q
        || error_o == $past(write_i ? m_cpuif_wr_err : m_cpuif_rd_err))
    `RULE(data_are_those_of_the_registers, 1, !done_o || refused_q || write_i || data_o == $past(m_cpuif_rd_data))
    `RULE(end_is_that_of_an_access, 1, !done_o || valid_i)
    // Nothing stands still: an access ends in its fourth clock at the latest.
    `RULE(access_ends, 1, !$past(rst_ni && first, 3) || !$past(rst_ni, 2) || !$past(rst_ni)
        || done_o || $past(done_o))

    `REACHED(registers_answer_later, done_o && !$past(m_cpuif_req))
    `REACHED(registers_answer_at_once, done_o && $past(m_cpuif_req))
    `REACHED(second_access_follows_at_once, first && done_q)
    `REACHED(refused_access_ends, done_o && refused_q && $past(first, 2))
endmodule
