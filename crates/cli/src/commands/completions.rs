//! `remora completions SHELL`.

use clap::CommandFactory;

use crate::args::{Arguments, CompletionsArgs};
use crate::failure::{Failure, code};
use crate::printer::Printer;

pub(crate) fn run(args: &CompletionsArgs, printer: &Printer) -> Result<u8, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Arguments::command(), "remora", &mut script);
    // Whoever closed the pipe has seen enough.
    let _ = printer.bytes(&script);
    Ok(code::OK)
}
