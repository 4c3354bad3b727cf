// SPDX-License-Identifier: MIT OR Apache-2.0
//! The description of this machine, as its system reports it.

use std::fs;
use std::thread;

/// Names and values: processor, memory, system. What cannot be read is said so.
pub fn description() -> Vec<(&'static str, String)> {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let field = |text: &str, name: &str| {
        text.lines().find_map(|line| {
            let (found, value) = line.split_once(':')?;
            (found.trim() == name).then(|| value.trim().to_owned())
        })
    };
    let known = |value: Option<String>| value.unwrap_or_else(|| "not known".into());
    let processors = thread::available_parallelism().map(|count| count.to_string());
    let memory = field(&read("/proc/meminfo"), "MemTotal").and_then(|total| gibibytes(&total));
    let release = read("/etc/os-release");
    let system = release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="));
    let kernel = read("/proc/sys/kernel/osrelease").trim().to_owned();
    vec![
        ("processor", known(field(&read("/proc/cpuinfo"), "model name"))),
        ("processors", known(processors.ok())),
        ("memory", known(memory)),
        ("system", known(system.map(|name| name.trim_matches('"').to_owned()))),
        ("kernel", known(Some(kernel).filter(|kernel| !kernel.is_empty()))),
    ]
}

/// `16384000 kB` as `15.6 GiB`.
fn gibibytes(text: &str) -> Option<String> {
    let kibibytes: f64 = text.strip_suffix(" kB")?.trim().parse().ok()?;
    Some(format!("{:.1} GiB", kibibytes / (1 << 20) as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_given_in_gibibytes() {
        assert_eq!(gibibytes("16777216 kB").as_deref(), Some("16.0 GiB"));
        assert_eq!(gibibytes("16777216"), None);
    }

    #[test]
    fn every_field_says_something() {
        assert!(description().iter().all(|(_, value)| !value.is_empty()));
    }
}
