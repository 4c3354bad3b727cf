// SPDX-License-Identifier: MIT OR Apache-2.0
//! The numbers of a SmartNIC: what its models read of a platform file.

use cluster::engine::Work;
use serde::{Deserialize, Serialize};
use timing::Time;
use timing::platform::{
    Bandwidth, Bytes, Count, DmaTiming as BoardDma, Entry, LinkTiming, PlatformError, PlatformFile,
    Rate, Ratio,
};

use super::smart_card::{NO_WORK, WorkTimes};
use crate::platform::reading::{expect_counts, read_whole};

/// The threads of one processor, each time being that of a thread that runs alone.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct CoreTiming {
    /// How many there are.
    pub threads: Entry<Count>,
    /// Speed of a thread while all run, of its speed alone.
    pub together: Entry<Ratio>,
    /// A frame with a message is taken from the medium.
    pub receive: Entry<Time>,
    /// A frame with a message is given to the medium.
    pub send: Entry<Time>,
    /// A further message is taken out of a frame, or put into one.
    pub message: Entry<Time>,
    /// 64 bytes are copied, or fewer.
    pub line: Entry<Time>,
}

/// What Xenic's work takes on a core of the NIC, beside frames, messages and copies: entries of the kinds of
/// `cluster::engine::Work`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct CoreWork {
    /// A request is handled: its type found, its handler called.
    pub handle: Entry<Time>,
    /// A key is looked up in the index, and read, locked, compared, changed or unlocked there.
    pub index: Entry<Time>,
    /// The core goes on with what had waited for a memory operation or an answer.
    #[serde(rename = "continue")]
    pub go_on: Entry<Time>,
    /// A record is written to a log.
    pub log: Entry<Time>,
    /// The logic of a transaction, for each row.
    pub logic: Entry<Time>,
}

/// The same on a core of the host.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct HostWork {
    /// To draw and begin a transaction.
    pub begin: Entry<Time>,
    /// The logic of a transaction, for each row.
    pub logic: Entry<Time>,
    /// To take a record from a log, beside what it does to the rows.
    pub apply: Entry<Time>,
    /// To look a row up in the host's table.
    pub look: Entry<Time>,
    /// To write a value in its place.
    pub write: Entry<Time>,
    /// To make or delete a row.
    pub insert: Entry<Time>,
}

/// The Ethernet side.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct EthernetTiming {
    /// How many links, all to the same switch.
    pub ports: Entry<Count>,
    /// Of each port, in each direction.
    pub rate: Entry<Bandwidth>,
    /// Bytes of a frame on the wire that are not its data, the gap after it included.
    pub framing: Entry<Bytes>,
    /// Headers of IP and UDP.
    pub datagram: Entry<Bytes>,
    /// Least data of a frame.
    pub least: Entry<Bytes>,
    /// Most data of a frame, the headers of IP and UDP included.
    pub mtu: Entry<Bytes>,
    /// Between the cable and a core's queue.
    pub latency: Entry<Time>,
}

/// The switch between the nodes.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SwitchTiming {
    /// From port to port, cables included.
    pub latency: Entry<Time>,
}

/// What packets of PCIe carry beside data.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PcieTiming {
    /// Of a write.
    pub write_header: Entry<Bytes>,
    /// Of the request of a read.
    pub request_header: Entry<Bytes>,
    /// Of a completion, which carries what was read.
    pub completion_header: Entry<Bytes>,
    /// Most bytes that one read asks for.
    pub read_request: Entry<Bytes>,
    /// Share of the rate that acknowledgements and credits take.
    pub link_layer: Entry<Ratio>,
}

/// The queues of packets between host and NIC.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct QueueTiming {
    /// Most packets of a round, and of a poll.
    pub burst: Entry<Count>,
    /// Of the queue, for each round: all packets that wait by then, up to a burst.
    pub round: Entry<Time>,
    /// Of the queue, for each packet.
    pub packet: Entry<Time>,
    /// What the NIC reads about a packet from the host.
    pub to_nic_descriptor: Entry<Bytes>,
    /// What the NIC reads about a buffer for a packet to the host.
    pub to_host_descriptor: Entry<Bytes>,
    /// What the NIC writes before a packet to the host.
    pub to_host_header: Entry<Bytes>,
    /// From the host's doorbell until the NIC begins to read.
    pub notice: Entry<Time>,
    /// From one side to the other, where a packet does not go by DMA: the NIC is off the path between host and wire,
    /// and a message to its cores is one of the network.
    pub crossing: Option<Entry<Time>>,
    /// A core of the NIC takes a packet from the host.
    pub receive: Entry<Time>,
    /// A core of the NIC gives a packet to the host.
    pub send: Entry<Time>,
}

/// The DMA engine.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct DmaTiming {
    /// How many queues there are.
    pub queues: Entry<Count>,
    /// Most elements of a vector.
    pub vector: Entry<Count>,
    /// Elements that a queue performs.
    pub rate: Entry<Rate>,
    /// From submission to completion of a vector of reads.
    pub read: Entry<Time>,
    /// From submission to completion of a vector of writes.
    pub write: Entry<Time>,
}

/// All that is read of a platform with a SmartNIC.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SmartTiming {
    /// The name of the platform.
    pub name: String,
    /// PCIe as such, of which rate and payload are used.
    pub link: LinkTiming,
    /// The DMA engine as the models of one host have it, of which the submission is used.
    pub dma: BoardDma,
    /// The rest.
    pub network: NetworkTiming,
}

/// The section that models of clusters read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NetworkTiming {
    /// The NIC's cores.
    pub core: CoreTiming,
    /// The host's cores.
    pub host: CoreTiming,
    /// The NIC's ports.
    pub ethernet: EthernetTiming,
    /// Between the nodes.
    pub switch: SwitchTiming,
    /// Between host and NIC.
    pub pcie: PcieTiming,
    /// Messages between host and NIC.
    pub queues: QueueTiming,
    /// The NIC's access to the host's memory.
    pub dma: DmaTiming,
    /// Work of a protocol on the NIC's cores.
    pub core_work: CoreWork,
    /// Work of a protocol on the host's cores.
    pub host_work: HostWork,
}

impl SmartTiming {
    /// The platform with a SmartNIC that is meant if none is said.
    pub const NAME: &'static str = "liquidio3";
    /// All that come with the program.
    pub const NAMES: [&'static str; 2] = [Self::NAME, "off-path"];

    /// The platform [`SmartTiming::NAME`].
    ///
    /// # Errors
    /// When the file is not as it should be, which a test excludes.
    pub fn usual() -> Result<Self, PlatformError> {
        Self::read_from(PlatformFile::named(Self::NAME)?)
    }

    /// Reads a platform file.
    ///
    /// # Errors
    /// When a section is missing or malformed, an entry has no class, there is more in the file, or no
    /// machine can be like that.
    pub fn read_from(file: PlatformFile) -> Result<Self, PlatformError> {
        let (read, file) = read_whole(file, |file| {
            Ok(SmartTiming {
                name: file.word("name")?,
                link: file.section("link")?,
                dma: file.section("dma")?,
                network: NetworkTiming {
                    core: file.section("network.core")?,
                    host: file.section("network.host")?,
                    ethernet: file.section("network.ethernet")?,
                    switch: file.section("network.switch")?,
                    pcie: file.section("network.pcie")?,
                    queues: file.section("network.queues")?,
                    dma: file.section("network.dma")?,
                    core_work: file.section("network.core_work")?,
                    host_work: file.section("network.host_work")?,
                },
            })
        })?;
        let of = &read.network;
        let counts = [
            ("network.core.threads", &of.core.threads, Some(128), "1 to 128"),
            ("network.host.threads", &of.host.threads, Some(128), "1 to 128"),
            ("network.ethernet.ports", &of.ethernet.ports, Some(16), "1 to 16"),
            ("network.queues.burst", &of.queues.burst, Some(256), "1 to 256"),
            ("network.dma.queues", &of.dma.queues, Some(256), "1 to 256"),
            ("network.dma.vector", &of.dma.vector, Some(256), "1 to 256"),
        ];
        expect_counts(&file, &counts)?;
        match read.network.first_impossible() {
            None => Ok(read),
            Some((field, value, expected)) => {
                Err(file.impossible(format!("network.{field}"), value, expected))
            }
        }
    }
}

/// A field that no machine can have: path, value, expectation.
type Finding = (&'static str, String, &'static str);

impl NetworkTiming {
    /// What each kind of work takes on a core of the host and on one of the NIC, each alone on its chip.
    pub fn work(&self) -> (WorkTimes, WorkTimes) {
        let (mut host, mut core) = (NO_WORK, NO_WORK);
        let CoreWork { handle, index, go_on, log, logic } = &self.core_work;
        for (work, entry) in [
            (Work::Handle, handle),
            (Work::Index, index),
            (Work::Continue, go_on),
            (Work::Log, log),
            (Work::Logic, logic),
        ] {
            core[work as usize] = entry.get();
        }
        let HostWork { begin, logic, apply, look, write, insert } = &self.host_work;
        for (work, entry) in [
            (Work::Begin, begin),
            (Work::Logic, logic),
            (Work::Apply, apply),
            (Work::Look, look),
            (Work::Write, write),
            (Work::Insert, insert),
        ] {
            host[work as usize] = entry.get();
        }
        (host, core)
    }

    /// Shares and sizes that others are taken from.
    fn first_impossible(&self) -> Option<Finding> {
        for (field, share) in
            [("core.together", &self.core.together), ("host.together", &self.host.together)]
        {
            let millionths = share.get().millionths();
            if millionths == 0 || millionths > 1_000_000 {
                return Some((
                    field,
                    format!("{millionths} millionths"),
                    "a share above 0 and up to 1",
                ));
            }
        }
        let share = self.pcie.link_layer.get().millionths();
        if share >= 1_000_000 {
            return Some(("pcie.link_layer", format!("{share} millionths"), "a share below 1"));
        }
        if self.pcie.read_request.get().0 < 64 {
            let value = format!("{} B", self.pcie.read_request.get().0);
            return Some(("pcie.read_request", value, "at least one line of 64 B"));
        }
        let [mtu, least, datagram] =
            [&self.ethernet.mtu, &self.ethernet.least, &self.ethernet.datagram]
                .map(|it| it.get().0);
        if mtu < least.max(datagram + 64) || mtu > 65_535 {
            return Some((
                "ethernet.mtu",
                format!("{mtu} B"),
                "room for headers and 64 B, at most 65535 B",
            ));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use timing::platform::{End, Platform};

    #[test]
    fn the_platforms_are_valid_and_every_assumption_can_be_moved() {
        for name in SmartTiming::NAMES {
            let file = PlatformFile::named(name).expect("there");
            let usual = SmartTiming::read_from(file.clone()).expect("valid");
            assert_eq!(usual.name, name);
            for place in file.intervals() {
                let moved = |end| {
                    let moved = file.clone().at_end(&place, end).expect("it has an interval");
                    SmartTiming::read_from(moved).expect("a machine")
                };
                // A value may stand at the least end of its interval.
                let is_moved = moved(End::Least) != usual || moved(End::Greatest) != usual;
                assert!(is_moved, "{name}: {place}");
            }
            // The models of one host leave the section to this reader.
            assert_eq!(Platform::named(name).expect("a board").link, usual.link);
        }
    }

    #[test]
    fn impossible_machines_and_unknown_entries_are_told() {
        let text = PlatformFile::named(SmartTiming::NAME).expect("there").text().to_owned();
        let message = |from: &str, to: &str| {
            assert_eq!(text.matches(from).count(), 1, "{from:?}");
            let file = PlatformFile::parse("test.toml", text.replace(from, to)).expect("TOML");
            SmartTiming::read_from(file).expect_err(to).to_string()
        };
        for (from, to, expected) in [
            ("queues = { value = 8,", "queues = { value = 0,", "network.dma.queues = 0, expected"),
            (
                "mtu = { value = 1500,",
                "mtu = { value = 60,",
                "network.ethernet.mtu = 60 B, expected",
            ),
            (
                "{ value = 8.1, unit = \"%\"",
                "{ value = 100, unit = \"%\"",
                "network.pcie.link_layer",
            ),
            ("[network.switch]", "[network.swich]", "network.switch is missing"),
            ("notice = {", "notise = {", "unknown field `notise`"),
        ] {
            let found = message(from, to);
            assert!(found.contains(expected), "{expected:?} is missing in: {found}");
        }
    }
}
