//! `lockstep figures`: all experiments on one HTML page.

mod machine;
mod page;

use std::io::Write;
use std::path::PathBuf;

use crate::experiments::Seeds;
use crate::failure::Failure;
use crate::output::Output;
use crate::whole_file::WholeFile;
use crate::{bench, experiments};

use page::Page;

/// Runs all experiments and writes one self-contained HTML page.
#[derive(clap::Args)]
pub struct Args {
    /// Folder for the page, and for the JSON and SVG files of the experiments.
    #[arg(long, default_value = "out")]
    out: PathBuf,
    #[command(flatten)]
    seeds: Seeds,
    /// Runs the benches too, which depend on this machine.
    #[arg(long)]
    benches: bool,
}

/// Runs the command.
///
/// # Errors
/// When the folder cannot be written to.
pub fn run(args: Args, out: &Output) -> Result<(), Failure> {
    experiments::make_folder(&args.out)?;
    let mut page = Page {
        experiments: Vec::new(),
        benches: Vec::new(),
        benches_not_measured: Vec::new(),
        seeds: args.seeds,
        made_with: machine::description(),
    };
    page.made_with.push(("Lockstep", env!("CARGO_PKG_VERSION").into()));
    page.made_with.push(("Verilator", sim::models::VERILATOR_VERSION.into()));
    for (number, experiment) in experiments::ALL.iter().enumerate() {
        out.note(format_args!("{} of {}: {}", number + 1, experiments::ALL.len(), experiment.name));
        let findings = match experiment.measure(args.seeds, out) {
            // The page says so; the others are worth having.
            Err(Failure::NotMeasured(why)) => {
                out.note(&why);
                Err(why)
            }
            findings => Ok(findings?),
        };
        if let Ok(findings) = &findings {
            let json = experiments::json(experiment, args.seeds, findings);
            experiments::write(&args.out, experiment, findings, &json)?;
        }
        page.experiments.push((experiment, findings));
    }
    if args.benches {
        for bench in &bench::ALL {
            out.note(format_args!("bench {}", bench.name));
            match bench.measure(out) {
                Ok(measured) => page.benches.extend(measured.figures),
                Err(Failure::NotMeasured(why)) => {
                    out.note(&why);
                    page.benches_not_measured.push(why);
                }
                Err(failure) => return Err(failure),
            }
        }
    }
    let path = args.out.join("figures.html");
    let mut file = WholeFile::create(&path)?;
    file.write_all(page.html().as_bytes()).map_err(|cause| Failure::writing(&path, cause))?;
    file.finish()?;
    out.print(path.display())
}
