// SPDX-License-Identifier: MIT OR Apache-2.0
// The traces of nic_lookup: what happened a clock ago, in the layouts that its header has.

    done_t done;
    assign done = `LANDING.done_o;
    `WIRED(requests_are_traced, trace_request_valid_o, $past(rst_ni && given))
    `RULE(trace_has_the_request, 1, !trace_request_valid_o || trace_request_data_o == $past(`INDEX.s_axis_req_tdata))
    `WIRED(answers_of_the_index_are_traced, trace_answer_valid_o,
        $past(rst_ni && `INDEX.m_axis_rsp_tvalid && `INDEX.m_axis_rsp_tready))
    `RULE(trace_has_the_answer, 1, !trace_answer_valid_o || trace_answer_data_o == $past(`INDEX.m_axis_rsp_tdata))

    // The block of reads tells of a read a clock later by itself.
    `WIRED(reads_are_traced, trace_read_valid_o, `READS.given_o)
    `RULE(trace_has_the_read, 1, trace_read_data_o[7:0] == `READS.given_read_o.number
        && trace_read_data_o[9:8] == `READS.given_read_o.part && trace_read_data_o[15:10] == 0
        && trace_read_data_o[31:16] == 16'(`READS.given_read_o.bytes)
        && trace_read_data_o[95:32] == `READS.given_read_o.address)

    `WIRED(ends_of_reads_are_traced, trace_done_valid_o, $past(rst_ni && `LANDING.done_valid_o))
    `RULE(trace_has_the_end, 1, !trace_done_valid_o || trace_done_data_o[9:0] == $past(done.token[9:0])
        && trace_done_data_o[11:10] == $past(done.response) && trace_done_data_o[15:12] == 0)

    // The context of a scan is in the answer of the scanner.
    `WIRED(scans_are_traced, trace_scan_valid_o, $past(rst_ni && `SCANS.scanned_o))
    `RULE(trace_has_the_scan, 1, !trace_scan_valid_o
        || trace_scan_data_o[7:0] == $past(`SCANS.scanned_data_o[55:48])
        && trace_scan_data_o[9:8] == $past(`SCANS.scanned_part_o) && trace_scan_data_o[63:10] == 0
        && trace_scan_data_o[64*(3+ValueWords)-1:64] == $past(`SCANS.scanned_data_o))

    `WIRED(words_are_traced, trace_word_valid_o, $past(rst_ni && `LANDING.landed_o))
    `RULE(trace_has_the_word, 1, !trace_word_valid_o || trace_word_data_o[7:0] == $past(`LANDING.landed_number_o)
        && trace_word_data_o[63:8] == 0 && trace_word_data_o[127:64] == $past(`LANDING.landed_word_o))
    for (genvar n = 0; n < Queues; n++) begin : g_sent
        `RULE(trace_says_why_a_vector_was_sent, 1, trace_sent_o[2*n +: 2] == `LANDING.sent_o[n])
    end
