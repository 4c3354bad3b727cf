// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reads and writes at once on the register port, which a host's bridge may do and our manager model
//! does not.

const LOCK_UNIT: u32 = 0x4C53_4C55;
const LOOK_UP_UNIT: u32 = 0x4C53_4E4C;
const QUEUE: u32 = 0x4C53_5155;

/// A read that comes at any time while a write is under way: each has its own answer, once.
pub fn a_read_comes_while_a_write_is_under_way(seed: u64) -> Result<(), String> {
    let queues = [0x2000, 0x3000, 0x4000, 0x6000].map(|block| (block, QUEUE));
    let units = [(0x1000, LOCK_UNIT), (0x5000, LOOK_UP_UNIT)];
    for (block, identity) in units.into_iter().chain(queues) {
        for later in 0..6 {
            let mut model = crate::dut::device(seed);
            model.reset(4);
            let inputs = model.inputs_mut();
            (inputs.s_axil_bready, inputs.s_axil_rready) = (true, true);
            (inputs.s_axil_awaddr, inputs.s_axil_araddr) = (block + 0x020, block + 0x100);
            (inputs.s_axil_wdata, inputs.s_axil_wstrb) = (0x1240, 0xF);
            (inputs.s_axil_awvalid, inputs.s_axil_wvalid) = (true, true);
            let (mut written, mut read) = (Vec::new(), Vec::new());
            for cycle in 0..100 {
                let inputs = model.inputs_mut();
                inputs.s_axil_arvalid |= cycle == later;
                let outputs = model.outputs().clone();
                written.extend(outputs.s_axil_bvalid.then_some(outputs.s_axil_bresp));
                let data = (outputs.s_axil_rresp, outputs.s_axil_rdata);
                read.extend(outputs.s_axil_rvalid.then_some(data));
                model.clock();
                let inputs = model.inputs_mut();
                inputs.s_axil_awvalid &= !outputs.s_axil_awready;
                inputs.s_axil_wvalid &= !outputs.s_axil_wready;
                inputs.s_axil_arvalid &= !outputs.s_axil_arready;
            }
            if written != [0] || read != [(0, identity)] {
                return Err(format!(
                    "read {later} cycles after a write at 0x{block:X}: {written:?}, {read:X?}"
                ));
            }
        }
    }
    Ok(())
}

/// How many clocks after arvalid rvalid comes, as docs/device.md says of each block.
pub fn reads_take_as_many_clocks_as_said() {
    let said = [(0x0000, 3), (0x2000, 3), (0x1000, 3), (0x5000, 5)];
    let found = said.map(|(block, _)| {
        let mut model = crate::dut::device(0);
        model.reset(4);
        let inputs = model.inputs_mut();
        (inputs.s_axil_rready, inputs.s_axil_arvalid, inputs.s_axil_araddr) = (true, true, block);
        let mut clocks = 0;
        while !model.outputs().s_axil_rvalid && clocks < 100 {
            let taken = model.outputs().s_axil_arready;
            model.clock();
            model.inputs_mut().s_axil_arvalid &= !taken;
            clocks += 1;
        }
        (block, clocks)
    });
    assert_eq!(found, said);
}
