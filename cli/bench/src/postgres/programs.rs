// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where PostgreSQL's programs are, who may run them, and what of them is missing.

use std::env;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use super::PostgresError;

/// The release whose functions the extension calls.
const RELEASE: &str = "15";
/// Where Debian puts it.
const DEBIAN: &str = "/usr/lib/postgresql/15/bin/pg_config";
const REMEDY: &str = "As root, `./kit bench postgres` installs what Debian has; by hand: apt-get \
                      install postgresql-15 postgresql-server-dev-15 gcc. PG_CONFIG can name the \
                      pg_config of another PostgreSQL 15";

/// PostgreSQL's programs and the user that they run as.
#[derive(Debug)]
pub struct Programs {
    /// With `initdb`, `postgres`, `psql` and `pg_isready`.
    pub folder: PathBuf,
    /// As `pg_config --version` says it.
    pub version: String,
    headers: PathBuf,
    /// User and group of those programs; the server refuses to run as root.
    user: Option<(u32, u32)>,
}

impl Programs {
    /// Looks where `PG_CONFIG` says, or else where Debian puts them.
    ///
    /// # Errors
    /// When something is missing: all of it, and how to get it.
    pub fn find() -> Result<Self, PostgresError> {
        let pg_config = env::var_os("PG_CONFIG").unwrap_or_else(|| OsString::from(DEBIAN));
        Self::of(Path::new(&pg_config))
    }

    fn of(pg_config: &Path) -> Result<Self, PostgresError> {
        let ask = |what| line_of(Command::new(pg_config).arg(what));
        let answers = (ask("--version"), ask("--bindir"), ask("--includedir-server"));
        let (Some(version), Some(folder), Some(headers)) = answers else {
            let what = format!("PostgreSQL {RELEASE} (no program {})", pg_config.display());
            return Err(PostgresError::Missing { what, remedy: REMEDY });
        };
        if version.split([' ', '.']).nth(1) != Some(RELEASE) {
            let found = format!("PostgreSQL {RELEASE} ({} is of {version})", pg_config.display());
            return Err(PostgresError::Missing { what: found, remedy: REMEDY });
        }
        let (folder, headers) = (PathBuf::from(folder), PathBuf::from(headers));
        let programs = ["initdb", "postgres", "psql", "pg_isready"].map(|name| folder.join(name));
        let files = programs.iter().cloned().chain([headers.join("postgres.h")]);
        let mut missing: Vec<String> =
            files.filter(|file| !file.is_file()).map(|file| file.display().to_string()).collect();
        if line_of(Command::new("cc").arg("--version")).is_none() {
            missing.push("the C compiler cc".into());
        }
        if !missing.is_empty() {
            return Err(PostgresError::Missing { what: missing.join(", "), remedy: REMEDY });
        }
        Ok(Self { folder, version, headers, user: unprivileged()? })
    }

    /// A command that runs as the unprivileged user, from a folder that all users may read, and
    /// without settings of another server.
    pub fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command.current_dir("/");
        for (name, _) in env::vars_os() {
            if name.to_string_lossy().starts_with("PG") {
                command.env_remove(name);
            }
        }
        if let Some((user, group)) = self.user {
            command.uid(user).gid(group);
        }
        command
    }

    /// Compiles C `source` to the shared library `library`.
    ///
    /// # Errors
    /// When the compiler refuses, or takes longer than a minute.
    pub fn compile(&self, source: &str, library: &Path) -> Result<(), PostgresError> {
        let mut compiler = self.command("timeout");
        compiler.args(["60", "cc", "-x", "c", "-O2", "-fPIC", "-shared", "-D_GNU_SOURCE"]);
        compiler.args(["-Werror=implicit-function-declaration", "-o"]).arg(library);
        compiler.arg("-isystem").arg(&self.headers).arg("-");
        // Its own files, too, go where they are removed.
        if let Some(folder) = library.parent() {
            compiler.env("TMPDIR", folder);
        }
        let failed = |why: String| PostgresError::Build(why);
        let mut child = compiler
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|cause| failed(format!("cannot start cc: {cause}")))?;
        let mut stdin = child.stdin.take().expect("was piped");
        let written = std::io::Write::write_all(&mut stdin, source.as_bytes());
        drop(stdin);
        let Output { status, stderr, .. } =
            child.wait_with_output().map_err(|cause| failed(cause.to_string()))?;
        match (status.code(), written) {
            (Some(0), Ok(())) => Ok(()),
            (Some(124), _) => Err(failed("cc took longer than 60 seconds".into())),
            _ => Err(failed(String::from_utf8_lossy(&stderr).trim().to_owned())),
        }
    }
}

/// User and group of Debian's user for this, or of nobody; none when this process is not root.
fn unprivileged() -> Result<Option<(u32, u32)>, PostgresError> {
    let id = |arguments: &[&str]| line_of(Command::new("id").args(arguments))?.parse().ok();
    if id(&["-u"]) != Some(0) {
        return Ok(None);
    }
    let of = |name| Some((id(&["-u", name])?, id(&["-g", name])?));
    let found = of("postgres").or_else(|| of("nobody"));
    let missing = || PostgresError::Missing {
        what: "a user that is not root, called postgres or nobody".into(),
        remedy: "The server refuses to run as root",
    };
    found.map(Some).ok_or_else(missing)
}

/// The first line that a command prints, if it goes well.
fn line_of(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.lines().next().map(str::to_owned))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named_with_the_way_to_get_it() {
        let message = Programs::of(Path::new("/nowhere/pg_config")).expect_err("missing");
        let message = message.to_string();
        assert!(
            message.contains("missing: PostgreSQL 15 (no program /nowhere/pg_config). As root")
        );
        assert!(message.contains("apt-get install postgresql-15 postgresql-server-dev-15 gcc"));
    }

    /// A `pg_config` of another release, and one whose server was never installed.
    #[test]
    fn another_release_and_absent_files_are_told_apart() {
        let folder = tempfile::tempdir().expect("a folder");
        let pg_config = folder.path().join("pg_config");
        let of = |version: &str| {
            let script = format!("#!/bin/sh\n[ $1 = --version ] && echo {version} || echo /none\n");
            std::fs::write(&pg_config, script).expect("written");
            let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            std::fs::set_permissions(&pg_config, executable).expect("executable");
            Programs::of(&pg_config).expect_err("missing").to_string()
        };
        assert!(of("PostgreSQL 9.6.24").contains("pg_config is of PostgreSQL 9.6.24)"));
        let absent = of("PostgreSQL 15.18");
        assert!(absent.contains("missing: /none/initdb, /none/postgres, /none/psql"), "{absent}");
        assert!(absent.contains("/none/postgres.h"), "{absent}");
    }
}
