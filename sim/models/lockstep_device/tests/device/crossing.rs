// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reads and writes at once on the register port, which a host's bridge may do and our manager model
//! does not.

const LOCK_UNIT: u32 = 0x4C53_4C55;
const LOOK_UP_UNIT: u32 = 0x4C53_4E4C;
const QUEUE: u32 = 0x4C53_5155;

/// A read that comes at any time while a write is under way: each has its own answer, once.
pub fn a_read_comes_while_a_write_is_under_way(seed: u64) -> Result<(), String> {
    (0..6).try_for_each(|later| cross(seed, [0, 0, later]))
}

/// A write whose address and data come at any time while a read is under way.
pub fn a_write_comes_while_a_read_is_under_way(seed: u64) -> Result<(), String> {
    (0..36).try_for_each(|n| cross(seed, [n / 6, n % 6, 0]))
}

/// A write of which address and data come in these cycles, and a read.
fn cross(seed: u64, [address, data, read]: [u64; 3]) -> Result<(), String> {
    let queues = [0x2000, 0x3000, 0x4000, 0x6000].map(|block| (block, QUEUE));
    let units = [(0x1000, LOCK_UNIT), (0x5000, LOOK_UP_UNIT)];
    for (block, identity) in units.into_iter().chain(queues) {
        let mut model = crate::dut::device(seed);
        model.reset(4);
        let inputs = model.inputs_mut();
        (inputs.s_axil_bready, inputs.s_axil_rready) = (true, true);
        (inputs.s_axil_awaddr, inputs.s_axil_araddr) = (block + 0x020, block + 0x100);
        (inputs.s_axil_wdata, inputs.s_axil_wstrb) = (0x1240, 0xF);
        let (mut ended, mut answered) = (Vec::new(), Vec::new());
        for cycle in 0..100 {
            let inputs = model.inputs_mut();
            inputs.s_axil_awvalid |= cycle == address;
            inputs.s_axil_wvalid |= cycle == data;
            inputs.s_axil_arvalid |= cycle == read;
            let outputs = model.outputs().clone();
            ended.extend(outputs.s_axil_bvalid.then_some(outputs.s_axil_bresp));
            let answer = (outputs.s_axil_rresp, outputs.s_axil_rdata);
            answered.extend(outputs.s_axil_rvalid.then_some(answer));
            model.clock();
            let inputs = model.inputs_mut();
            inputs.s_axil_awvalid &= !outputs.s_axil_awready;
            inputs.s_axil_wvalid &= !outputs.s_axil_wready;
            inputs.s_axil_arvalid &= !outputs.s_axil_arready;
        }
        if ended != [0] || answered != [(0, identity)] {
            return Err(format!(
                "at 0x{block:X} a write's address in cycle {address}, its data in {data}, a read in {read}: \
                 {ended:?}, {answered:X?}"
            ));
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
