//! `remora demo`.

use crate::args::DemoArgs;
use crate::failure::Failure;
use crate::printer::Printer;

pub(crate) fn run(_args: DemoArgs, _printer: &Printer) -> Result<u8, Failure> {
    Err(Failure::usage("being written"))
}
