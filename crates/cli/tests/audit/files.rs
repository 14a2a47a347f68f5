//! What `remora audit` makes of files: whole ones, cut ones, those that are no events, and what it says.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use protocol::{Action, ActorId, Detail, Event, JobId, Outcome, Phase, Room};
use serde_json::Value;

fn cancel(order: u64) -> Event {
    Event {
        room: Room::Durable,
        epoch: 0,
        order,
        action: Action::RequestCancel,
        outcome: Outcome::Taken,
        job: Some(JobId(7)),
        token: None,
        attempt: None,
        actor: ActorId(1),
        sequence: order,
        sent_after: order - 1,
        answered_before: None,
        detail: Detail { phase_after: Some(Phase::Cancelled), max_attempts: Some(3), ..Detail::default() },
        judged: Vec::new(),
    }
}

fn lines(events: &[Event]) -> String {
    events.iter().map(|event| format!("{}\n", serde_json::to_string(event).unwrap())).collect()
}

fn audit(folder: &Path, words: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_remora"));
    let Output { status, stdout, stderr } = command.arg("audit").arg(folder).args(words).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (status.code().unwrap(), text(stdout), text(stderr))
}

fn folder(file: &str, text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("events")).unwrap();
    fs::write(folder.path().join("events").join(file), text).unwrap();
    folder
}

#[test]
fn an_explained_trace_gets_one_line_and_code_0() {
    let folder = folder("owner-000000.jsonl", &lines(&[cancel(2)]));
    for place in [folder.path().to_owned(), folder.path().join("events")] {
        let (code, out, err) = audit(&place, &[]);
        assert_eq!((code, err.as_str()), (0, ""));
        assert_eq!(out, "1 event, 1 job, 0 attempts, 0 losses: every step is one of the spec's\n");
    }
}

#[test]
fn what_no_order_explains_is_shown_up_to_its_first_event_that_fits_nowhere() {
    let folder = folder("owner-000000.jsonl", &lines(&[cancel(2), cancel(3), cancel(4)]));
    let (code, out, err) = audit(folder.path(), &[]);
    assert_eq!(code, 1);
    assert!(out.contains("✗  r3 RequestCancel") && !out.contains("r4"), "{out}");
    assert!(out.ends_with("RequestCancel fits nowhere: RequestCancel needs `cancellable`\n"), "{out}");
    assert!(err.contains("1 not explained"), "{err}");
    let (code, out, _) = audit(folder.path(), &["--output", "json"]);
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &report["explained"]), (1, &Value::Bool(false)));
    assert_eq!(report["failures"][0]["action"], "request_cancel");
    assert_eq!(report["failures"][0]["prefix"].as_array().unwrap().len(), 2);
}

#[test]
fn the_first_line_names_the_version_and_another_one_is_refused() {
    let text = lines(&[cancel(2)]);
    let known = folder("owner-000000.jsonl", &format!("{{\"remora_events\":1}}\n{text}"));
    let (code, out, _) = audit(known.path(), &[]);
    assert_eq!((code, out.starts_with("1 event, ")), (0, true), "{out}");
    let newer = folder("owner-000000.jsonl", &format!("{{\"remora_events\":2}}\n{text}"));
    let (code, out, err) = audit(newer.path(), &[]);
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(
        err.contains("owner-000000.jsonl holds events of version 2; this remora reads version 1"),
        "{err}"
    );
    let late = folder("owner-000000.jsonl", &format!("{text}{{\"remora_events\":1}}\n"));
    assert_eq!(audit(late.path(), &[]).0, 1, "it is no event");
}

#[test]
fn a_last_line_that_was_cut_is_a_gap_and_another_broken_line_an_error() {
    let whole = lines(&[cancel(2)]);
    let cut = folder("owner-000000.jsonl", &format!("{whole}{}", &whole[..40]));
    let (code, out, err) = audit(cut.path(), &[]);
    assert_eq!((code, err.as_str()), (0, "last lines cut off with their writers: 1\n"), "{out}");
    let broken = folder("owner-000000.jsonl", &format!("{}\n{whole}", &whole[..40]));
    let (code, _, err) = audit(broken.path(), &[]);
    assert_eq!(code, 1);
    assert!(err.contains("line 1 of") && err.contains("is no event"), "{err}");
}

#[test]
fn a_job_that_began_before_the_oldest_file_is_counted_and_not_judged() {
    let folder = folder("owner-000003.jsonl", &lines(&[cancel(9)]));
    let (code, out, err) = audit(folder.path(), &[]);
    assert_eq!(code, 0);
    assert!(out.contains("0 jobs") && out.contains("every step judged is one of the spec's"), "{out}");
    assert!(err.contains("jobs not judged, begun before the trace: 1"), "{err}");
}

#[test]
fn one_job_alone_can_be_audited_and_no_events_are_said_to_be_none() {
    let folder = folder("owner-000000.jsonl", &lines(&[cancel(2), cancel(3)]));
    let (code, out, _) = audit(folder.path(), &["--job", &JobId(7).to_string()]);
    assert!(code == 1 && out.contains("RequestCancel"), "{out}");
    let (code, _, err) = audit(folder.path(), &["--job", &JobId(8).to_string()]);
    assert_eq!(code, 2);
    assert!(err.contains("there are no events of job_"), "{err}");
}
