// SPDX-License-Identifier: MIT OR Apache-2.0
//! Xenic (SOSP 2021): transactions on SmartNICs. Its tables, what a look-up reads of them, look-ups in hardware, what
//! its SmartNIC does alone, and its transactions beside those of its rivals.

mod fig2;
mod fig3;
mod fig4;
mod fig8;
mod fig8b;
mod fig9;
mod hint_staleness;
mod index_cache;
mod micro;
mod nic_lookup;
mod occupancy;
mod off_path;
mod rpc;
mod rtl;
mod systems;
mod table2;
mod table3;
mod tables;

use crate::experiment::{Clock, Experiment};

/// The part of it that is measured again.
pub const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "xenic-table2",
        title: "What remote look-ups read of Xenic's, FaRM's and DrTM+H's tables",
        source: "Xenic (SOSP 2021), section 4.1.4, table 2",
        clock: Clock::Virtual,
        platforms: &[],
        paper: &table2::PAPER,
        run: table2::measure,
    },
    Experiment {
        name: "xenic-hint-staleness",
        title: "How many insertions outdate a hint of the NIC's index",
        source: "Xenic (SOSP 2021), section 4.1.3",
        clock: Clock::Virtual,
        platforms: &[],
        paper: &[hint_staleness::ANY, hint_staleness::BY_MORE],
        run: hint_staleness::measure,
    },
    Experiment {
        name: "xenic-occupancy",
        title: "What remote look-ups read of Xenic's table as it fills",
        source: "Xenic (SOSP 2021), section 4.3.3",
        clock: Clock::Virtual,
        platforms: &[],
        paper: &[],
        run: occupancy::measure,
    },
    Experiment {
        name: "nic-lookup",
        title: "Look-ups a second of the NIC's RTL, by the share that its index answers",
        source: "Xenic (SOSP 2021), sections 3.5 and 4.1.3, in hardware",
        clock: Clock::Virtual,
        platforms: &[nic_lookup::LINK],
        paper: &[],
        run: nic_lookup::measure,
    },
    Experiment {
        name: "xenic-rpc",
        title: "Echoes a second of a server's NIC and of its host",
        source: "Xenic (SOSP 2021), section 3.3",
        clock: Clock::Virtual,
        platforms: &[micro::SMART_NIC],
        paper: &rpc::PAPER,
        run: rpc::measure,
    },
    Experiment {
        name: "xenic-fig2",
        title: "Round trips from host and NIC to another server's NIC, memory and host",
        source: "Xenic (SOSP 2021), section 3.2, figure 2",
        clock: Clock::Virtual,
        platforms: &[micro::SMART_NIC, micro::RDMA],
        paper: &[],
        run: fig2::measure,
    },
    Experiment {
        name: "xenic-fig3",
        title: "Remote writes and reads a second, alone and batched",
        source: "Xenic (SOSP 2021), section 3.4, figure 3",
        clock: Clock::Virtual,
        platforms: &[micro::SMART_NIC, micro::RDMA],
        paper: &fig3::PAPER,
        run: fig3::measure,
    },
    Experiment {
        name: "xenic-fig4",
        title: "The DMA engine of the NIC: single requests and vectors",
        source: "Xenic (SOSP 2021), section 3.5, figure 4",
        clock: Clock::Virtual,
        platforms: &[micro::SMART_NIC],
        paper: &fig4::PAPER,
        run: fig4::measure,
    },
    Experiment {
        name: "xenic-fig8a",
        title: "New-orders of TPC-C on five systems: throughput and median latency",
        source: "Xenic (SOSP 2021), section 5.2, figure 8a",
        clock: Clock::Virtual,
        platforms: &[systems::XENIC, systems::RDMA],
        paper: &fig8::PAPER_8A,
        run: fig8::new_orders,
    },
    Experiment {
        name: "xenic-fig8b",
        title: "All of TPC-C on four systems: throughput and median latency of new-orders",
        source: "Xenic (SOSP 2021), section 5.3, figure 8b",
        clock: Clock::Virtual,
        platforms: &[systems::XENIC, systems::RDMA],
        paper: &fig8b::PAPER,
        run: fig8b::whole,
    },
    Experiment {
        name: "xenic-tpcc-50g",
        title: "All of TPC-C on one link of 50 Gb/s",
        source: "Xenic (SOSP 2021), section 5.3",
        clock: Clock::Virtual,
        platforms: &[systems::XENIC],
        paper: &fig8b::PAPER_50G,
        run: fig8b::on_one_link,
    },
    Experiment {
        name: "xenic-fig8c",
        title: "Retwis on five systems: throughput and median latency",
        source: "Xenic (SOSP 2021), section 5.4, figure 8c",
        clock: Clock::Virtual,
        platforms: &[systems::XENIC, systems::RDMA],
        paper: &fig8::PAPER_8C,
        run: fig8::retwis,
    },
    Experiment {
        name: "xenic-fig8d",
        title: "SmallBank on five systems: throughput and median latency",
        source: "Xenic (SOSP 2021), section 5.5, figure 8d",
        clock: Clock::Virtual,
        platforms: &[systems::XENIC, systems::RDMA],
        paper: &fig8::PAPER_8D,
        run: fig8::small_bank,
    },
    Experiment {
        name: "xenic-fig9a",
        title: "What Xenic's optimisations give the throughput of Retwis",
        source: "Xenic (SOSP 2021), section 5.7, figure 9a",
        clock: Clock::Virtual,
        platforms: &[systems::XENIC, systems::RDMA],
        paper: &fig9::PAPER_A,
        run: fig9::throughput,
    },
    Experiment {
        name: "xenic-fig9b",
        title: "What Xenic's optimisations give the latency of SmallBank",
        source: "Xenic (SOSP 2021), section 5.7, figure 9b",
        clock: Clock::Virtual,
        platforms: &[systems::XENIC, systems::RDMA],
        paper: &fig9::PAPER_B,
        run: fig9::latency,
    },
    Experiment {
        name: "xenic-rtl",
        title: "SmallBank with the RTL of the look-ups at one server, beside the timed model",
        source: "Xenic (SOSP 2021), sections 3.5, 4.1.3 and 5.5, in hardware",
        clock: Clock::Virtual,
        platforms: &[systems::XENIC],
        paper: &[],
        run: rtl::measure,
    },
    Experiment {
        name: "xenic-table3",
        title: "The fewest threads of host and NIC that keep 95 % of the throughput",
        source: "Xenic (SOSP 2021), section 5.6, table 3",
        clock: Clock::Virtual,
        platforms: &[systems::XENIC, systems::RDMA],
        paper: &table3::PAPER,
        run: table3::measure,
    },
    Experiment {
        name: "xenic-index-cache",
        title: "Xenic's throughput by the size of its NICs' index",
        source: "Xenic (SOSP 2021), section 4.1.3, which does not give the size",
        clock: Clock::Virtual,
        platforms: &[systems::XENIC],
        paper: &[],
        run: index_cache::measure,
    },
    Experiment {
        name: "xenic-offpath",
        title: "What a SmartNIC off the path between host and wire costs beside one on it",
        source: "Xenic (SOSP 2021), section 3.1",
        clock: Clock::Virtual,
        platforms: &[off_path::OFF_PATH, systems::XENIC, systems::RDMA],
        paper: &off_path::PAPER,
        run: off_path::measure,
    },
];
