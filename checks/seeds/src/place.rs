// SPDX-License-Identifier: MIT OR Apache-2.0
//! The location of a random test, so that a case of it can be repeated.

use std::thread;

/// The target of Cargo that a test belongs to. [`target!`](crate::target!) makes it.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    package: &'static str,
    kind: Kind,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Library,
    Binary(&'static str),
    IntegrationTest(&'static str),
}

impl Target {
    /// Of what Cargo tells the compiler: `CARGO_PKG_NAME`, `CARGO_CRATE_NAME`, `CARGO_BIN_NAME`, and
    /// `CARGO_TARGET_TMPDIR`, which only integration tests have.
    #[doc(hidden)]
    #[must_use]
    pub const fn new(
        package: &'static str,
        name: &'static str,
        binary: Option<&'static str>,
        folder_of_tests: Option<&'static str>,
    ) -> Self {
        let kind = match (binary, folder_of_tests) {
            (Some(binary), _) => Kind::Binary(binary),
            (None, Some(_)) => Kind::IntegrationTest(name),
            (None, None) => Kind::Library,
        };
        Self { package, kind }
    }
}

/// The [`Target`] that is being compiled. The names of integration tests have underscores, no
/// hyphens: the compiler is told no other.
#[macro_export]
macro_rules! target {
    () => {
        $crate::Target::new(
            ::core::env!("CARGO_PKG_NAME"),
            ::core::env!("CARGO_CRATE_NAME"),
            ::core::option_env!("CARGO_BIN_NAME"),
            ::core::option_env!("CARGO_TARGET_TMPDIR"),
        )
    };
}

/// A test of a target.
#[derive(Clone, Debug)]
pub struct TestPlace {
    target: Target,
    /// Its path, after which its thread is named.
    test: Option<String>,
}

impl TestPlace {
    /// The test that runs on this thread.
    pub fn here(target: Target) -> Self {
        let test = thread::current().name().filter(|name| *name != "main").map(String::from);
        Self { target, test }
    }

    /// The command that repeats a case.
    pub fn command(&self, seed: u64) -> String {
        let Target { package, kind } = self.target;
        let mut command = format!("LOCKSTEP_SEED={seed} cargo test -p {package}");
        match kind {
            Kind::Library => command += " --lib",
            Kind::Binary(name) => command += &format!(" --bin {name}"),
            Kind::IntegrationTest(name) => command += &format!(" --test {name}"),
        }
        if let Some(test) = &self.test {
            command += &format!(" {test} -- --exact");
        }
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_names_package_target_and_test() {
        let command = |binary, folder, test: Option<&str>| {
            let target = Target::new("a-package", "a_target", binary, folder);
            TestPlace { target, test: test.map(String::from) }.command(17)
        };
        let begins = |rest: &str| format!("LOCKSTEP_SEED=17 cargo test -p a-package {rest}");
        let of_library = command(None, None, Some("of::a_test"));
        assert_eq!(of_library, begins("--lib of::a_test -- --exact"));
        let of_binary = command(Some("a-tool"), None, Some("a_test"));
        assert_eq!(of_binary, begins("--bin a-tool a_test -- --exact"));
        let of_tests = command(None, Some("tmp"), Some("of::a_test"));
        assert_eq!(of_tests, begins("--test a_target of::a_test -- --exact"));
        assert_eq!(command(None, Some("tmp"), None), begins("--test a_target"));
    }

    #[test]
    fn a_test_is_named_by_its_thread() {
        let command = TestPlace::here(crate::target!()).command(3);
        let test = "place::tests::a_test_is_named_by_its_thread";
        let begin = "LOCKSTEP_SEED=3 cargo test -p lockstep-seeds --lib";
        assert_eq!(command, format!("{begin} {test} -- --exact"));
    }
}
