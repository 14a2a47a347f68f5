//! A real installation of one desk tells its jobs' traces to a collector, and loses nothing when there is none.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use testbed::collector::{Collector, Span, hex, texts};

const REMORA: &str = env!("CARGO_BIN_EXE_remora");
const LONG: Duration = Duration::from_secs(60);

/// A process that ends with its test.
struct Ours(Child);

impl Drop for Ours {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// An owner of two workers that tells its traces there, and what it says.
fn dev(dir: &Path, collector: &str, words: &[&str]) -> Ours {
    let log = std::fs::File::create(dir.join("log")).unwrap();
    let mut command = Command::new(REMORA);
    command.arg("--dir").arg(dir.join("data")).args(["dev", "--lease", "2s", "--listen", "127.0.0.1:0"]);
    command.args(words).env("OTEL_EXPORTER_OTLP_ENDPOINT", collector).env("NO_PROXY", "*");
    let owner = Ours(command.stderr(log).stdout(Stdio::null()).spawn().unwrap());
    // Before that a submission would take the folder's lock itself.
    until("the owner owns", || {
        std::fs::read_to_string(dir.join("log")).unwrap().contains("the API is at").then_some(())
    });
    owner
}

fn until<T>(what: &str, mut holds: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(held) = holds() {
            return held;
        }
        assert!(begun.elapsed() < LONG, "{what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Runs a verb on the folder; its JSON.
fn ask(dir: &Path, words: &[&str]) -> Option<Value> {
    let mut command = Command::new(REMORA);
    command.arg("--dir").arg(dir.join("data")).args(["--output", "json"]).args(words);
    let output = command.output().unwrap();
    output.status.success().then(|| serde_json::from_slice(&output.stdout).unwrap())
}

fn submit(dir: &Path, script: &str) -> String {
    let words = ["submit", "--queue", "films", "--retry-base", "0s", "--", "sh", "-c", script];
    let told = until("the owner takes a job", || ask(dir, &words));
    told["job"].as_str().unwrap().to_owned()
}

fn succeeded(dir: &Path, job: &str) {
    until("the job succeeds", || {
        let view = ask(dir, &["show", job])?;
        (view["phase"] == "succeeded").then_some(())
    });
}

/// Tells the owner to end; how long that took.
fn end(mut owner: Ours) -> Duration {
    let begun = Instant::now();
    kill_process(Pid::from_child(&owner.0), Signal::TERM).unwrap();
    until("the owner ends", || owner.0.try_wait().unwrap());
    begun.elapsed()
}

/// The spans of a job by the name's first word, each with who told it.
fn of(collector: &Collector, job: &str) -> BTreeMap<String, Vec<(String, Span)>> {
    let trace = format!("{:032x}", job.parse::<remora::JobId>().unwrap().0);
    let mut spans: BTreeMap<String, Vec<(String, Span)>> = BTreeMap::new();
    for (service, span) in collector.spans() {
        if hex(&span.trace_id) == trace {
            let stem = span.name.split(' ').next().unwrap().to_owned();
            spans.entry(stem).or_default().push((service, span));
        }
    }
    spans.values_mut().for_each(|spans| spans.sort_by_key(|(_, span)| span.start_time_unix_nano));
    spans
}

fn value(span: &Span, name: &str) -> String {
    texts(&span.attributes).remove(name).unwrap_or_default()
}

#[test]
fn a_job_is_one_trace_through_all_processes_a_killed_and_a_frozen_worker_included() {
    let collector = Collector::start().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    let owner = dev(dir, &collector.url(), &[]);
    let plain = submit(dir, "echo $TRACEPARENT > $REMORA_OUTPUT/parent && remora attempt checkpoint");
    succeeded(dir, &plain);
    // What a killed process had not sent yet goes with it.
    until("the plain job's worker has told of it", || of(&collector, &plain).remove("process"));
    let first = "[ $REMORA_ATTEMPT != 1 ]";
    let killed = submit(dir, &format!("{first} || {{ kill -9 $REMORA_WORKER_PID; sleep 60; }}"));
    succeeded(dir, &killed);
    let pid = dir.join("pid");
    let note = format!("echo $REMORA_WORKER_PID > {}", pid.display());
    let frozen = submit(dir, &format!("{first} || {{ {note}; kill -STOP $REMORA_WORKER_PID; sleep 60; }}"));
    succeeded(dir, &frozen);
    let thawed = std::fs::read_to_string(&pid).unwrap().trim().parse().unwrap();
    kill_process(Pid::from_raw(thawed).unwrap(), Signal::CONT).unwrap();
    until("the thawed worker tells of what it went on with", || of(&collector, &frozen).remove("fenced"));
    end(owner);

    let spans = of(&collector, &plain);
    let ((sender, send), (teller, process)) = (&spans["send"][0], &spans["process"][0]);
    assert_eq!((sender.as_str(), teller.as_str()), ("remora", "remora-worker"));
    assert_eq!((send.name.as_str(), process.name.as_str()), ("send films", "process films"));
    assert_eq!((send.parent_span_id.len(), &process.parent_span_id), (0, &send.span_id));
    assert_eq!(
        (value(process, "messaging.message.id"), value(process, "remora.job.kind")),
        (plain.clone(), "exec".to_owned())
    );
    assert_eq!(process.events[0].name, "checkpoint");
    let (teller, settle) = &spans["settle"][0];
    assert_eq!((teller.as_str(), &settle.parent_span_id), ("remora", &process.span_id));
    let mut parent = String::new();
    let path = ask(dir, &["result", &plain, "--path"]).unwrap()["path"].as_str().unwrap().to_owned();
    std::fs::File::open(Path::new(&path).join("parent")).unwrap().read_to_string(&mut parent).unwrap();
    assert_eq!(parent.trim(), format!("00-{}-{}-01", hex(&process.trace_id), hex(&process.span_id)));

    let spans = of(&collector, &killed);
    let told: Vec<_> = spans["process"]
        .iter()
        .map(|(teller, span)| (teller.as_str(), value(span, "remora.job.fence"), value(span, "error.type")))
        .collect();
    assert_eq!(told, [("remora", "1".into(), "lost".into()), ("remora-worker", "2".into(), String::new())]);
    let settled: Vec<_> =
        spans["settle"].iter().map(|(_, span)| value(span, "messaging.operation.name")).collect();
    assert_eq!(settled, ["reap_lost_attempt", "accept_success"]);

    let spans = of(&collector, &frozen);
    let (teller, fenced) = &spans["fenced"][0];
    assert_eq!(teller, "remora-worker");
    // It hears of its lease's end or of its verdict's refusal, or asks for none because its trust in the lease has ended.
    assert!(
        ["lease_lost", "authority", "no_verdict"].contains(&value(fenced, "error.type").as_str()),
        "{fenced:?}"
    );
    assert_eq!(fenced.parent_span_id, spans["process"][0].1.span_id);
    assert_eq!(spans["process"].len(), 2);
}

#[test]
fn without_its_collector_everything_runs_and_ends_as_ever_and_says_so_once_in_json() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    let owner = dev(dir, &format!("http://{closed}"), &["--log-format", "json"]);
    for _ in 0..3 {
        succeeded(dir, &submit(dir, "echo done > $REMORA_OUTPUT/done"));
    }
    let dying = submit(dir, "[ $REMORA_ATTEMPT != 1 ] || { kill -9 $REMORA_WORKER_PID; sleep 60; }");
    succeeded(dir, &dying);
    let ended = end(owner);
    assert!(ended < Duration::from_secs(12), "{ended:?}");
    let log = std::fs::read_to_string(dir.join("log")).unwrap();
    let lines: Vec<Value> =
        log.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect();
    for line in &lines {
        let time = line["timestamp"].as_str().unwrap();
        assert!(time.len() == "2026-12-01T00:00:00.000Z".len() && time.ends_with('Z'), "{line}");
        assert!(line["level"].is_string() && line["message"].is_string(), "{line}");
    }
    let silent = lines.iter().filter(|line| line["message"].as_str().unwrap().contains("the collector"));
    // The owner, its two workers, and the one that followed the killed one: each once.
    assert!((1..=4).contains(&silent.count()), "{log}");
    let died = lines.iter().find(|line| line["message"].as_str().unwrap().contains("a worker ended"));
    assert!(died.expect(&log)["worker"].is_string(), "{log}");
    assert!(lines.iter().any(|line| line["message"].as_str().unwrap().contains("the API is at")), "{log}");
}
