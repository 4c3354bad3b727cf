// SPDX-License-Identifier: MIT OR Apache-2.0
//! The event kernel against a naive model.

use proptest::prelude::*;
use timing::{Kernel, Priority, Time};

const PRIORITIES: [Priority; 4] =
    [Priority::Deliver, Priority::ClockEdge, Priority::Issue, Priority::Observe];

seeds::proptest! {
    #![cases(400)]

    /// Against a list that is searched for its smallest (time, priority, number).
    #[test]
    fn agrees_with_a_sorted_list(
        steps in prop::collection::vec((any::<bool>(), 0u64..20, 0usize..4), 0..400)
    ) {
        let mut kernel = Kernel::new();
        let mut model: Vec<(Time, Priority, usize)> = Vec::new();
        let mut now = Time::ZERO;
        for (number, (push, delay, priority)) in steps.into_iter().enumerate() {
            if push {
                let priority = PRIORITIES[priority];
                kernel.schedule_after(Time::from_ps(delay), priority, number);
                model.push((now + Time::from_ps(delay), priority, number));
            } else {
                let expected = model.iter().copied().min();
                model.retain(|entry| Some(*entry) != expected);
                prop_assert_eq!(kernel.next_time(), expected.map(|(time, ..)| time));
                prop_assert_eq!(kernel.pop(), expected.map(|(time, _, number)| (time, number)));
                now = kernel.now();
            }
            prop_assert_eq!(kernel.len(), model.len());
        }
    }
}
