// SPDX-License-Identifier: MIT OR Apache-2.0
//! The report of an update, as text and as JSON.

use std::fmt;
use std::time::Duration;

use serde_json::{Map, Value, json};

use lockdb::StorageBytes;
use ndp_runtime::host::{LinkBytes, UpdateReport};
use ndp_runtime::job::{Embodiment, Statistics};

use super::host_load::HostLoadReport;
use crate::output::Output;
use crate::text::{bytes, count, duration, rate, wrap};

const WIDTH: usize = 100;
/// Characters of the names at the left.
const NAME: usize = 11;

/// The effect and the cost of an update.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Rows that have a new version.
    pub rows: u64,
    /// Rows that the device saw.
    pub visible: Option<u64>,
    /// Rows that the device left to the host.
    pub by_host: u64,
    /// Rows that did not qualify any more when their lock was got.
    pub passed_over: u64,
    /// How often others were in the way, and it was run again.
    pub aborts: u64,
    /// Phases and their durations, in order.
    pub time: Vec<(&'static str, Duration)>,
    /// Bytes over the link between host and device, by what they are.
    pub link: Vec<(&'static str, u64)>,
    /// What the host has read and written of native storage by itself, which is over the link as well.
    pub store: StoreTraffic,
    /// Bytes that the host path moves: pages pulled, and pages written.
    pub host_path_bytes: u64,
    /// Locks that the device asked for, those it had to wait for, and all these waits together.
    pub locks: Option<(u64, u64, Duration)>,
    /// Bytes that the device has read of its storage.
    pub storage_bytes: Option<u64>,
    /// The kind of elements that found the rows.
    pub elements: Option<Elements>,
    pub host_load: Option<HostLoadReport>,
}

/// The processing elements of a job.
#[derive(Clone, Copy, Debug)]
pub struct Elements {
    count: u16,
    embodiment: Embodiment,
    clocks: u64,
}

impl Elements {
    /// Those that a device has counted.
    pub fn of(device: &Statistics) -> Self {
        let embodiment = device.embodiment().expect("result sets are checked");
        Self { count: device.elements, embodiment, clocks: device.element_clocks }
    }

    /// What they were, by the words of `elements=` in a device's URI.
    fn ran(self) -> &'static str {
        if self.embodiment.is_hardware() { "rtl" } else { "software" }
    }

    /// As JSON.
    pub fn json(self) -> Value {
        let clocks = self.embodiment.is_hardware().then_some(self.clocks);
        json!({
            "count": self.count,
            "ran": self.ran(),
            "why_not_rtl": self.embodiment.why_not_hardware(),
            "clocks": clocks,
        })
    }
}

impl fmt::Display for Elements {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = count(self.count.into());
        match self.embodiment.why_not_hardware() {
            None if self.embodiment.is_hardware() => {
                let clocks = self::count(self.clocks);
                write!(out, "{count} in hardware (RTL), {clocks} clocks until the last was done")
            }
            None => write!(out, "{count} in software"),
            Some(why) => write!(out, "{count} in software, not as RTL: {why}"),
        }
    }
}

/// What the host's part of the store has moved over the link, as it was counted there.
#[derive(Clone, Copy, Debug, Default)]
pub struct StoreTraffic {
    /// To open the store: superblocks and maps.
    pub opening: StorageBytes,
    /// In between, whatever the cause: checkpoints, pages that rows were read from, and all pages
    /// if the indexes were needed.
    pub meanwhile: StorageBytes,
    /// To close it: a checkpoint.
    pub closing: StorageBytes,
}

impl StoreTraffic {
    /// Its parts.
    pub fn parts(&self) -> Vec<(&'static str, u64)> {
        let parts = [
            ("read by the store", self.meanwhile.read),
            ("written by the store", self.meanwhile.written),
            ("opening the store", self.opening.read + self.opening.written),
            ("closing the store", self.closing.read + self.closing.written),
        ];
        parts.into_iter().filter(|(_, bytes)| *bytes > 0).collect()
    }

    /// What comes with every command, whatever it does.
    fn opening_and_closing(&self) -> u64 {
        let Self { opening, closing, .. } = self;
        opening.read + opening.written + closing.read + closing.written
    }
}

impl From<&UpdateReport> for Report {
    fn from(report: &UpdateReport) -> Self {
        let (phases, device) = (&report.phases, &report.device);
        Self {
            rows: report.rows,
            visible: Some(device.visible),
            by_host: report.by_host,
            passed_over: report.passed_over,
            aborts: report.aborts,
            time: vec![
                ("prepare", phases.prepare),
                ("device", phases.device),
                ("left to the host", phases.left),
                ("seal", phases.finalize),
                ("commit", phases.commit),
            ],
            link: link(&report.link),
            store: StoreTraffic::default(),
            host_path_bytes: 0,
            locks: Some((
                device.lock_requests,
                device.lock_waits,
                Duration::from_nanos(device.lock_wait),
            )),
            storage_bytes: Some(device.storage_bytes),
            elements: Some(Elements::of(device)),
            host_load: None,
        }
    }
}

/// The parts of what passed the link that are not nothing.
pub fn link(link: &LinkBytes) -> Vec<(&'static str, u64)> {
    let parts = [
        ("descriptors", link.descriptors),
        ("shared state", link.shared_state),
        ("grants of pages", link.reservations),
        ("VID map words", link.vid_map),
        ("lock table", link.locks),
        ("results", link.results),
        ("pages pulled by the host", link.pages_pulled),
        ("pages written by the host", link.pages_written),
    ];
    parts.into_iter().filter(|(_, bytes)| *bytes > 0).collect()
}

impl Report {
    /// The bytes over the link, by kind.
    fn link_parts(&self) -> Vec<(&'static str, u64)> {
        self.link.iter().copied().chain(self.store.parts()).collect()
    }

    /// All bytes that passed the link.
    pub fn link_bytes(&self) -> u64 {
        self.link_parts().iter().map(|(_, bytes)| bytes).sum()
    }

    /// Bytes that passed the link for the update alone: without those of opening and closing the store,
    /// which come with every command.
    pub fn moved(&self) -> u64 {
        self.link_bytes() - self.store.opening_and_closing()
    }

    fn total(&self) -> Duration {
        self.time.iter().map(|(_, time)| time).sum()
    }

    /// For people.
    pub fn text(&self, heading: &str, out: &Output) -> String {
        let mut lines = vec![out.strong(heading)];
        let mut line = |name: &str, text: String| {
            for (row, part) in wrap(&text, WIDTH - NAME).into_iter().enumerate() {
                let name = if row == 0 { name } else { "" };
                lines.push(format!("{name:<NAME$}{part}"));
            }
        };
        let of = self.visible.map_or(String::new(), |visible| format!(", of {}", count(visible)));
        let mut rows = format!("{} changed{of}", count(self.rows));
        if self.by_host > 0 {
            rows +=
                &format!("; {} of them by the host, others had changed them", count(self.by_host));
        }
        if self.passed_over > 0 {
            rows += &format!("; {} did not qualify any more", count(self.passed_over));
        }
        line("Rows", rows);
        line("Time", parts(&self.time, time, time(self.total())));
        let sizes = |bytes_of: u64| bytes(bytes_of as f64);
        line("Link", parts(&self.link_parts(), sizes, sizes(self.link_bytes())));
        let host = self.host_path_bytes;
        let ratio = host as f64 / self.moved().max(1) as f64;
        line(
            "",
            match self.locks {
                Some(_) => format!(
                    "{} if the host had pulled and written the pages: {ratio:.1} × what passed \
                     without opening and closing",
                    sizes(host)
                ),
                None => format!("{} is what the host path stands for", sizes(host)),
            },
        );
        if let Some(storage) = self.storage_bytes {
            line("Storage", format!("{} read by the device", sizes(storage)));
        }
        if let Some(elements) = self.elements {
            line("Elements", elements.to_string());
        }
        if let Some((asked, waited, wait)) = self.locks {
            let how_long =
                if waited > 0 { format!(" for {} in all", time(wait)) } else { "".into() };
            line(
                "Locks",
                format!("{} asked for, {} waited{how_long}", count(asked), count(waited)),
            );
        }
        let again = if self.aborts > 0 { ", each run again" } else { "" };
        line("Aborts", format!("{}{again}", count(self.aborts)));
        if let Some(load) = &self.host_load {
            line("Host load", load_text(load));
        }
        lines.join("\n")
    }

    /// As JSON; times in nanoseconds.
    pub fn json(&self) -> Map<String, Value> {
        let nanoseconds = |time: Duration| time.as_nanos() as u64;
        let object = |parts: Vec<(&str, u64)>| {
            let named =
                parts.into_iter().map(|(name, number)| (name.replace(' ', "_"), number.into()));
            Value::Object(named.collect())
        };
        let time = self.time.iter().map(|(name, time)| (*name, nanoseconds(*time))).collect();
        let report = json!({
            "rows": self.rows,
            "visible": self.visible,
            "by_host": self.by_host,
            "passed_over": self.passed_over,
            "aborts": self.aborts,
            "time_ns": object(time),
            "total_ns": nanoseconds(self.total()),
            "link_bytes": object(self.link_parts()),
            "link_bytes_total": self.link_bytes(),
            "host_path_bytes": self.host_path_bytes,
            "lock_requests": self.locks.map(|locks| locks.0),
            "lock_waits": self.locks.map(|locks| locks.1),
            "lock_wait_ns": self.locks.map(|locks| nanoseconds(locks.2)),
            "storage_bytes": self.storage_bytes,
            "elements": self.elements.map(|elements| elements.json()),
            "host_load": self.host_load,
        });
        match report {
            Value::Object(report) => report,
            other => unreachable!("an object was made, not {other}"),
        }
    }
}

/// `total: a 1, b 2`.
fn parts<T: Copy>(parts: &[(&str, T)], show: impl Fn(T) -> String, total: String) -> String {
    let each: Vec<_> = parts.iter().map(|(name, part)| format!("{name} {}", show(*part))).collect();
    format!("{total}: {}", each.join(", "))
}

fn time(time: Duration) -> String {
    duration(time.as_nanos() as f64)
}

fn load_text(load: &HostLoadReport) -> String {
    let (alone, beside) = (load.alone, load.beside);
    let (before, meanwhile) = (alone.commits_per_second(), beside.commits_per_second());
    let threads = if load.threads == 1 { "thread" } else { "threads" };
    let change = match before > 0.0 {
        true => format!(" ({:+.0} %)", 100.0 * (meanwhile / before - 1.0)),
        false => String::new(),
    };
    format!(
        "{} {threads}: {} updates/s alone, {}/s beside{change}; aborts {} alone, {} beside",
        load.threads,
        rate(before),
        rate(meanwhile),
        count(alone.aborts),
        count(beside.aborts)
    )
}
