// SPDX-License-Identifier: MIT OR Apache-2.0
//! The options of the build take effect in the counter.

use event_counter::Model;

#[test]
fn it_counts_in_steps_up_to_the_largest_number() {
    let mut counter = Model::powered_up(1);
    counter.reset(2);
    assert_eq!(counter.outputs().count, 0, "the reset is active high");
    counter.inputs_mut().seen = true;
    for events in 1..2000 {
        counter.clock();
        // The parameter gives 12 bits, and the macro a step of 3.
        assert_eq!(counter.outputs().count, (3 * events).min((1 << 12) - 1));
    }
    counter.reset(1);
    assert_eq!(counter.outputs().count, 0);
}
