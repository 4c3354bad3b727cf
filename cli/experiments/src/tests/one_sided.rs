// SPDX-License-Identifier: MIT OR Apache-2.0
works_under_seeds! {
    fig10a_works_under_seeds: "drtm-fig10a" at 0.05,
    atomics_works_under_seeds: "drtm-atomics" at 0.05,
    round_trip_works_under_seeds: "switchtx-roundtrip" at 0.05,
}
