//! `remora result JOB`: what was published.

mod fetch;

use std::io::{self, Write};
use std::path::Path;

use durable::{Document, PublishedResult};
use serde_json::json;
use target::{Manifest, Node, Part, StageId, Target};

use super::follow::{clean, local_result};
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
    let known =
        manifest.entries.iter().any(|entry| entry.path == name && matches!(entry.node, Node::File { .. }));
    if !known {
        return Err(Failure::new(code::NOT_FOUND, format!("the result of {job} has no file {name:?}"))
            .hint(format!("`remora result {job}` lists its files")));
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
                Node::Link { to } => (format!("→ {}", clean(to)), String::new()),
            };
            vec![clean(&entry.path), size, digest.chars().take(16).collect()]
        })
        .collect();
    printer.table(&["path", "bytes", "blake3"], rows, &[1]);
    Ok(())
}
