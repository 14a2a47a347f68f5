//! `remora result JOB`: what was published.

mod fetch;

use std::io::{self, Write};
use std::path::Path;

use durable::{Document, PublishedResult};
use protocol::JobId;
use serde_json::json;
use target::{Manifest, Node, Part, StageId, Target};

use super::follow::local_result;
use super::show::job_view;
use crate::access::Site;
use crate::args::ResultArgs;
use crate::failure::{Failure, code};
use crate::printer::Printer;

pub(crate) async fn run(site: &Site, args: ResultArgs, printer: &Printer) -> Result<u8, Failure> {
    let readers = site.readers().await?;
    let target = site.target().await?;
    let view = job_view(&readers, args.job).await?;
    let Some(result) = &view.result else {
        let failure = Failure::new(
            code::NOT_FOUND,
            format!("{} has no result: it is {}", args.job, view.summary.phase),
        );
        return Err(failure.hint(format!("`remora show {}` tells more", args.job)));
    };
    if args.path {
        let Some(path) = local_result(target.as_ref(), &view) else {
            return Err(Failure::new(code::REFUSED, "the target is no folder: the result has no path here")
                .hint(format!("`remora result {} --to FOLDER` copies it", args.job)));
        };
        return print_path(&path, result, printer);
    }
    let manifest = manifest(target.as_ref(), result).await?;
    if let Some(name) = &args.file {
        return print_file(target.as_ref(), result, &manifest, name, printer).await;
    }
    if let Some(to) = &args.to {
        copy(target.as_ref(), result, to).await?;
        return print_path(&std::path::absolute(to)?, result, printer);
    }
    list(&manifest, result, printer)?;
    Ok(code::OK)
}

fn print_path(path: &Path, result: &PublishedResult, printer: &Printer) -> Result<u8, Failure> {
    // A result without files is a folder that nobody had reason to make.
    std::fs::create_dir_all(path)?;
    if printer.is_json() {
        printer.json(&json!({ "job": result.job, "path": path }))?;
    } else {
        printer.line(&path.display().to_string());
    }
    Ok(code::OK)
}

/// Copies the whole result into a folder.
pub(crate) async fn copy(target: &dyn Target, result: &PublishedResult, to: &Path) -> Result<(), Failure> {
    fetch::whole(target, &manifest(target, result).await?, to).await
}

async fn manifest(target: &dyn Target, result: &PublishedResult) -> Result<Manifest, Failure> {
    let bytes = match &result.record.manifest {
        Document::Inline(bytes) => bytes.clone(),
        Document::Stored { key, length, digest } => target.read(&Part::stored(key, *length, *digest)).await?,
    };
    Ok(Manifest::decode(&bytes)?)
}

async fn print_file(
    target: &dyn Target,
    result: &PublishedResult,
    manifest: &Manifest,
    name: &str,
    printer: &Printer,
) -> Result<u8, Failure> {
    let job = result.job;
    let known = manifest.entries.iter().find(|entry| entry.path == name).map(|entry| &entry.node);
    if !matches!(known, Some(Node::File { .. })) {
        return Err(no_file(job, name, known));
    }
    let stage = StageId { job, token: result.token, attempt: result.attempt };
    let mut file = target.open_result(&stage, name, 0..u64::MAX).await?;
    let mut out = printer.writer();
    while let Some(piece) = file.next().await? {
        match out.write_all(&piece) {
            // Whoever reads has seen enough.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => break,
            other => other?,
        }
    }
    Ok(code::OK)
}

/// What there is under a name that is no file's. A link is kept as it was written, and nobody follows it: where it leads is
/// another name.
fn no_file(job: JobId, name: &str, known: Option<&Node>) -> Failure {
    let (what, hint) = match known {
        Some(Node::Link { to }) => (
            format!("{name:?} in the result of {job} is a link to {to:?}, not a file"),
            format!("name the file that it leads to; `remora result {job}` lists all"),
        ),
        Some(Node::Folder) => (
            format!("{name:?} in the result of {job} is a folder, not a file"),
            format!("`remora result {job}` lists the files; `--to FOLDER` copies all"),
        ),
        _ => (
            format!("the result of {job} has no file {name:?}"),
            format!("`remora result {job}` lists its files"),
        ),
    };
    Failure::new(code::NOT_FOUND, what).hint(hint)
}

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

fn list(manifest: &Manifest, result: &PublishedResult, printer: &Printer) -> Result<(), Failure> {
    if printer.is_json() {
        return printer.json(&json!({
            "job": result.job,
            "attempt": result.token,
            "files": result.record.files,
            "bytes": result.record.bytes,
            "entries": manifest.entries,
        }));
    }
    let rows = manifest
        .entries
        .iter()
        .map(|entry| {
            let (size, digest) = match &entry.node {
                Node::File { parts, .. } => {
                    let size: u64 = parts.iter().map(|part| part.length).sum();
                    (size.to_string(), parts.first().map(|part| part.digest.to_string()).unwrap_or_default())
                }
                Node::Folder => ("folder".to_owned(), String::new()),
                Node::Link { to } => (format!("→ {}", on_a_line(to)), String::new()),
            };
            vec![on_a_line(&entry.path), size, digest.chars().take(16).collect()]
        })
        .collect();
    printer.table(&["path", "bytes", "blake3"], rows, &[1]);
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

    #[test]
    fn what_is_no_file_is_called_what_it_is() {
        let told = |known: Option<&Node>| no_file(JobId(1), "x", known).error.to_string();
        let link = Node::Link { to: "a/b".to_owned() };
        assert!(told(Some(&link)).ends_with("is a link to \"a/b\", not a file"), "{}", told(Some(&link)));
        assert!(told(Some(&Node::Folder)).ends_with("is a folder, not a file"));
        assert!(told(None).contains("has no file \"x\""));
    }
}
