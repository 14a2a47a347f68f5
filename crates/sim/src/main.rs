//! `cargo xtask sim`: lives seeds and tells the stories of those that fail.

use std::io::Write as _;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Context as _;
use clap::Parser;
use remora_sim::{Options, Planted, command, live, run, shrink};

/// Lives seeds of the simulation; every one is audited against the spec.
#[derive(Parser)]
struct Args {
    /// How many seeds; 1 where one is named, else 500.
    #[arg(long)]
    seeds: Option<u64>,
    /// The first seed.
    #[arg(long)]
    seed: Option<u64>,
    /// Jobs in each run.
    #[arg(long, default_value_t = 5)]
    jobs: usize,
    /// Workers in each run.
    #[arg(long, default_value_t = 3)]
    workers: usize,
    /// Threads that live seeds side by side.
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// The numbers of the strokes of fate to keep, such as 0,3; none for none.
    #[arg(long)]
    keep: Option<String>,
    /// A network that loses and delays nothing by itself.
    #[arg(long)]
    quiet: bool,
    /// Puts a fault in, to see it found.
    #[arg(long)]
    planted: Option<String>,
    /// Tells the story of a seed, also when it is right.
    #[arg(long)]
    story: bool,
    /// Does not look for a shorter story.
    #[arg(long)]
    whole: bool,
}

fn say(text: &str) {
    // Whoever closed the pipe has seen enough.
    let _ = writeln!(std::io::stdout().lock(), "{text}");
}

impl Args {
    fn options(&self) -> anyhow::Result<Options> {
        let keep = match self.keep.as_deref() {
            None => None,
            Some("none") => Some(Vec::new()),
            Some(list) => {
                let numbers: Result<Vec<usize>, _> = list.split(',').map(str::parse).collect();
                Some(numbers.context("--keep takes numbers such as 0,3, or none")?)
            }
        };
        let named = |name: &String| {
            let found = Planted::ALL.iter().copied().find(|planted| planted.name() == name);
            let names: Vec<&str> = Planted::ALL.iter().map(|planted| planted.name()).collect();
            found.with_context(|| format!("no fault `{name}`; one of {}", names.join(", ")))
        };
        let planted = self.planted.as_ref().map(named).transpose()?;
        Ok(Options { jobs: self.jobs, workers: self.workers.max(1), keep, quiet: self.quiet, planted })
    }
}

fn main() -> anyhow::Result<ExitCode> {
    let args = Args::parse();
    let options = args.options()?;
    let from = args.seed.unwrap_or(1);
    let seeds = args.seeds.unwrap_or(if args.seed.is_some() { 1 } else { 500 });
    if args.story {
        let outcome = run(from, &options);
        say(&outcome.table());
    }
    let began = Instant::now();
    let sum = live(from, seeds, args.threads, &options);
    let took = began.elapsed();
    let minutes = took.as_secs_f64() / 60.0;
    let rate = f64::from(u32::try_from(sum.runs).unwrap_or(u32::MAX)) / minutes.max(f64::EPSILON);
    for (seed, wrong) in &sum.failed {
        say(&format!("seed {seed}: {}", wrong.first().map_or("", String::as_str)));
    }
    if let Some((seed, _)) = sum.failed.first()
        && !args.whole
    {
        let (smaller, outcome) = shrink(*seed, &options);
        say(&format!("\nthe shortest story found of seed {seed}:\n\n{}", outcome.table()));
        outcome.wrong.iter().for_each(|wrong| say(wrong));
        say(&format!("\n{}\n{}", command(*seed, &options), command(*seed, &smaller)));
    }
    say(&format!(
        "{} seeds from {from} on, {} failed; {} attempts, {} events, {:.1} h of virtual time; {:.1} s, {rate:.0} seeds a minute",
        sum.runs,
        sum.failed.len(),
        sum.attempts,
        sum.events,
        sum.lasted.as_secs_f64() / 3_600.0,
        took.as_secs_f64(),
    ));
    Ok(if sum.failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
