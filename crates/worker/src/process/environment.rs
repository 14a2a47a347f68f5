//! What a program finds: folders, files, variables.

use std::env;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::ProcessOptions;
use crate::handler::Run;
use crate::stage::StageError;
use crate::warden::Start;

/// Passed on from the worker; nothing else of its environment is.
const PASSED_ON: [&str; 4] = ["HOME", "LANG", "TZ", "LC_ALL"];
const DEFAULT_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

pub(super) fn start(run: &Run, options: &ProcessOptions) -> Result<Start, StageError> {
    let folder = &run.folder;
    let spec = &run.authorized.spec;
    write(&folder.args(), spec.args.as_bytes())?;
    let helper = folder.bin().join("remora");
    symlink(&options.helper, &helper)
        .map_err(|error| StageError::local(format!("link {}", helper.display()), error))?;
    let command = spec.command.as_ref();
    let asked = command.and_then(|command| command.cwd.as_deref()).filter(|cwd| Path::new(cwd).is_dir());
    let cwd = asked.map_or_else(|| text(&folder.scratch()), ToOwned::to_owned);
    let path = env::var("PATH").unwrap_or_else(|_| DEFAULT_PATH.to_owned());
    let mut variables: Vec<(String, String)> =
        PASSED_ON.iter().filter_map(|name| Some(((*name).to_owned(), env::var(name).ok()?))).collect();
    let own = command.map(|command| command.env.clone()).unwrap_or_default();
    let base = own.iter().rev().find(|(name, _)| name == "PATH").map_or(path, |(_, path)| path.clone());
    let control = &run.control;
    let companion = control.session.options.companion.as_ref();
    let added = companion.map(|companion| companion.variables(control.job(), control.attempt()));
    variables.extend(
        added.unwrap_or_default().into_iter().filter(|(name, _)| own.iter().all(|(set, _)| set != name)),
    );
    variables.extend(own.into_iter().filter(|(name, _)| name != "PATH"));
    variables.extend(
        [
            ("PATH", format!("{}:{base}", text(&folder.bin()))),
            ("REMORA_OUTPUT", text(&folder.output())),
            ("REMORA_STATE", text(&folder.state())),
            ("REMORA_ARGS", text(&folder.args())),
            ("REMORA_JOB_ID", control.job().to_string()),
            ("REMORA_ATTEMPT", control.token().to_string()),
            ("REMORA_WORKER_PID", std::process::id().to_string()),
            ("REMORA_ATTEMPT_DIR", text(&folder.root)),
        ]
        .map(|(name, value)| (name.to_owned(), value)),
    );
    let argv = command.map(|command| command.argv.clone()).unwrap_or_default();
    Ok(Start { argv, cwd, env: variables, deadline: *run.deadline.borrow() })
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), StageError> {
    fs::write(path, bytes).map_err(|error| StageError::local(format!("write {}", path.display()), error))
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
