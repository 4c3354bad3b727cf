// SPDX-License-Identifier: MIT OR Apache-2.0
//! The vectorizer under test, or its mutants, and its ports.

use dma_vectorizer::{Core, mutants};
pub use dma_vectorizer::{Inputs, Outputs};
use nic::vector::{Direction, Element, QUEUES};

pub type Model = verilated::Model<suites::subject::Subject<Core, mutants::Core>>;

/// A vectorizer at power-up.
pub fn model(seed: u64) -> Model {
    suites::subject::model(seed, mutants::Core::set_mutant)
}

/// A vectorizer after its first reset.
pub fn after_power_up(seed: u64) -> Model {
    let mut model = model(seed);
    model.reset(4);
    model
}

sim::axi4_burst_port!(pub host_pins, set_host_pins: m_axi_host of Inputs, Outputs,
    with awcache arcache);
sim::axi4_burst_port!(pub nic_pins, set_nic_pins: m_axi_nic of Inputs, Outputs,
    with awcache arcache);

sim::axi_lite_port!(pub registers, set_registers of Inputs, Outputs);

/// An element as it is on a stream of commands.
pub type Command = [u64; 3];

/// The beat of an element; docs/nic-lookup.md has its bits.
pub fn command(element: &Element) -> Command {
    let &Element { token, direction, host, nic, bytes } = element;
    let first = u64::from(token) | u64::from(bytes) << 16 | host << 32;
    let second = host >> 32 | nic << 32;
    let writes = u64::from(direction == Direction::Write);
    [first, second, nic >> 32 | writes << 32]
}

macro_rules! queues {
    ($($queue:literal)+) => {
        /// Which queues take a command in this clock.
        pub fn command_readies(outputs: &Outputs) -> [bool; QUEUES] {
            sim::bus::ports::paste! { [$(outputs.[<s_axis_cmd $queue _tready>]),+] }
        }

        pub fn set_command(inputs: &mut Inputs, queue: usize, valid: bool, command: Command) {
            sim::bus::ports::paste! {
                match queue {
                    $($queue => {
                        inputs.[<s_axis_cmd $queue _tvalid>] = valid;
                        inputs.[<s_axis_cmd $queue _tdata>] = command;
                    })+
                    _ => unreachable!("queues are 0 to 7"),
                }
            }
        }
    };
}
queues!(0 1 2 3 4 5 6 7);
