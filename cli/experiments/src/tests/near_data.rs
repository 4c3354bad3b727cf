works_under_seeds! {
    update_speedup_works_under_seeds: "ndp-update-speedup" at 0.02,
}
