//! `remora why JOB`: what it waits for, why its attempts ended, what comes next.

use api::v1::Why;
use protocol::JobId;

use super::follow::clean;
use crate::access::{Site, problem};
use crate::failure::{Failure, code};
use crate::parse::show_moment;
use crate::printer::Printer;

pub(crate) async fn run(site: &Site, job: JobId, printer: &Printer) -> Result<u8, Failure> {
    let why = site.api().await?.why(job).await.map_err(problem)?;
    if printer.is_json() {
        printer.json(&why)?;
    } else {
        tell(&why, printer);
    }
    Ok(code::OK)
}

fn tell(why: &Why, printer: &Printer) {
    printer.line(&clean(&why.summary));
    for because in &why.because {
        let until = because.until.map(|until| format!(" (until {})", show_moment(until.0)));
        printer.line(&format!("  {}{}", clean(&because.text), until.unwrap_or_default()));
        for holder in &because.holders {
            let job = holder.job.map(|job| job.to_string()).unwrap_or_default();
            let attempt = holder.attempt.map(|attempt| format!(" attempt {attempt}")).unwrap_or_default();
            let worker =
                holder.worker_name.clone().or_else(|| holder.worker.map(|worker| worker.to_string()));
            let worker = worker.map(|worker| format!(" on {}", clean(&worker))).unwrap_or_default();
            printer.line(&format!("    {}{attempt}{worker}", job));
        }
    }
    if !why.attempts.is_empty() {
        printer.line("");
        for attempt in &why.attempts {
            printer.line(&format!("attempt {}: {}", attempt.attempt, clean(&attempt.text)));
        }
    }
    if !why.next.is_empty() {
        printer.line("");
        for next in &why.next {
            let at = next.at.map(|at| format!(" ({})", show_moment(at.0))).unwrap_or_default();
            printer.line(&format!("next: {}{at}", clean(&next.text)));
        }
    }
    for away in &why.away {
        printer.remark(&format!("no answer: {}", clean(away)));
    }
}
