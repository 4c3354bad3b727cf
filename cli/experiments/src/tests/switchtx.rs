// SPDX-License-Identifier: MIT OR Apache-2.0
works_under_seeds! {
    roundtrip_works_under_seeds: "switchtx-roundtrip" at 0.02,
}
