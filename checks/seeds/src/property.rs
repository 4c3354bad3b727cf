// SPDX-License-Identifier: MIT OR Apache-2.0
//! Properties whose cases `proptest` draws and shrinks.

use proptest::test_runner::{Config, RngSeed};

/// Runs that shrinking a case may take.
const MOST_SHRINKS: u32 = 1024;

/// Of `proptest`: a single case, drawn from this seed. Where it is written down is the command that
/// is printed, and no file.
#[must_use]
pub fn one_case(seed: u64) -> Config {
    let rng_seed = RngSeed::Fixed(seed);
    Config {
        cases: 1,
        rng_seed,
        max_shrink_iters: MOST_SHRINKS,
        failure_persistence: None,
        ..Config::default()
    }
}

/// Like `proptest::proptest!`, but each case has a seed of its own, as in all random tests; `cases`
/// says how many there are by default, of each property.
///
/// ```
/// seeds::proptest! {
///     #![cases(200)]
///
///     // In a test, with #[test] before it.
///     fn sums_commute(a in 0_u32..1000, b in 0_u32..1000) {
///         assert_eq!(a + b, b + a);
///     }
/// }
/// sums_commute();
/// ```
#[macro_export]
macro_rules! proptest {
    (
        #![cases($default:expr)]
        $($(#[$attribute:meta])* fn $name:ident($($drawn:tt)*) $body:block)*
    ) => {
        $($(#[$attribute])* fn $name() {
            $crate::each!($default, |seed| {
                $crate::proptest::proptest!($crate::one_case(seed), |($($drawn)*)| $body);
            });
        })*
    };
}
