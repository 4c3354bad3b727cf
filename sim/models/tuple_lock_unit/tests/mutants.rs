// SPDX-License-Identifier: MIT OR Apache-2.0
//! The model with mutants is driven by the same test bench as the unit itself.

use tuple_lock_unit::mutants::Model;
use verilated::Core;

/// Without what is on a channel that offers nothing: it may be left from before the reset.
fn offered(pins: &tuple_lock_unit::Outputs) -> tuple_lock_unit::Outputs {
    let mut pins = pins.clone();
    if !pins.m_axis_rsp_tvalid {
        pins.m_axis_rsp_tdata = 0;
    }
    if !pins.m_axi_awvalid {
        (pins.m_axi_awaddr, pins.m_axi_awid) = (0, 0);
        (pins.m_axi_awatop, pins.m_axi_awburst, pins.m_axi_awsize) = (0, 0, 0);
    }
    if !pins.m_axi_wvalid {
        (pins.m_axi_wdata, pins.m_axi_wstrb) = Default::default();
    }
    if !pins.m_axi_arvalid {
        (pins.m_axi_araddr, pins.m_axi_arid, pins.m_axi_arcache) = (0, 0, 0);
    }
    if !pins.s_axil_bvalid {
        pins.s_axil_bresp = 0;
    }
    if !pins.s_axil_rvalid {
        (pins.s_axil_rdata, pins.s_axil_rresp) = (0, 0);
    }
    pins
}

/// Written for the pins, not for one of the two units.
fn outputs_of<C>(mut unit: verilated::Model<C>, cycles: u64) -> Vec<tuple_lock_unit::Outputs>
where
    C: Core<Inputs = tuple_lock_unit::Inputs, Outputs = tuple_lock_unit::Outputs>,
{
    unit.reset(2);
    let mut seen = vec![];
    for cycle in 0..cycles {
        let inputs = unit.inputs_mut();
        // Requests of all kinds, one of five with an operation that does not exist; memory takes what
        // is asked of it and does not answer.
        inputs.s_axil_awvalid = cycle == 0;
        (inputs.s_axil_wvalid, inputs.s_axil_wdata, inputs.s_axil_wstrb) = (cycle == 0, 1, 0xF);
        inputs.s_axil_bready = true;
        inputs.s_axis_req_tvalid = cycle >= 10;
        let (operation, tag) = (cycle % 5, cycle % 128);
        inputs.s_axis_req_tdata = [(cycle + 1) << 16 | operation << 8 | tag, 7 * cycle, 0];
        inputs.m_axis_rsp_tready = true;
        (inputs.m_axi_awready, inputs.m_axi_wready, inputs.m_axi_arready) = (true, true, true);
        unit.inputs_mut().s_axil_arvalid = cycle % 3 == 0;
        unit.inputs_mut().s_axil_araddr = 0x100 + 4 * (cycle % 4) as u16;
        unit.inputs_mut().s_axil_rready = cycle % 5 != 0;
        unit.clock();
        seen.push(offered(unit.outputs()));
    }
    seen
}

#[test]
fn without_a_mutant_it_is_the_unit_itself() {
    let mut none = Model::new();
    none.core_mut().set_mutant(0);
    let expected = outputs_of(tuple_lock_unit::Model::new(), 300);
    assert!(expected.iter().any(|outputs| outputs.s_axil_rdata == 0x4C53_4C55));
    assert!(expected.iter().any(|outputs| outputs.m_axi_awvalid && outputs.m_axi_wvalid));
    assert!(expected.iter().any(|outputs| outputs.m_axis_rsp_tvalid));
    assert_eq!(outputs_of(none, 300), expected);
}
