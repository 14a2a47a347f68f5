//! What a campaign came to, for people.

use std::fmt::Write as _;
use std::process::Command;

use super::Outcome;

const MEBIBYTE: u64 = 1024 * 1024;

/// What a program says of itself, in one line.
fn said(program: &str, words: &[&str]) -> String {
    let output = Command::new(program).args(words).output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    text.unwrap_or_default().lines().next().unwrap_or("unknown").trim().to_owned()
}

fn machine() -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let value = |text: &str, name: &str| {
        let line = text.lines().find(|line| line.starts_with(name)).unwrap_or_default();
        line.split_once(':').map(|(_, value)| value.trim().to_owned()).unwrap_or_default()
    };
    let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    format!(
        "{cores} cores ({}), {} of memory, Linux {}; load {} at the end",
        value(&read("/proc/cpuinfo"), "model name"),
        value(&read("/proc/meminfo"), "MemTotal"),
        read("/proc/sys/kernel/osrelease").trim(),
        read("/proc/loadavg").split_ascii_whitespace().take(3).collect::<Vec<_>>().join(" "),
    )
}

impl Outcome {
    /// One line.
    #[must_use]
    pub fn in_short(&self) -> String {
        let faults: u32 = self.faults.values().sum();
        self.book.with(|pages| {
            format!(
                "seed {}: {:.0?}, {faults} faults, {} jobs, {} results checked",
                self.options.seed, self.took, pages.submitted, pages.checked
            )
        })
    }

    /// The report, as Markdown.
    #[must_use]
    pub fn report(&self) -> String {
        let options = &self.options;
        let minutes = options.time.as_secs() / 60;
        let mut text = String::from(
            "# A campaign of faults\n\nWritten by the tool itself; nothing in it was edited.\n\n",
        );
        let mut line = |what: &str, value: String| {
            // A string takes all.
            let _ = writeln!(text, "| {what} | {value} |");
        };
        line("what", "value".to_owned());
        line("---", "---".to_owned());
        line(
            "command",
            format!(
                "`cargo xtask chaos --minutes {minutes} --seed {} --jobs-per-minute {}`",
                options.seed, options.jobs_per_minute
            ),
        );
        line("commit", said("git", &["rev-parse", "HEAD"]));
        line("machine", machine());
        line("stores", format!("{}; {}", said("psql", &["--version"]), said("redis-server", &["--version"])));
        let fleet = options.fleet;
        line(
            "installation",
            format!(
                "{} servers, {} workers of {} slots, lease {:?}",
                fleet.servers, fleet.workers, fleet.slots, fleet.lease
            ),
        );
        line("took", format!("{:.0?}, with {} pauses for the audit", self.took, self.pieces));
        self.counts(&mut line);
        for left_out in &self.left_out {
            line("left out", left_out.clone());
        }
        self.faults(&mut text);
        self.times(&mut text);
        text
    }

    fn counts(&self, line: &mut impl FnMut(&str, String)) {
        let listed = |counts: Vec<(String, u64)>| {
            let listed: Vec<String> =
                counts.into_iter().map(|(what, count)| format!("{what} {count}")).collect();
            listed.join(", ")
        };
        self.book.with(|pages| {
            line(
                "jobs",
                format!("{} accepted; {}", pages.submitted, {
                    listed(pages.phases.iter().map(|(phase, count)| (phase.to_string(), *count)).collect())
                }),
            );
            let attempts: u64 = pages.verdicts.values().sum();
            let verdicts = pages.verdicts.iter().map(|(verdict, count)| (verdict.clone(), *count)).collect();
            line("attempts", format!("{attempts}; {}", listed(verdicts)));
            line("most attempts of one job", pages.most_attempts.to_string());
            line("longest from submit to end", format!("{:.0?}", pages.slowest));
            line("results checked byte for byte", format!("{}; wrong: {}", pages.checked, pages.wrong.len()));
        });
        let audited = self.audited;
        line(
            "audited",
            format!(
                "{} events of {} jobs and {} attempts, {} losses of coordination; {} steps that killed processes took along put in; unexplained: 0",
                audited.events, audited.jobs, audited.attempts, audited.losses, audited.inferred
            ),
        );
        line("left over after each piece", "nothing".to_owned());
        line("processes started again by their supervisor", self.restarts.to_string());
        let sizes =
            self.largest_bytes.iter().map(|(what, bytes)| (format!("{what}, MiB:"), bytes / MEBIBYTE));
        line("largest resident size", listed(sizes.collect()));
    }

    fn faults(&self, text: &mut String) {
        let all: u32 = self.faults.values().sum();
        let _ = writeln!(text, "\n## Faults: {all}\n\n| kind | count |\n|---|---|");
        for (kind, count) in &self.faults {
            let _ = writeln!(text, "| {kind} | {count} |");
        }
    }

    fn times(&self, text: &mut String) {
        let _ = writeln!(
            text,
            "\n## Recoveries\n\nSeconds, p50 / p99 / maximum. The first claim: from the fault to the first attempt that was claimed after \
             it; new jobs come every {:.1} s, so a claim may have had nothing to claim. All normal: from the end of the fault \
             until every process runs and is registered, the pool is open and accounts for every attempt, and everything that has \
             authority has a lease.\n\n| fault | times | first claim after its beginning | all normal after its end |\n|---|---|---|---|",
            60.0 / f64::from(self.options.jobs_per_minute.max(1)),
        );
        for row in self.recoveries.rows() {
            let _ = writeln!(text, "{row}");
        }
    }
}
