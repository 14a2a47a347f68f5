//! `remora completions SHELL`.

use clap::CommandFactory;

use crate::args::{Arguments, CompletionsArgs};
use crate::failure::{Failure, code};

pub(crate) fn run(args: &CompletionsArgs) -> Result<u8, Failure> {
    clap_complete::generate(args.shell, &mut Arguments::command(), "remora", &mut std::io::stdout());
    Ok(code::OK)
}
