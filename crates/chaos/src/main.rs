//! `cargo xtask chaos` and `cargo xtask recovery`: real faults on an installation of one's own, for as long as one likes.

use std::io::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use chaos::campaign::{self, Options};
use chaos::figures;
use chaos::fleet::{Fault, FleetOptions};
use clap::{Parser, Subcommand};
use remora_chaos as chaos;

/// Real faults on real processes and servers.
#[derive(Debug, Parser)]
struct Args {
    /// The program `remora`.
    #[arg(long, global = true, default_value = "remora")]
    program: String,
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Faults of every kind while jobs arrive all the time; every result checked, every trace audited.
    Chaos(Campaign),
    /// How long recoveries take: a table for docs/figures.md.
    Recovery {
        /// The lease length in seconds.
        #[arg(long, default_value_t = 15)]
        lease: u64,
    },
}

#[derive(Debug, clap::Args)]
struct Campaign {
    /// How long.
    #[arg(long, default_value_t = 5.0)]
    minutes: f64,
    /// Chance: the same seed gives the same faults and jobs in the same order.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Jobs that arrive each minute.
    #[arg(long, default_value_t = 60)]
    jobs_per_minute: u32,
    /// `remora server` processes.
    #[arg(long, default_value_t = 3)]
    servers: u32,
    /// `remora worker` processes.
    #[arg(long, default_value_t = 8)]
    workers: u32,
    /// Only faults whose names have this text.
    #[arg(long)]
    only: Option<String>,
    /// Writes the report there.
    #[arg(long)]
    report: Option<PathBuf>,
}

fn say(text: &str) {
    // Whoever closed the pipe has seen enough.
    let _ = writeln!(std::io::stdout().lock(), "{text}");
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        match args.what {
            What::Chaos(campaign) => chaos(args.program, campaign).await,
            What::Recovery { lease } => recovery(&args.program, Duration::from_secs(lease)).await,
        }
    })
}

async fn chaos(program: String, args: Campaign) -> anyhow::Result<()> {
    let only = args.only.map(|text| {
        let named = Fault::all().into_iter().filter(|fault| fault.name().contains(&text));
        named.collect::<Vec<_>>()
    });
    let options = Options {
        program,
        time: Duration::from_secs_f64(args.minutes * 60.0),
        seed: args.seed,
        jobs_per_minute: args.jobs_per_minute,
        fleet: FleetOptions {
            servers: args.servers,
            workers: args.workers,
            slots: 2,
            lease: Duration::from_secs(3),
        },
        only,
        tell: say,
    };
    let outcome = campaign::run(options).await?;
    let report = outcome.report();
    match args.report {
        Some(path) => {
            std::fs::write(&path, report).with_context(|| format!("write {}", path.display()))?;
            say(&outcome.in_short());
        }
        None => say(&report),
    }
    Ok(())
}

async fn recovery(program: &str, lease: Duration) -> anyhow::Result<()> {
    say("| what | first new claim after | all normal after |\n|---|---|---|");
    figures::measure(program, lease, say).await.map(drop)
}
