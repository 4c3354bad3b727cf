// SPDX-License-Identifier: MIT OR Apache-2.0
//! What came out of a run.

use std::collections::BTreeMap;

use nic::lookup::{COUNTERS, Counters};
use serde::Serialize;
use sim::host_link::Traffic;
use system::{Latency, LatencyRecorder};
use timing::Time;

use crate::error::RunError;
use crate::job::Job;
use crate::judge::{Change, Judge};
use crate::limit::Limits;
use crate::served::Served;
use crate::settings::Settings;

/// What a run gives to be reported.
#[derive(Debug, Default)]
pub struct Raw {
    /// The measured look-ups, in the order of their answers.
    pub served: Vec<Served>,
    /// The look-ups of the warm-up.
    pub warm_up: Vec<Served>,
    /// What the host has changed.
    pub changes: Vec<Change>,
    /// What the RTL has counted during the measured part.
    pub rtl: Option<Counters>,
    /// What the machine has.
    pub machine: Option<Counters>,
    /// Copies and vectors of the RTL, and what went over the link, during the measured part.
    pub dma: Option<(Vectors, Traffic)>,
    /// Seconds of this machine that the run took, warm-up included, where that is of interest.
    pub wall_seconds: Option<f64>,
    /// It was ended early.
    pub is_interrupted: bool,
}

/// Reads of host memory, and how they were sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Vectors {
    /// Reads that were put into vectors: DMA elements.
    pub elements: u64,
    /// Vectors that were sent: full, flushed, idle.
    pub sent: [u64; 3],
}

impl std::ops::Sub for Vectors {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        Vectors {
            elements: self.elements - before.elements,
            sent: std::array::from_fn(|why| self.sent[why] - before.sent[why]),
        }
    }
}

/// What came out of a run. It is a function of the job, but for what was measured by this machine's clock.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// It was ended early, and covers what was done until then.
    #[serde(rename = "interrupted", skip_serializing_if = "std::ops::Not::not")]
    pub is_interrupted: bool,
    /// With what it was made.
    pub settings: Settings,
    /// The platform's name.
    pub platform: String,
    /// Keys of the table at the beginning.
    pub keys: u64,
    /// Measured look-ups.
    pub look_ups: u64,
    /// Those that found the key.
    pub found: u64,
    /// Those that found the key absent.
    pub absent: u64,
    /// Those that met with writes in each of their readings.
    pub gave_up: u64,
    /// Those that the index answered.
    pub hits: u64,
    /// The others, by round trips to host memory.
    pub misses_by_trips: BTreeMap<u8, u64>,
    /// Round trips of a look-up on average.
    pub trips: f64,
    /// The part of the misses that found all that they needed in the slots that the index named, 0 to 1.
    pub hint_quality: f64,
    /// In virtual time; none of the machine, which has no time.
    pub speed: Option<Speed>,
    /// Of the DMA and the link; none of the machine.
    pub dma: Option<DmaReport>,
    /// What the threads of the host did; none without any.
    pub host: Option<HostReport>,
    /// What the RTL has counted.
    pub rtl_counters: Option<BTreeMap<&'static str, u64>>,
    /// What the pure machine has counted on the same look-ups.
    pub machine_counters: Option<BTreeMap<&'static str, u64>>,
    /// Look-ups a second of this machine's clock: how fast the simulation is, not the card.
    pub simulated_per_wall_second: Option<f64>,
}

/// Look-ups in virtual time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Speed {
    /// From the first request to the last answer, in nanoseconds.
    pub duration_ns: f64,
    /// Look-ups by that.
    pub look_ups_per_second: f64,
    /// What is possible.
    pub limits: Limits,
    /// Of all look-ups, from acceptance to answer.
    pub latency: Latency,
    /// Of those that the index answered.
    pub hit_latency: Latency,
    /// Of the others.
    pub miss_latency: Latency,
}

/// Reads of host memory.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DmaReport {
    /// Reads that were put into vectors.
    pub elements: u64,
    /// Vectors that were sent because they were full, because of the flush time, because of the idle time.
    pub vectors: [u64; 3],
    /// Reads of a vector on average.
    pub elements_per_vector: f64,
    /// Bytes that the look-ups asked for, a look-up.
    pub bytes_asked: f64,
    /// Bytes on the link to the host, packet overhead included, a look-up.
    pub bytes_to_host: f64,
    /// The same to the card.
    pub bytes_to_card: f64,
    /// The part of the time in which the way to the host was occupied, 0 to 1.
    pub busy_to_host: f64,
    /// The same of the way to the card.
    pub busy_to_card: f64,
}

/// What the threads of the host did.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct HostReport {
    /// How many.
    pub threads: u32,
    /// Keys that were inserted.
    pub insertions: u64,
    /// Keys that were deleted.
    pub deletions: u64,
    /// Answers to look-ups that were judged against these.
    pub judged: u64,
}

impl Report {
    /// Judges all answers, and sums up. `needed` is what each measured look-up would need of the link if the index
    /// did not answer it, by key.
    ///
    /// # Errors
    /// When an answer is wrong, or RTL and machine have counted otherwise.
    pub(crate) fn of(
        job: &Job,
        raw: Raw,
        needed: &BTreeMap<u64, Traffic>,
    ) -> Result<Self, RunError> {
        compare(raw.rtl.as_ref(), raw.machine.as_ref())?;
        let judge = Judge::new(&job.contents.objects, &raw.changes);
        let answers = raw.warm_up.iter().chain(&raw.served).filter_map(|served| served.answered);
        let mut judged = 0;
        for answer in answers {
            judge.check(&answer)?;
            judged += 1;
        }
        let served = &raw.served;
        let count = |is: &dyn Fn(&Served) -> bool| served.iter().filter(|of| is(of)).count() as u64;
        let mut misses_by_trips = BTreeMap::new();
        for miss in served.iter().filter(|of| !of.is_hit) {
            *misses_by_trips.entry(miss.trips).or_insert(0) += 1;
        }
        let trips: u64 = served.iter().map(|of| u64::from(of.trips)).sum();
        let counters = raw.rtl.or(raw.machine).unwrap_or_default();
        let is_timed = raw.rtl.is_some() && !served.is_empty();
        let speed = is_timed.then(|| speed(job, served, needed));
        let all = (raw.warm_up.len() + served.len()) as f64;
        let by_name = |counters: Counters| counters.by_name().into_iter().collect();
        Ok(Report {
            is_interrupted: raw.is_interrupted,
            settings: job.settings,
            platform: job.platform.name.clone(),
            keys: job.contents.objects.len() as u64,
            look_ups: served.len() as u64,
            found: count(&|of| of.value().is_some()),
            absent: count(&|of| of.answered.is_some() && of.value().is_none()),
            gave_up: count(&|of| of.answered.is_none()),
            hits: count(&|of| of.is_hit),
            misses_by_trips,
            trips: share(trips, served.len() as u64),
            hint_quality: 1.0 - share(counters.short_hints, counters.misses),
            dma: speed.zip(raw.dma).map(|(speed, dma)| dma_report(job, dma, &counters, &speed)),
            speed,
            host: (job.settings.host.threads > 0).then(|| host_report(job, &raw.changes, judged)),
            rtl_counters: raw.rtl.map(by_name),
            machine_counters: raw.machine.map(by_name),
            simulated_per_wall_second: raw.wall_seconds.map(|took| all / took),
        })
    }
}

/// `part` of `whole`; 0 of nothing.
fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

fn speed(job: &Job, served: &[Served], needed: &BTreeMap<u64, Traffic>) -> Speed {
    let card = job.settings.card;
    let first = served.iter().map(|of| of.asked).min().unwrap_or_default();
    let last = served.iter().map(|of| of.ended).max().unwrap_or_default();
    let duration = card.clock() * (last - first).max(1);
    let mut recorders: [LatencyRecorder; 3] = Default::default();
    for of in served {
        let latency = card.clock() * (of.ended - of.asked);
        recorders[0].record(latency);
        recorders[if of.is_hit { 1 } else { 2 }].record(latency);
    }
    let of_misses: Vec<Traffic> = served
        .iter()
        .filter(|of| !of.is_hit)
        .filter_map(|of| needed.get(&of.answered?.key).copied())
        .collect();
    let [latency, hit_latency, miss_latency] = recorders.each_ref().map(LatencyRecorder::latency);
    Speed {
        duration_ns: duration.as_ns_f64(),
        look_ups_per_second: served.len() as f64 * 1e12 / duration.as_ps() as f64,
        limits: Limits::of(served.len(), &of_misses, &job.platform, card.in_flight, card.clock()),
        latency,
        hit_latency,
        miss_latency,
    }
}

fn dma_report(
    job: &Job,
    (vectors, traffic): (Vectors, Traffic),
    counters: &Counters,
    speed: &Speed,
) -> DmaReport {
    let look_ups = counters.look_ups;
    let wire = |bytes| job.platform.link.bandwidth.get().time_for(bytes);
    let busy = |time: Time| time.as_ns_f64() / speed.duration_ns;
    DmaReport {
        elements: vectors.elements,
        vectors: vectors.sent,
        elements_per_vector: share(vectors.elements, vectors.sent.iter().sum()),
        bytes_asked: share(counters.bytes_read, look_ups),
        bytes_to_host: share(traffic.bytes_to_host, look_ups),
        bytes_to_card: share(traffic.bytes_to_device, look_ups),
        busy_to_host: busy(wire(traffic.bytes_to_host)),
        busy_to_card: busy(wire(traffic.bytes_to_device)),
    }
}

fn host_report(job: &Job, changes: &[Change], judged: u64) -> HostReport {
    let insertions = changes.iter().filter(|of| of.content.is_some()).count() as u64;
    let deletions = changes.len() as u64 - insertions;
    HostReport { threads: job.settings.host.threads, insertions, deletions, judged }
}

/// Whether both have counted the same.
fn compare(rtl: Option<&Counters>, machine: Option<&Counters>) -> Result<(), RunError> {
    let (Some(rtl), Some(machine)) = (rtl, machine) else { return Ok(()) };
    for ((name, rtl), (_, machine)) in rtl.by_name().into_iter().zip(machine.by_name()) {
        if rtl != machine {
            return Err(RunError::Counters { name, rtl, machine });
        }
    }
    Ok(())
}

/// The counters with these values, in the order of the registers.
pub fn counters(values: [u64; COUNTERS]) -> Counters {
    let mut values = values.into_iter();
    let mut next = || values.next().expect("there are as many");
    // Fields are evaluated in the order in which they stand.
    Counters {
        requests: next(),
        look_ups: next(),
        hits: next(),
        misses: next(),
        found: next(),
        found_in_buckets: next(),
        absent: next(),
        gave_up: next(),
        not_read: next(),
        short_hints: next(),
        trips: next(),
        reads: next(),
        slots_read: next(),
        bytes_read: next(),
        repeated_readings: next(),
        disturbed_readings: next(),
        fills: next(),
        fills_stale: next(),
        fills_full: next(),
        hints_set: next(),
        index_errors: next(),
    }
}

/// What was counted between two readings.
pub fn difference(now: &Counters, before: &Counters) -> Counters {
    let (now, before) = (now.by_name(), before.by_name());
    counters(std::array::from_fn(|n| now[n].1 - before[n].1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_keep_their_order() {
        let all = counters(std::array::from_fn(|n| 3 * n as u64));
        assert!(all.by_name().into_iter().enumerate().all(|(n, (_, value))| value == 3 * n as u64));
        assert_eq!(difference(&all, &counters([0; COUNTERS])), all);
    }
}
