// SPDX-License-Identifier: MIT OR Apache-2.0
//! Assertions of the RTL that do not hold.

/// An assertion of the RTL that failed, at the rising edge of a clock cycle after the reset.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cycle {cycle} of {block}, powered up with seed {power_up_seed}: {message}")]
pub struct AssertionError {
    /// The top module of the model.
    pub block: &'static str,
    /// In Verilator's words, beginning with file and line: `lut_fifo.sv:46: Assertion failed in
    /// program_lanes.i_rows.pop_has_a_word: 'assert' failed.`
    pub message: String,
    /// The cycle, as [`Model::cycles`](crate::Model::cycles) counts them, of the edge.
    pub cycle: u64,
    /// What [`Model::powered_up`](crate::Model::powered_up) was given.
    pub power_up_seed: u64,
}

impl AssertionError {
    /// From all that Verilator has printed.
    pub(crate) fn new(
        block: &'static str,
        printed: &str,
        cycle: u64,
        power_up_seed: u64,
    ) -> AssertionError {
        // `[0] %Error: ` stands first; the time is not ours.
        let printed = printed.trim();
        let message = printed.split_once("%Error: ").map_or(printed, |(_, message)| message);
        AssertionError { block, message: message.to_owned(), cycle, power_up_seed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_says_what_failed_where_and_how_to_repeat_it() {
        let printed =
            "[0] %Error: fifo.sv:46: Assertion failed in top.i_fifo.room: 'assert' failed.\n";
        let failure = AssertionError::new("top", printed, 12, 7);
        assert_eq!(
            failure.to_string(),
            "cycle 12 of top, powered up with seed 7: fifo.sv:46: Assertion failed in \
             top.i_fifo.room: 'assert' failed."
        );
    }

    #[test]
    fn what_is_said_otherwise_is_kept() {
        assert_eq!(AssertionError::new("top", "anything\n", 1, 0).message, "anything");
        assert_eq!(AssertionError::new("top", "", 1, 0).message, "");
    }
}
