// SPDX-License-Identifier: MIT OR Apache-2.0
works_under_seeds! {
    update_speedup_works_under_seeds: "ndp-update-speedup" at 0.02,
}
