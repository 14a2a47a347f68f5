//! `remora result JOB`: what was published.

mod fetch;

use std::io::{self, Write};
use std::path::Path;

use api::Api;
use api::v1::{EntryKind, ResultEntry, ResultSummary};
use futures_util::StreamExt as _;
use protocol::JobId;
use serde_json::json;

use crate::access::{Site, problem};
use crate::args::ResultArgs;
use crate::failure::{Failure, code};
use crate::printer::Printer;

pub(crate) async fn run(site: &Site, args: ResultArgs, printer: &Printer) -> Result<u8, Failure> {
    let api = site.api().await?;
    let job = args.job;
    let result = api.result(job).await.map_err(|told| {
        let failure = problem(told);
        if failure.code == code::NOT_FOUND {
            return failure.hint(format!("`remora show {job}` tells more"));
        }
        failure
    })?;
    if args.path {
        let Some(path) = result.path.as_ref().filter(|_| !site.is_remote()) else {
            return Err(Failure::new(code::REFUSED, "the target is no folder: the result has no path here")
                .hint(format!("`remora result {job} --to FOLDER` copies it")));
        };
        return print_path(Path::new(path), job, printer);
    }
    if let Some(name) = &args.file {
        return print_file(api.as_ref(), job, name, printer).await;
    }
    if let Some(to) = &args.to {
        fetch::whole(api.as_ref(), job, to).await?;
        return print_path(&std::path::absolute(to)?, job, printer);
    }
    list(api.as_ref(), &result, printer).await?;
    Ok(code::OK)
}

fn print_path(path: &Path, job: JobId, printer: &Printer) -> Result<u8, Failure> {
    // A result without files is a folder that nobody had reason to make.
    std::fs::create_dir_all(path)?;
    if printer.is_json() {
        printer.json(&json!({ "job": job, "path": path }))?;
    } else {
        printer.line(&path.display().to_string());
    }
    Ok(code::OK)
}

/// Copies the whole result into a folder.
pub(crate) async fn copy(api: &dyn Api, job: JobId, to: &Path) -> Result<(), Failure> {
    fetch::whole(api, job, to).await
}

/// All entries of a result.
async fn entries(api: &dyn Api, job: JobId) -> Result<Vec<ResultEntry>, Failure> {
    let (mut entries, mut after) = (Vec::new(), None::<String>);
    loop {
        let page = api.result_entries(job, after.as_deref(), PAGE).await.map_err(problem)?;
        entries.extend(page.items);
        after = page.next;
        if after.is_none() {
            return Ok(entries);
        }
    }
}

async fn print_file(api: &dyn Api, job: JobId, name: &str, printer: &Printer) -> Result<u8, Failure> {
    let told = |told| {
        let failure = problem(told);
        if failure.code == code::NOT_FOUND {
            return failure.hint(format!("`remora result {job}` lists its files; `--to FOLDER` copies all"));
        }
        failure
    };
    let mut file = api.result_file(job, name, 0..u64::MAX).await.map_err(told)?;
    let mut out = printer.writer();
    while let Some(piece) = file.bytes.next().await {
        match out.write_all(&piece.map_err(problem)?) {
            // Whoever reads has seen enough.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => break,
            other => other?,
        }
    }
    Ok(code::OK)
}

/// Entries asked for at once.
const PAGE: usize = 10_000;
/// Letters of a name that a table shows.
const SHOWN: usize = 120;

/// A name on one line of a table: what would break the line is escaped, and of a long one the middle is left out. JSON has
/// it whole.
fn on_a_line(name: &str) -> String {
    let escaped: Vec<char> = name
        .chars()
        .flat_map(|letter| {
            let plain = !letter.is_control();
            let escape = (!plain).then(|| letter.escape_default()).into_iter().flatten();
            plain.then_some(letter).into_iter().chain(escape)
        })
        .collect();
    if escaped.len() <= SHOWN {
        return escaped.into_iter().collect();
    }
    let half = SHOWN / 2;
    escaped[..half].iter().chain(&['…']).chain(&escaped[escaped.len() - half..]).collect()
}

async fn list(api: &dyn Api, result: &ResultSummary, printer: &Printer) -> Result<(), Failure> {
    let entries = entries(api, result.job).await?;
    if printer.is_json() {
        let mut whole = serde_json::to_value(result)?;
        whole["entries"] = serde_json::to_value(entries)?;
        return printer.json(&whole);
    }
    let row = |entry: &ResultEntry| {
        let size = match entry.kind {
            EntryKind::File => entry.bytes.unwrap_or_default().to_string(),
            EntryKind::Folder => "folder".to_owned(),
            EntryKind::Link => format!("→ {}", on_a_line(entry.to.as_deref().unwrap_or_default())),
        };
        let digest = entry.blake3.as_deref().unwrap_or_default();
        vec![on_a_line(&entry.path), size, digest.chars().take(16).collect()]
    };
    printer.table(&["path", "bytes", "blake3"], entries.iter().map(row).collect(), &[1]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_on_its_line_and_a_long_one_keeps_both_ends() {
        assert_eq!(on_a_line("größe \u{1f41f}.txt"), "größe \u{1f41f}.txt");
        assert_eq!(on_a_line("a\nb\tc\u{1b}[1m"), "a\\nb\\tc\\u{1b}[1m");
        let long = format!("begin{}end", "x".repeat(250));
        let shown = on_a_line(&long);
        assert!(shown.starts_with("begin") && shown.ends_with("end") && shown.contains('…'), "{shown}");
        assert_eq!(shown.chars().count(), SHOWN + 1);
        assert_eq!(on_a_line(&"x".repeat(SHOWN)).len(), SHOWN);
    }
}
