// SPDX-License-Identifier: MIT OR Apache-2.0
//! Several runs, on all cores, in an order that does not depend on them.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use super::{Extras, Report, RunError, Settings, Watch, run};

/// Makes a run at each of `points`, at most `jobs` at once. The reports stand in the order of the points
/// and are the same for any number of jobs. `progress` is told which part is done, and how many points.
/// Points that had not begun when it was interrupted are left out.
///
/// # Errors
/// That of the first point that fails.
pub fn sweep(
    points: &[Settings],
    jobs: usize,
    is_interrupted: &(dyn Fn() -> bool + Sync),
    progress: &mut dyn FnMut(f64, usize),
) -> Result<Vec<Report>, RunError> {
    // Nothing is run if a point is not possible.
    for point in points {
        point.hardware()?;
        point.fault_plan()?;
    }
    let made: Vec<Mutex<Option<Result<Report, RunError>>>> =
        points.iter().map(|_| Mutex::new(None)).collect();
    let next = AtomicUsize::new(0);
    let (told, tells) = mpsc::channel::<(usize, f64)>();
    let work = |told: mpsc::Sender<(usize, f64)>| {
        while let place = next.fetch_add(1, Ordering::Relaxed)
            && let Some(point) = points.get(place)
            && !is_interrupted()
        {
            let mut progress = |of: super::Progress| {
                // Nobody listens any more only when the caller has panicked.
                let _ = told.send((place, of.done));
            };
            let mut watch = Watch { is_interrupted: &is_interrupted, progress: &mut progress };
            let report = run(point, Extras::default(), &mut watch).map(|outcome| outcome.report);
            *made[place].lock().expect("one thread has it") = Some(report);
        }
    };
    thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, points.len().max(1)) {
            let told = told.clone();
            let work = &work;
            scope.spawn(move || work(told));
        }
        drop(told);
        let mut done = vec![0.0; points.len()];
        for (place, part) in tells {
            done[place] = part;
            let all = done.iter().sum::<f64>() / points.len() as f64;
            progress(all, done.iter().filter(|part| **part >= 1.0).count());
        }
    });
    let reports = made
        .into_iter()
        .filter_map(|place| place.into_inner().expect("its thread has not panicked"));
    reports.collect()
}
