// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs through the RTL: right answers, the machine's counts, the same report twice, and a rate near the limit.

use nic_runs::{Contents, HostSettings, Job, LookUps, Profile, Report, RunError, Settings, Watch};
use system::Interrupt;
use timing::platform::Platform;

fn job(keys: u32, profile: &str, counts: (usize, usize), absent: f64, settings: Settings) -> Job {
    let platform = Platform::named("liquidio3").expect("valid");
    let profile: Profile = profile.parse().expect(profile);
    let contents = Contents::generated(keys, settings.seed);
    Job::of_profile(contents, &profile, counts, absent, settings, platform).expect("a job")
}

fn with_threads(seed: u64, threads: u32) -> Settings {
    let host = HostSettings { threads, share: 0.05, store_ns: 8, pause_ns: 200 };
    Settings { seed, host, ..Settings::default() }
}

fn watched<T>(run: impl FnOnce(&mut Watch<'_>) -> T) -> T {
    let interrupt = Interrupt::default();
    run(&mut Watch { interrupt: &interrupt, progress: &mut |_, _| () })
}

fn virtual_time(job: &Job) -> Report {
    watched(|watch| job.virtual_time(watch)).expect("it runs")
}

#[test]
fn answers_are_right_while_threads_change_the_table() {
    seeds::each!(2, |seed| {
        let report = virtual_time(&job(2000, "zipf:0.8", (200, 2500), 0.2, with_threads(seed, 3)));
        assert_eq!(report.look_ups, 2500);
        assert_eq!(report.rtl_counters, report.machine_counters);
        assert!(report.hits > 100 && report.absent > 300, "{report:?}");
        let host = report.host.expect("there are threads");
        assert!(host.deletions > 10 && host.insertions > 2 && host.judged > 2000, "{host:?}");
    });
}

#[test]
fn the_same_job_gives_the_same_report() {
    let text = |seed| {
        let report = virtual_time(&job(2000, "zipf:0.99", (100, 1000), 0.1, with_threads(seed, 2)));
        format!("{report:?}")
    };
    let first = text(5);
    assert_eq!(first, text(5));
    assert_ne!(first, text(6));
}

#[test]
fn without_hits_the_link_is_used_as_far_as_the_goal_says() {
    let report = virtual_time(&job(8000, "hits:0", (300, 5000), 0.0, Settings::default()));
    let speed = report.speed.expect("in virtual time");
    let reached = speed.look_ups_per_second / speed.limits.least();
    assert_eq!(report.hits, 0);
    assert!((0.9..=1.0).contains(&reached), "{reached}: {speed:?}");
    let dma = report.dma.expect("of the RTL");
    assert!(dma.elements >= 3000 && dma.elements_per_vector > 1.0, "{dma:?}");
    assert!(dma.bytes_to_card > dma.bytes_asked, "{dma:?}");
}

#[test]
fn a_look_up_alone_takes_a_round_trip_and_a_hit_none() {
    let mut settings = Settings::default();
    settings.card.in_flight = 1;
    let report = virtual_time(&job(2000, "hits:50", (10, 60), 0.0, settings));
    let speed = report.speed.expect("in virtual time");
    // 1.3 µs of the link, idle time of the vector, the index, the scan.
    let (hit, miss) = (speed.hit_latency.p50_ns, speed.miss_latency.p50_ns);
    assert!(hit < 500.0 && (1300.0..2000.0).contains(&miss), "{hit} and {miss} ns");
}

#[test]
fn a_cold_index_learns() {
    let mut settings = Settings::default();
    settings.card.knows_hints = false;
    let cold = virtual_time(&job(2000, "uniform", (0, 2000), 0.0, settings));
    let warm = virtual_time(&job(2000, "uniform", (0, 2000), 0.0, Settings::default()));
    assert!(cold.hint_quality < warm.hint_quality - 0.1, "{cold:?}");
    assert!(cold.trips > warm.trips, "{cold:?}");
}

#[test]
fn real_threads_change_real_memory() {
    let settings = with_threads(1, 2);
    let job = job(2000, "zipf:0.8", (100, 3000), 0.1, settings);
    let report = watched(|watch| job.wall_clock(watch)).expect("it runs");
    assert_eq!((report.look_ups, report.rtl_counters), (3000, report.machine_counters));
    assert!(report.simulated_per_wall_second.is_some_and(|rate| rate > 0.0));
    assert!(report.host.is_some_and(|host| host.deletions > 0), "{:?}", report.host);
}

#[test]
fn an_interrupt_ends_a_run_with_what_there_is() {
    let job = job(2000, "uniform", (0, 100_000), 0.0, with_threads(1, 2));
    let interrupt = Interrupt::default();
    let mut progress = |done: f64, _| {
        if done > 0.05 {
            interrupt.raise();
        }
    };
    let mut watch = Watch { interrupt: &interrupt, progress: &mut progress };
    let report = job.virtual_time(&mut watch).expect("it ends");
    assert!(report.is_interrupted && (1000..50_000).contains(&report.look_ups), "{report:?}");
}

#[test]
fn a_job_without_look_ups_is_refused() {
    let platform = Platform::named("liquidio3").expect("valid");
    let look_ups = LookUps { warm_up: Vec::new(), measured: Vec::new() };
    let job = Job::new(Contents::generated(10, 0), look_ups, Settings::default(), platform);
    let error = job.err().expect("refused");
    assert!(matches!(error, RunError::Setting { .. }) && error.is_of_input(), "{error}");
}
