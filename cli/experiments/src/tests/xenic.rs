// SPDX-License-Identifier: MIT OR Apache-2.0
use super::{Small, seeds};

works_under_seeds! {
    table2_works_under_seeds: "xenic-table2" at 0.002,
    hint_staleness_works_under_seeds: "xenic-hint-staleness" at 0.01,
    occupancy_works_under_seeds: "xenic-occupancy" at 0.005,
    nic_lookup_works_under_seeds: "nic-lookup" at 0.02,
    rpc_works_under_seeds: "xenic-rpc" at 0.02,
    fig2_works_under_seeds: "xenic-fig2" at 0.05,
    fig3_works_under_seeds: "xenic-fig3" at 0.02,
    fig4_works_under_seeds: "xenic-fig4" at 0.02,
    fig8a_works_under_seeds: "xenic-fig8a" at 0.02,
    fig8b_works_under_seeds: "xenic-fig8b" at 0.01,
    tpcc_50g_works_under_seeds: "xenic-tpcc-50g" at 0.02,
    fig8c_works_under_seeds: "xenic-fig8c" at 0.02,
    fig8d_works_under_seeds: "xenic-fig8d" at 0.02,
    fig9a_works_under_seeds: "xenic-fig9a" at 0.01,
    fig9b_works_under_seeds: "xenic-fig9b" at 0.02,
    rtl_works_under_seeds: "xenic-rtl" at 0.02,
    table3_works_under_seeds: "xenic-table3" at 0.01,
    index_cache_works_under_seeds: "xenic-index-cache" at 0.02,
    offpath_works_under_seeds: "xenic-offpath" at 0.02,
}

/// The rows that are to agree do so with few keys, too.
#[test]
fn the_limited_rows_of_table_2_come_out() {
    let findings = Small::of("xenic-table2", 0.01).findings(seeds(1, 1));
    let rows: Vec<_> = findings.rows.iter().filter(|row| row.paper.is_some()).collect();
    assert_eq!(rows.len(), 16);
    for row in rows {
        let exempt = row.label.contains("no limit") || row.label.contains("FaRM");
        // A hundredth of the keys scatters more than the one per cent of the full length.
        let off = row.ratio().expect("a value of the paper").map(|ratio| (ratio - 1.0).abs());
        assert!(exempt || off[0] < 0.06, "{row:?}");
    }
}

/// The platform gives back the two latencies that it was made from.
#[test]
fn the_paths_of_a_nic_off_the_path_are_those_that_were_measured() {
    let findings = Small::of("xenic-offpath", 0.02).findings(seeds(1, 1));
    let rows: Vec<_> = findings.rows.iter().filter(|row| row.paper.is_some()).collect();
    assert_eq!(rows.len(), 2);
    for row in rows {
        let off = row.ratio().expect("a value of the paper").map(|ratio| (ratio - 1.0).abs());
        assert!(off[0] < 0.01, "{row:?}");
    }
}
