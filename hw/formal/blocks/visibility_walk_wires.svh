// SPDX-License-Identifier: MIT OR Apache-2.0
// What visibility_walk connects, in visibility_walk_formal: all else of it is said there.

    // ---- Memory is behind the two ports.

    `RULE(first_port_asks_memory, 1, {m_axi_0_arvalid, m_axi_0_arid, m_axi_0_araddr} == {
        i_block.i_port_0.m_axi_arvalid, i_block.i_port_0.m_axi_arid, i_block.i_port_0.m_axi_araddr
    })
    `RULE(second_port_asks_memory, 1, {m_axi_1_arvalid, m_axi_1_arid, m_axi_1_araddr} == {
        i_block.i_port_1.m_axi_arvalid, i_block.i_port_1.m_axi_arid, i_block.i_port_1.m_axi_araddr
    })
    `RULE(memory_answers_the_first_port, 1, {m_axi_0_arready, m_axi_0_rvalid, m_axi_0_rid, m_axi_0_rdata, m_axi_0_rresp} == {
        i_block.i_port_0.m_axi_arready, i_block.i_port_0.m_axi_rvalid, i_block.i_port_0.m_axi_rid,
        i_block.i_port_0.m_axi_rdata, i_block.i_port_0.m_axi_rresp
    })
    `RULE(memory_answers_the_second_port, 1, {m_axi_1_arready, m_axi_1_rvalid, m_axi_1_rid, m_axi_1_rdata, m_axi_1_rresp} == {
        i_block.i_port_1.m_axi_arready, i_block.i_port_1.m_axi_rvalid, i_block.i_port_1.m_axi_rid,
        i_block.i_port_1.m_axi_rdata, i_block.i_port_1.m_axi_rresp
    })

    // ---- Who reads through which port, those that go first at the end: payloads, headers of versions, chunks of the VID map; the
    // page map through the first, and changes of VIDs and places of chunks through the second; line pointers; checks of
    // pages; and loads through the first, page entries through the second.

    `RULE(readers_of_the_first_port_ask, 1, i_block.i_port_0.read_valid_i == {
        load_valid_i, i_block.i_pages.check_read_valid_o[0], i_block.i_versions.pointer_read_valid_o[0], 1'b0,
        i_block.i_pages.map_read_valid_o, i_block.i_vids.check_read_valid_o[0], i_block.i_versions.header_read_valid_o[0],
        i_block.i_rows.read_valid_o[0]
    })
    `RULE(readers_of_the_second_port_ask, 1, i_block.i_port_1.read_valid_i == {
        i_block.i_page_entries.read_valid_o, i_block.i_pages.check_read_valid_o[1],
        i_block.i_versions.pointer_read_valid_o[1], i_block.i_vids.place_read_valid_o, i_block.i_vids.entry_read_valid_o,
        i_block.i_vids.check_read_valid_o[1], i_block.i_versions.header_read_valid_o[1], i_block.i_rows.read_valid_o[1]
    })
    // The fifth reader of the first port never asks.
    logic [7:0][63:6] addresses_0, addresses_1;
    logic [7:0][7:0]  ids_0, ids_1;
    assign addresses_0 = i_block.i_port_0.read_address_i;
    assign addresses_1 = i_block.i_port_1.read_address_i;
    assign ids_0       = i_block.i_port_0.read_id_i;
    assign ids_1       = i_block.i_port_1.read_id_i;
    `RULE(readers_of_the_first_port_say_where, 1, {addresses_0[7:5], addresses_0[3:0]} == {
        load_address_i, i_block.i_pages.check_read_address_o[0], i_block.i_versions.pointer_read_address_o[0],
        i_block.i_pages.map_read_address_o, i_block.i_vids.check_read_address_o[0],
        i_block.i_versions.header_read_address_o[0], i_block.i_rows.read_address_o[0]
    })
    `RULE(readers_of_the_second_port_say_where, 1, addresses_1 == {
        i_block.i_page_entries.read_address_o, i_block.i_pages.check_read_address_o[1],
        i_block.i_versions.pointer_read_address_o[1], i_block.i_vids.place_read_address_o,
        i_block.i_vids.entry_read_address_o, i_block.i_vids.check_read_address_o[1],
        i_block.i_versions.header_read_address_o[1], i_block.i_rows.read_address_o[1]
    })
    `RULE(readers_of_the_first_port_say_who, 1, {ids_0[7:5], ids_0[3:0]} == {
        8'h90, i_block.i_pages.check_read_id_o[0], i_block.i_versions.pointer_read_id_o[0], i_block.i_pages.map_read_id_o,
        i_block.i_vids.check_read_id_o[0], i_block.i_versions.header_read_id_o[0], i_block.i_rows.read_id_o[0]
    })
    `RULE(readers_of_the_second_port_say_who, 1, ids_1 == {
        8'h91, i_block.i_pages.check_read_id_o[1], i_block.i_versions.pointer_read_id_o[1], i_block.i_vids.place_read_id_o,
        i_block.i_vids.entry_read_id_o, i_block.i_vids.check_read_id_o[1], i_block.i_versions.header_read_id_o[1],
        i_block.i_rows.read_id_o[1]
    })
    `RULE(first_port_takes_what_its_readers_ask, 1,
        {i_block.i_port_0.read_ready_o[7:5], i_block.i_port_0.read_ready_o[3:0]} == {
        load_ready_o, i_block.i_pages.check_read_ready_i[0], i_block.i_versions.pointer_read_ready_i[0],
        i_block.i_pages.map_read_ready_i, i_block.i_vids.check_read_ready_i[0],
        i_block.i_versions.header_read_ready_i[0], i_block.i_rows.read_ready_i[0]
    })
    `RULE(second_port_takes_what_its_readers_ask, 1, i_block.i_port_1.read_ready_o == {
        i_block.i_page_entries.read_ready_i, i_block.i_pages.check_read_ready_i[1],
        i_block.i_versions.pointer_read_ready_i[1], i_block.i_vids.place_read_ready_i, i_block.i_vids.entry_read_ready_i,
        i_block.i_vids.check_read_ready_i[1], i_block.i_versions.header_read_ready_i[1], i_block.i_rows.read_ready_i[1]
    })
    // Lines come to all of them.
    logic [1:0]        lines_come, lines_fail;
    logic [1:0][7:0]   whose;
    logic [1:0][511:0] lines;
    logic [1043:0]     come;
    assign lines_come = {i_block.i_port_1.line_valid_o, i_block.i_port_0.line_valid_o};
    assign lines_fail = {i_block.i_port_1.line_error_o, i_block.i_port_0.line_error_o};
    assign whose      = {i_block.i_port_1.line_id_o, i_block.i_port_0.line_id_o};
    assign lines      = {i_block.i_port_1.line_o, i_block.i_port_0.line_o};
    assign come       = {lines_come, whose, lines_fail, lines};
    `RULE(lines_come_to_all, 1, come == {
        i_block.i_vids.come_valid_i, i_block.i_vids.come_id_i, i_block.i_vids.come_error_i, i_block.i_vids.come_i
    } && come == {
        i_block.i_pages.come_valid_i, i_block.i_pages.come_id_i, i_block.i_pages.come_error_i, i_block.i_pages.come_i
    } && come == {
        i_block.i_versions.come_valid_i, i_block.i_versions.come_id_i, i_block.i_versions.come_error_i,
        i_block.i_versions.come_i
    } && come == {
        i_block.i_rows.line_valid_i, i_block.i_rows.line_id_i, i_block.i_rows.line_error_i, i_block.i_rows.line_i
    })
    `RULE(page_entries_come_through_the_second_port, 1, {lines_come[1], whose[1], lines_fail[1], lines[1]} == {
        i_block.i_page_entries.line_valid_i, i_block.i_page_entries.line_id_i, i_block.i_page_entries.line_error_i,
        i_block.i_page_entries.line_i
    })

    // ---- Parts of the job.

    job_t job;
    logic too_many;
    assign job      = job_t'(job_i);
    assign too_many = job.delta_page_count > 32'd1024;
    `RULE(page_entries_are_those_of_the_job, 1, {starts, 1'b0, job.delta_pages[63:4], too_many ? 32'd0 : job.delta_page_count}
        == {
        i_block.i_page_entries.start_i, i_block.i_page_entries.stop_i, i_block.i_page_entries.address_i,
        i_block.i_page_entries.count_i
    })
    `RULE(vids_are_those_of_the_job, 1, {
        starts, stops_q, state == Running, job.vid_first, job.vid_end, job.table_number, job.vid_chunks[63:3],
        job.delta_vids[63:4], job.delta_vid_count, job.storage_base[63:6], job.storage_pages, job.store, job.epoch
    } == {
        i_block.i_vids.start_i, i_block.i_vids.stop_i, i_block.i_vids.go_i, i_block.i_vids.vid_first_i,
        i_block.i_vids.vid_end_i, i_block.i_vids.table_i, i_block.i_vids.chunks_i, i_block.i_vids.entries_i,
        i_block.i_vids.entry_count_i, i_block.i_vids.storage_base_i, i_block.i_vids.storage_pages_i,
        i_block.i_vids.store_i, i_block.i_vids.epoch_i
    })
    `RULE(pages_are_those_of_the_job, 1, {
        starts, job.forgets_pages, job.storage_base[63:6], job.storage_pages, job.page_map_chunks[63:3], job.logical_pages,
        job.delta_images[63:6], job.store, job.epoch, job.table_number
    } == {
        i_block.i_pages.start_i, i_block.i_pages.forget_pages_i, i_block.i_pages.storage_base_i,
        i_block.i_pages.storage_pages_i, i_block.i_pages.map_chunks_i, i_block.i_pages.logical_pages_i,
        i_block.i_pages.images_i, i_block.i_pages.store_i, i_block.i_pages.epoch_i, i_block.i_pages.table_i
    })
    `RULE(versions_are_those_of_the_snapshot, 1, {job.snapshot, job.wants_payloads || job.program_address != 0}
        == {i_block.i_versions.snapshot_i, i_block.i_versions.payloads_i})

    // ---- From a VID to its row.

    `RULE(page_entries_go_to_the_look_up, 1, {
        i_block.i_page_entries.valid_o, entries_q[9:0], i_block.i_page_entries.entry_o[95:0], entries_q,
        i_block.i_page_entries.broken_o || too_many
    } == {
        i_block.i_pages.entry_valid_i, i_block.i_pages.entry_position_i, i_block.i_pages.entry_image_i,
        i_block.i_pages.entry_page_i, i_block.i_pages.entry_count_i, i_block.i_pages.entries_broken_i
    } && i_block.i_page_entries.pop_i == i_block.i_page_entries.valid_o)
    `RULE(vids_go_to_the_look_up, 1, {
        i_block.i_vids.valid_o && i_block.chain_free, i_block.new_chain, i_block.i_vids.head_o, i_block.i_vids.code_o,
        i_block.i_pages.vid_ready_o
    } == {
        i_block.i_pages.vid_valid_i, i_block.i_pages.vid_chain_i, i_block.i_pages.vid_record_i,
        i_block.i_pages.vid_code_i, i_block.i_vids.ready_i
    })
    `RULE(walks_begin_with_their_vids, 1, {i_block.begins, i_block.new_chain, i_block.i_vids.vid_o} == {
        i_block.i_versions.begin_valid_i, i_block.i_versions.begin_chain_i, i_block.i_versions.begin_vid_i
    } && i_block.begins == (i_block.i_vids.valid_o && i_block.i_vids.ready_i))
    `RULE(pages_go_to_the_walks, 1, {
        i_block.i_pages.enter_valid_o, i_block.i_pages.enter_chain_o, i_block.i_pages.enter_record_o,
        i_block.i_pages.line_valid_o, i_block.i_pages.line_chain_o, i_block.i_pages.line_address_o,
        i_block.i_pages.line_page_o, i_block.i_pages.line_lines_o, i_block.i_pages.fault_valid_o,
        i_block.i_pages.fault_chain_o, i_block.i_pages.fault_code_o
    } == {
        i_block.i_versions.enter_valid_i, i_block.i_versions.enter_chain_i, i_block.i_versions.enter_record_i,
        i_block.i_versions.line_valid_i, i_block.i_versions.line_chain_i, i_block.i_versions.line_address_i,
        i_block.i_versions.line_page_i, i_block.i_versions.line_lines_i, i_block.i_versions.fault_valid_i,
        i_block.i_versions.fault_chain_i, i_block.i_versions.fault_code_i
    })
    `RULE(older_versions_go_to_the_look_up, 1,
        {i_block.i_versions.hop_valid_o, i_block.i_versions.hop_chain_o, i_block.i_versions.hop_record_o}
        == {i_block.i_pages.hop_valid_i, i_block.i_pages.hop_chain_i, i_block.i_pages.hop_record_i})
    `RULE(versions_go_to_the_rows, 1, {
        i_block.i_versions.row_valid_o, i_block.i_versions.row_o, i_block.i_versions.row_word_o,
        i_block.i_versions.row_address_o, i_block.i_versions.row_has_line_o, i_block.i_versions.row_line_o,
        i_block.i_rows.row_ready_o
    } == {
        i_block.i_rows.row_valid_i, i_block.i_rows.row_i, i_block.i_rows.row_word_i, i_block.i_rows.row_address_i,
        i_block.i_rows.row_has_line_i, i_block.i_rows.row_line_i, i_block.i_versions.row_ready_i
    })
    `RULE(rows_go_out, 1, {m_axis_row_tvalid, m_axis_row_tdata, m_axis_row_tlast, m_axis_row_tready} == {
        i_block.i_rows.m_axis_row_tvalid, i_block.i_rows.m_axis_row_tdata, i_block.i_rows.m_axis_row_tlast,
        i_block.i_rows.m_axis_row_tready
    })
    // Events of the blocks, which are counted.
    `RULE(what_happens_is_told, 1, {
        i_block.i_port_1.asked_o, i_block.i_port_0.asked_o, i_block.i_pages.checked_o, i_block.i_vids.checked_o,
        i_block.i_vids.visited_o, i_block.i_versions.looked_o, i_block.i_rows.visible_o, i_block.i_rows.fault_o,
        i_block.i_pages.missed_o, i_block.i_versions.end_valid_o, i_block.i_versions.end_chain_o
    } == {
        i_block.asked, i_block.checked, i_block.chunk_checked, i_block.visited, i_block.looked, i_block.visible,
        i_block.fault, i_block.missed, i_block.ends, i_block.ended_chain
    })
    `RULE(what_is_quiet_is_told, 1, {
        i_block.i_vids.quiet_o, i_block.i_pages.quiet_o, i_block.i_rows.quiet_o, i_block.i_page_entries.quiet_o,
        i_block.i_page_entries.ended_o, i_block.i_page_entries.broken_o, i_block.i_pages.forgetting_o,
        i_block.i_port_1.quiet_o, i_block.i_port_0.quiet_o
    } == {
        i_block.vids_quiet, i_block.checks_quiet, i_block.rows_quiet, i_block.entries_quiet, i_block.entries_ended,
        i_block.entries_broken, i_block.forgetting, i_block.ports_quiet
    })
    `RULE(blocks_have_their_ids, 1, {i_block.i_vids.PlaceId, i_block.i_vids.EntryId, i_block.i_vids.FirstCheckId,
        i_block.i_pages.FirstCheckId, i_block.i_pages.MapId, i_block.i_rows.Id, i_block.i_page_entries.Id}
        == {8'h83, 8'h81, 8'h84, 8'h88, 8'h82, 8'h80, 8'h91})
