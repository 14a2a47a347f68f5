//! `remora result JOB`: what was published.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use durable::{Document, PublishedResult};
use protocol::JobId;
use serde_json::json;
use target::file::FileTarget;
use target::{Manifest, Node, Part, Target};

use super::follow::{clean, data_folder, result_folder};
use super::show::job_view;
use crate::access::Readers;
use crate::args::ResultArgs;
use crate::failure::{Failure, code};
use crate::printer::Printer;

pub(crate) async fn run(dir: PathBuf, args: ResultArgs, printer: &Printer) -> Result<u8, Failure> {
    let readers = Readers::open(&dir).await?;
    let folder = data_folder(&dir);
    let view = job_view(&readers, args.job).await?;
    let (Some(result), Some(path)) = (&view.result, result_folder(&folder, &view)) else {
        let failure = Failure::new(
            code::NOT_FOUND,
            format!("{} has no result: it is {}", args.job, view.summary.phase),
        );
        return Err(failure.hint(format!("`remora show {}` tells more", args.job)));
    };
    if args.path {
        // A result without files is a folder that nobody had reason to make.
        std::fs::create_dir_all(&path)?;
        if printer.is_json() {
            printer.json(&json!({ "job": args.job, "path": path }))?;
        } else {
            printer.line(&path.display().to_string());
        }
        return Ok(code::OK);
    }
    let manifest = manifest(&FileTarget::new(folder.target()), result).await?;
    if let Some(name) = &args.file {
        return print_file(&path, &manifest, name, args.job, printer);
    }
    list(&manifest, result, printer)?;
    Ok(code::OK)
}

async fn manifest(target: &FileTarget, result: &PublishedResult) -> Result<Manifest, Failure> {
    let bytes = match &result.record.manifest {
        Document::Inline(bytes) => bytes.clone(),
        Document::Stored { key, length, digest } => target.read(&Part::stored(key, *length, *digest)).await?,
    };
    Ok(Manifest::decode(&bytes)?)
}

fn print_file(
    path: &Path,
    manifest: &Manifest,
    name: &str,
    job: JobId,
    printer: &Printer,
) -> Result<u8, Failure> {
    let known =
        manifest.entries.iter().any(|entry| entry.path == name && matches!(entry.node, Node::File { .. }));
    if !known {
        return Err(Failure::new(code::NOT_FOUND, format!("the result of {job} has no file {name:?}"))
            .hint(format!("`remora result {job}` lists its files")));
    }
    let mut file = File::open(path.join(name))?;
    match io::copy(&mut file, &mut printer.writer()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(code::OK),
    }
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
