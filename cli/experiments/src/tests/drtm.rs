// SPDX-License-Identifier: MIT OR Apache-2.0
works_under_seeds! {
    fig10a_works_under_seeds: "drtm-fig10a" at 0.02,
    atomics_works_under_seeds: "drtm-atomics" at 0.02,
}
