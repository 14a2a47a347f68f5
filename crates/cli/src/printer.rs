//! The only place that prints. Data to standard output, all else to standard error.

use std::io::{self, IsTerminal, Write};

use clap::ValueEnum;
use comfy_table::{Attribute, Cell, CellAlignment, ContentArrangement, Table, presets};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

use crate::failure::Failure;
use crate::logging::{LogFormat, json_line};

/// The form of data on standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    /// For people.
    Table,
    /// For programs: one JSON value.
    Json,
}

pub(crate) struct Printer {
    output: Output,
    /// Whether standard error is a terminal that may show colours and bars.
    lively: bool,
    /// Whether standard error is read by programs.
    log: LogFormat,
}

impl Printer {
    pub(crate) fn new(output: Output, log: LogFormat) -> Self {
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self { output, lively: log == LogFormat::Text && io::stderr().is_terminal() && !no_color, log }
    }

    pub(crate) fn is_json(&self) -> bool {
        self.output == Output::Json
    }

    /// Data: one line.
    pub(crate) fn line(&self, text: &str) {
        // Whoever closed the pipe has seen enough.
        let _ = writeln!(io::stdout().lock(), "{text}");
    }

    /// Data: bytes as they are.
    pub(crate) fn bytes(&self, bytes: &[u8]) -> io::Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(bytes)?;
        out.flush()
    }

    /// Standard output, for data that is copied through.
    pub(crate) fn writer(&self) -> impl Write {
        io::stdout().lock()
    }

    /// Data: one JSON value.
    pub(crate) fn json(&self, value: &impl Serialize) -> Result<(), Failure> {
        let text = serde_json::to_string(value)?;
        self.line(&text);
        Ok(())
    }

    /// Data: a table. The columns named in `numbers` are aligned to the right.
    pub(crate) fn table(&self, head: &[&str], rows: Vec<Vec<String>>, numbers: &[usize]) {
        let mut table = Table::new();
        table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(head.iter().map(|name| {
            let cell = Cell::new(name.to_uppercase());
            if self.lively { cell.add_attribute(Attribute::Dim) } else { cell }
        }));
        rows.into_iter().for_each(|row| {
            table.add_row(row);
        });
        for index in numbers {
            if let Some(column) = table.column_mut(*index) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        for line in table.lines() {
            self.line(line.trim_end());
        }
    }

    /// A remark to the person: standard error.
    pub(crate) fn remark(&self, text: &str) {
        let _ = match self.log {
            LogFormat::Text => writeln!(io::stderr().lock(), "{text}"),
            LogFormat::Json => writeln!(io::stderr().lock(), "{}", json_line(text)),
        };
    }

    /// Bytes of a job's log: standard error.
    pub(crate) fn log(&self, bytes: &[u8]) {
        let _ = io::stderr().lock().write_all(bytes);
    }

    pub(crate) fn hint(&self, text: &str) {
        self.remark(&format!("{} {text}", self.paint("hint:", "36")));
    }

    pub(crate) fn failure(&self, failure: &Failure) {
        let causes: Vec<String> = failure.error.chain().map(ToString::to_string).collect();
        self.remark(&format!("{} {}", self.paint("error:", "31;1"), causes.join(": ")));
        if let Some(hint) = &failure.hint {
            self.hint(hint);
        }
    }

    /// Text in a colour, on a terminal that wants it.
    pub(crate) fn paint(&self, text: &str, code: &str) -> String {
        if self.lively { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    /// A progress bar on standard error; hidden where that is no terminal.
    pub(crate) fn bar(&self) -> ProgressBar {
        let target =
            if self.lively { ProgressDrawTarget::stderr_with_hz(8) } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(0), target);
        if let Ok(style) = ProgressStyle::with_template("{spinner:.cyan} {prefix} {msg}") {
            bar.set_style(style);
        }
        bar
    }
}
