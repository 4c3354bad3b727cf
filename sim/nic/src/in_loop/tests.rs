// SPDX-License-Identifier: MIT OR Apache-2.0
//! Small runs of a cluster with the RTL at its first node.

use std::sync::{Arc, Mutex};

use cluster_sim::run::{
    Draft, Extras, Flags, InLoop, Outcome, Report, RunError, Settings, Watch, Workload, run,
};

use super::*;

fn flags() -> Flags {
    Flags {
        protocol: Some("xenic".into()),
        workload: Some("smallbank-xenic".into()),
        keys: Some(1000),
        threads: Some(2),
        workers: Some(4),
        nic_cores: Some(4),
        log_workers: Some(1),
        warm_up_us: Some(5.0),
        duration_us: Some(40.0),
        ..Flags::default()
    }
}

fn settings(flags: Flags) -> Settings {
    let draft = Draft::default().with_flags(flags).expect("flags of this workload");
    let mut settings = Settings::check(&draft).expect("possible");
    if let Workload::SmallBankXenic { hot_percent, .. } = &mut settings.workload {
        // So that few attempts are aborted.
        *hot_percent = 60.0;
    }
    settings
}

/// With an index that has cached nothing at the start, so that rows are read.
fn cold(flags: Flags) -> Settings {
    let mut settings = settings(flags);
    settings.xenic.as_mut().expect("of Xenic").warm_index = false;
    settings
}

fn made(settings: &Settings, in_loop: Option<InLoop<'_>>) -> Result<Outcome, RunError> {
    let extras = Extras { in_loop, ..Extras::default() };
    run(settings, extras, &mut Watch { is_interrupted: &|| false, progress: &mut |_| () })
}

/// A run with the RTL, to which `plant` may do something.
fn with_rtl(settings: &Settings, mut plant: impl FnMut(&mut RtlNode)) -> Result<Report, RunError> {
    let mut make = |ground: Ground<'_>| {
        let mut node = RtlNode::new(0, ground, None)?;
        plant(&mut node);
        Ok(Box::new(node) as Box<dyn DataPath>)
    };
    Ok(made(settings, Some(InLoop { node: 0, make: &mut make }))?.report)
}

impl RtlNode {
    /// Tests forget operations, to see that this is found.
    pub(super) fn forget(&mut self, ended: &mut Vec<Ticket>) {
        let forgets = self.forgets;
        let is_forgotten = |asked: &Asked| Some(asked.operation) == forgets;
        if self.waiting.front().is_some_and(|(_, question)| is_forgotten(&question.asked)) {
            ended.extend(self.waiting.pop_front().map(|(ticket, _)| ticket));
        }
    }
}

#[test]
fn the_rtl_answers_as_the_machines_of_its_node() {
    seeds::each!(1, |seed| {
        for settings in [settings, cold].map(|of| of(Flags { seed: Some(seed), ..flags() })) {
            let report = with_rtl(&settings, |_| ()).expect("it passes");
            let path = report.data_path.as_ref().expect("there was one");
            assert!(report.checks.at_rest && report.committed > 50, "{report:?}");
            assert!(path.compared > 150 && path.hits.count > 30, "{path:?}");
            assert!(path.others.count > 50 && path.clocks > 1000, "{path:?}");
            let is_cold = !settings.xenic.expect("of Xenic").warm_index;
            assert_eq!(path.misses.count > 20, is_cold, "{path:?}");
        }
    });
}

/// Answers when it is said, and says nothing.
struct Replayed {
    times: BTreeMap<Ticket, Time>,
    open: BTreeMap<(Time, u64), Ticket>,
    order: BTreeMap<Ticket, u64>,
    last: Option<Time>,
}

impl DataPath for Replayed {
    fn ask(&mut self, _: Time, ticket: Ticket, _: &Asked, _: &mut dyn Registered) {
        self.open.insert((self.times[&ticket], self.order[&ticket]), ticket);
    }

    fn next_edge(&self, now: Time) -> Option<Time> {
        let earliest = self.last.map_or(now, |last| now.max(last + Time::from_ps(1)));
        let next = earliest.next_multiple_of(CardSettings::default().clock());
        (!self.open.is_empty()).then_some(next)
    }

    fn edge(
        &mut self,
        now: Time,
        _: &mut dyn Registered,
        ended: &mut Vec<Ticket>,
    ) -> Result<(), String> {
        self.last = Some(now);
        while let Some(first) = self.open.first_entry().filter(|first| first.key().0 == now) {
            ended.push(first.remove());
        }
        Ok(())
    }

    fn report(&mut self) -> Result<DataPathReport, String> {
        Ok(DataPathReport::default())
    }
}

/// Notes when the RTL has answered what.
struct Noted(RtlNode, Arc<Mutex<Vec<(Ticket, Time)>>>);

impl DataPath for Noted {
    fn ask(&mut self, now: Time, ticket: Ticket, asked: &Asked, host: &mut dyn Registered) {
        self.0.ask(now, ticket, asked, host);
    }

    fn next_edge(&self, now: Time) -> Option<Time> {
        self.0.next_edge(now)
    }

    fn edge(
        &mut self,
        now: Time,
        host: &mut dyn Registered,
        ended: &mut Vec<Ticket>,
    ) -> Result<(), String> {
        self.0.edge(now, host, ended)?;
        self.1.lock().unwrap().extend(ended.iter().map(|ticket| (*ticket, now)));
        Ok(())
    }

    fn report(&mut self) -> Result<DataPathReport, String> {
        self.0.report()
    }
}

/// The RTL gives a run its times, and nothing else.
#[test]
fn the_machines_with_the_times_of_the_rtl_make_the_same_run() {
    let settings = cold(flags());
    let folder = tempfile::tempdir().expect("a folder");
    let digest = |waves: Option<Waves>, noted: &Arc<Mutex<Vec<(Ticket, Time)>>>| {
        let mut make = |ground: Ground<'_>| {
            let node = RtlNode::new(0, ground, waves.clone())?;
            Ok(Box::new(Noted(node, Arc::clone(noted))) as Box<dyn DataPath>)
        };
        made(&settings, Some(InLoop { node: 0, make: &mut make })).expect("it passes").report.digest
    };
    let noted = Arc::default();
    let (from, until) = (Time::from_us(5), Time::from_us(6));
    let waves = Waves { file: folder.path().join("node0.fst"), from, until };
    let with_rtl = digest(Some(waves.clone()), &noted);
    let length = std::fs::metadata(&waves.file).expect("waves").len();
    assert!(length > 1000, "{length} bytes of waves");
    let again = Arc::default();
    assert_eq!(digest(None, &again), with_rtl, "waves change nothing");
    let noted = std::mem::take(&mut *noted.lock().unwrap());
    assert_eq!(noted, *again.lock().unwrap());
    let mut make = |_: Ground<'_>| {
        let times = noted.iter().copied().collect();
        let order = (0..).zip(&noted).map(|(order, (ticket, _))| (*ticket, order)).collect();
        let replayed = Replayed { times, open: BTreeMap::new(), order, last: None };
        Ok(Box::new(replayed) as Box<dyn DataPath>)
    };
    let replayed = made(&settings, Some(InLoop { node: 0, make: &mut make })).expect("it passes");
    assert_eq!(replayed.report.digest, with_rtl);
    assert_ne!(made(&settings, None).expect("it passes").report.digest, with_rtl);
}

/// The error of a run with a planted fault, which names question, both answers and times.
fn found(settings: &Settings, plant: impl FnMut(&mut RtlNode)) -> String {
    let error = with_rtl(settings, plant).expect_err("found");
    assert!(!error.is_of_input(), "{error}");
    let text = error.to_string();
    for part in ["hardware in the loop: operation ", " of table ", "asked for at ", "expected "] {
        assert!(text.contains(part), "{part:?} in {text:?}");
    }
    text
}

#[test]
fn a_wrong_bit_in_the_hosts_image_is_found() {
    let settings = cold(flags());
    let text = found(&settings, |node| node.image.wrong = |key| key.row % 16 == 3);
    assert!(text.contains("from host memory"), "{text}");
}

#[test]
fn what_the_rtl_is_not_told_is_found() {
    for (operation, part) in [
        (Operation::Unlock, "Locked"),
        (Operation::UpdateAndPin, "(Unpin of row"),
        (Operation::LockAndRead, "expected Done by the machine"),
    ] {
        let text = found(&settings(flags()), |node| node.forgets = Some(operation));
        assert!(text.contains(part), "{part:?} in {text:?}");
    }
}
