//! From a story that fails to a short one that fails.

use crate::plan::{Options, Plan};
use crate::run::{Outcome, run};

/// Runs that are tried at most.
const MOST: usize = 60;

/// Fewer jobs, workers and strokes of fate, and a quiet network, as long as it still fails.
#[must_use]
pub fn shrink(seed: u64, options: &Options) -> (Options, Outcome) {
    let mut best = (options.clone(), run(seed, options));
    let strokes: Vec<usize> = Plan::new(seed, options).strokes.iter().map(|(number, ..)| *number).collect();
    best.0.keep = Some(strokes);
    let mut tried = 0;
    loop {
        let mut better = None;
        for smaller in smaller(&best.0) {
            tried += 1;
            if tried > MOST {
                return best;
            }
            let outcome = run(seed, &smaller);
            if !outcome.wrong.is_empty() {
                better = Some((smaller, outcome));
                break;
            }
        }
        match better {
            Some(found) => best = found,
            None => return best,
        }
    }
}

/// Each way to make it smaller by one step, the greatest first.
fn smaller(options: &Options) -> Vec<Options> {
    let mut all = Vec::new();
    let kept = options.keep.clone().unwrap_or_default();
    if kept.len() > 2 {
        let (first, second) = kept.split_at(kept.len() / 2);
        all.extend([first, second].map(|half| Options { keep: Some(half.to_vec()), ..options.clone() }));
    }
    if !options.quiet {
        all.push(Options { quiet: true, ..options.clone() });
    }
    if options.jobs > 1 {
        all.push(Options { jobs: options.jobs / 2, ..options.clone() });
        all.push(Options { jobs: options.jobs - 1, ..options.clone() });
    }
    for number in &kept {
        let keep = kept.iter().copied().filter(|other| other != number).collect();
        all.push(Options { keep: Some(keep), ..options.clone() });
    }
    all
}

/// The command that tells a story again.
#[must_use]
pub fn command(seed: u64, options: &Options) -> String {
    let mut line =
        format!("cargo xtask sim --seed {seed} --jobs {} --workers {}", options.jobs, options.workers);
    if let Some(keep) = &options.keep {
        let keep: Vec<String> = keep.iter().map(ToString::to_string).collect();
        line.push_str(&format!(
            " --keep {}",
            if keep.is_empty() { "none".to_owned() } else { keep.join(",") }
        ));
    }
    if options.quiet {
        line.push_str(" --quiet");
    }
    if let Some(planted) = options.planted {
        line.push_str(&format!(" --planted {}", planted.name()));
    }
    line
}
