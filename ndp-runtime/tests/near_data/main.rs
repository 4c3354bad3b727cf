//! Near-data transactions, from the host's interface down to the bytes on storage: one database with
//! the host's own transactions, whatever the interleaving and whatever breaks.

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
