// SPDX-License-Identifier: MIT OR Apache-2.0
//! Near-data transactions, from the host's interface down to the bytes on storage: they form one
//! database with the host's own transactions, under any interleaving and any failure.

mod anomalies;
mod basics;
mod device_faults;
mod idle;
mod indexes;
mod inputs;
mod power;
mod random;
mod reads;
mod scene;
