// SPDX-License-Identifier: MIT OR Apache-2.0
//! The hardware of a cluster, as platform files describe it: what the work of its threads takes, its
//! cards, links and switches.
//!
//! `docs/calibration.md` says where the numbers come from, and which figures they are taken from.

mod entries;
mod frozen;
mod programmable_switch;
pub(crate) mod reading;
#[cfg(test)]
mod tests;

use std::path::Path;

use cluster::engine::Work;
use timing::Time;
use timing::platform::{Bandwidth, End, Entry, PlatformError, PlatformFile, Ratio};

pub use entries::{
    CpuEntries, FrameEntries, LinkEntries, NicEntries, PcieEntries, QueuePairEntries,
    ReceiveQueueEntries, SwitchEntries,
};
pub use frozen::{FrozenEntry, digest, frozen_entries};
pub use programmable_switch::{PipelineEntries, ProgrammableSwitch};

use reading::{expect_counts, read_whole};

use crate::nic::Framing;
use crate::nic::rdma::{Costs, VerbCosts};

/// The machines of a cluster and what is between them. All nodes are alike.
#[derive(Clone, Debug)]
pub struct Hardware {
    file: PlatformFile,
    /// The platform's name.
    pub name: String,
    /// The host.
    pub cpu: CpuEntries,
    /// The card.
    pub nic: NicEntries,
    /// The slot of the card.
    pub pcie: PcieEntries,
    /// The cables.
    pub link: LinkEntries,
    /// The headers.
    pub frame: FrameEntries,
    /// The switches.
    pub switch: SwitchEntries,
}

/// An entry of class E: a value that nobody has published, and the interval that it may lie in.
#[derive(Clone, Debug, PartialEq)]
pub struct Assumption {
    /// Its dotted name in the file.
    pub name: String,
    /// The least value.
    pub least: f64,
    /// The value.
    pub value: f64,
    /// The greatest value.
    pub greatest: f64,
    /// The unit of all three.
    pub unit: String,
}

impl Hardware {
    /// The platforms of clusters that come with the program.
    pub const NAMES: [&'static str; 6] =
        ["connect-ib", "connectx3", "connectx4", "connectx5", "drtm-cx3", "xenic-cx5"];

    /// The platform `name` of [`Hardware::NAMES`].
    ///
    /// # Errors
    /// When there is none of that name, or it is no cluster.
    pub fn named(name: &str) -> Result<Self, PlatformError> {
        Self::read_from(PlatformFile::named(name)?)
    }

    /// The platform of a file.
    ///
    /// # Errors
    /// When it cannot be read, or an entry is missing, of another unit or impossible. The error names
    /// file and entry, what was found and what was expected.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, PlatformError> {
        Self::read_from(PlatformFile::load(path)?)
    }

    /// As [`Hardware::load`], from a file that was read before.
    ///
    /// # Errors
    /// As there.
    pub fn read_from(file: PlatformFile) -> Result<Self, PlatformError> {
        let ((name, cpu, nic, pcie, link, frame, switch), file) = read_whole(file, |file| {
            Ok((
                file.word("name")?,
                file.section("cpu")?,
                file.section("nic")?,
                file.section("pcie")?,
                file.section("link")?,
                file.section("frame")?,
                file.section("switch")?,
            ))
        })?;
        let hardware = Hardware { file, name, cpu, nic, pcie, link, frame, switch };
        hardware.expect_possible()?;
        Ok(hardware)
    }

    fn expect_possible(&self) -> Result<(), PlatformError> {
        let impossible = |field: &str, value: String, expected| {
            Err(self.file.impossible(field, value, expected))
        };
        let counts = [
            ("cpu.cores", &self.cpu.cores),
            ("link.ports", &self.link.ports),
            ("nic.queue_pairs.ways", &self.nic.queue_pairs.ways),
            ("switch.nodes_a_leaf", &self.switch.nodes_a_leaf),
        ];
        expect_counts(
            &self.file,
            &counts.map(|(field, count)| (field, count, None, "at least 1")),
        )?;
        let (entries, ways) = self.queue_pairs();
        if entries == 0 || entries % ways != 0 {
            let value = format!("{entries} in {ways} ways");
            return impossible("nic.queue_pairs.entries", value, "a multiple of the ways above 0");
        }
        if self.link.mtu.get().0 == 0 {
            return impossible("link.mtu", "0 B".into(), "at least 1 B");
        }
        let whole = 1_000_000;
        let shares = [
            ("cpu.send_share", shares(&[&self.cpu.send_share, &self.cpu.handle_share])),
            ("nic.receive_share", shares(&[&self.nic.receive_share])),
            ("nic.read_target_share", shares(&[&self.nic.read_target_share])),
            ("nic.write_target_share", shares(&[&self.nic.write_target_share])),
        ];
        for (field, millionths) in shares {
            if millionths > whole {
                let value = format!("{} %", millionths as f64 / 1e4);
                let expected = "at most 100 %, of cpu together with cpu.handle_share";
                return impossible(field, value, expected);
            }
        }
        Ok(())
    }

    /// What each kind of work takes, in the order of [`Work::ALL`].
    pub fn work_costs(&self) -> [Time; Work::COUNT] {
        let cpu = &self.cpu;
        let sends = cpu.send_share.get().of(cpu.rpc.get());
        let handle = cpu.handle_share.get().of(cpu.rpc.get());
        let receives = cpu.rpc.get().saturating_sub(sends + handle);
        Work::ALL.map(|work| match work {
            Work::Receive => half(receives),
            Work::Send => half(sends),
            Work::Handle => handle,
            Work::Doorbell => cpu.doorbell.get(),
            Work::PostReceive => cpu.post_receive.get(),
            Work::Switch => cpu.switch.get(),
            Work::Begin => cpu.begin.get(),
            Work::Logic => cpu.logic.get(),
            Work::Look => cpu.look.get(),
            Work::Header => cpu.header.get(),
            Work::Write => cpu.write.get(),
            Work::Insert => cpu.insert.get(),
            Work::Log => cpu.log.get(),
            Work::CopyLine => cpu.copy_line.get(),
            Work::Post => cpu.post.get(),
            Work::TakeOver => cpu.take_over.get(),
            // No source has it apart: to take a record from a log is as much as to append one.
            Work::Apply => cpu.log.get(),
            // Of Xenic, which these platforms do not run.
            Work::Index | Work::Continue => Time::ZERO,
        })
    }

    /// What the operations of the card take.
    pub fn nic_costs(&self) -> Costs {
        let nic = &self.nic;
        let datagram = nic.datagram.get();
        let receive = nic.receive_share.get().of(datagram);
        Costs {
            doorbell: nic.doorbell.get(),
            send: datagram - receive,
            receive,
            read: verb_costs(nic.read.get(), nic.read_target_share.get()),
            write: verb_costs(nic.write.get(), nic.write_target_share.get()),
            atomic: verb_costs(nic.atomic.get(), nic.read_target_share.get()),
            connect: nic.connect.as_ref().map_or(Time::ZERO, Entry::get),
            line: nic.line.get(),
            atomic_unit: nic.atomic_unit.get(),
            atomic_latency: nic.atomic_latency.get(),
            queue_pairs: self.queue_pairs(),
            queue_pair_miss: nic.queue_pairs.miss.get(),
            descriptors: nic.receive_queues.descriptors.get().0.into(),
            descriptor_miss: nic.receive_queues.miss.get(),
            pcie: self.pcie.latency.get(),
            stages: nic.stages.get(),
        }
    }

    fn queue_pairs(&self) -> (usize, usize) {
        let cache = &self.nic.queue_pairs;
        (cache.entries.get().0 as usize, cache.ways.get().0 as usize)
    }

    /// What messages and verbs are on the wire.
    pub fn framing(&self) -> Framing {
        let frame = &self.frame;
        Framing {
            link: frame.link.get().0,
            base: frame.base.get().0,
            datagram: frame.datagram.get().0,
            remote: frame.remote.get().0,
            atomic: frame.atomic.get().0,
            answer: frame.answer.get().0,
            held: frame.held.get().0,
            mtu: self.link.mtu.get().0,
        }
    }

    /// Cores of a node.
    pub fn cores(&self) -> u32 {
        self.cpu.cores.get().0
    }

    /// How long the work of a thread takes with so many at work, in thousandths of what it takes of one alone: up to as many
    /// as all are worth together do not slow each other down, and more share that.
    pub fn slowed(&self, threads: u8) -> u32 {
        let Some(together) = &self.cpu.together else { return 1000 };
        let worth = u64::from(self.cores()) * together.get().millionths();
        let busy = u64::from(threads) * 1_000_000;
        (busy * 1000 / worth.max(1)).max(1000) as u32
    }

    /// The rate of one port, and how many ports a card has.
    pub fn ports(&self) -> (Bandwidth, u32) {
        (self.link.rate.get(), self.link.ports.get().0)
    }

    /// How long a packet is under way between two nodes, beside its cards and the time that its bytes
    /// take: cables and switches.
    pub fn wire_latency(&self, same_leaf: bool) -> Time {
        let switches = if same_leaf { 1 } else { 3 };
        self.link.latency.get() * (switches + 1) + self.switch.latency.get() * switches
    }

    /// Its entries of class E.
    pub fn assumptions(&self) -> Vec<Assumption> {
        let assumed = |entry: FrozenEntry| {
            let [least, greatest] = entry.interval?;
            let FrozenEntry { name, value, unit, .. } = entry;
            Some(Assumption { name, least, value, greatest, unit })
        };
        frozen_entries(&self.file).into_iter().filter_map(assumed).collect()
    }

    /// The same hardware with an end of its interval as the value of this assumption.
    ///
    /// # Errors
    /// When there is no such assumption, or no machine can be like that.
    pub fn with(&self, name: &str, end: End) -> Result<Self, PlatformError> {
        let mut file = self.file.clone().at_end(name, end)?;
        // The new file's parts are asked for anew, and there are as many.
        file = PlatformFile::parse(format!("{}.toml", self.name), file.text())?;
        Self::read_from(file)
    }

    /// The file that it was read from.
    pub fn file(&self) -> &PlatformFile {
        &self.file
    }
}

/// A READ, WRITE or atomic at its three places; the initiator's share is the same before and after.
fn verb_costs(both: Time, target_share: Ratio) -> VerbCosts {
    let respond = target_share.of(both);
    let initiator = both.saturating_sub(respond);
    let request = half(initiator);
    VerbCosts { request, respond, complete: initiator - request }
}

fn half(time: Time) -> Time {
    Time::from_ps(time.as_ps() / 2)
}

fn shares(entries: &[&Entry<Ratio>]) -> u64 {
    entries.iter().map(|entry| entry.get().millionths()).sum()
}
