//! A worker tells how it is, numbers are told, and a drain from afar ends a worker.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

const REMORA: &str = env!("CARGO_BIN_EXE_remora");
const LONG: Duration = Duration::from_secs(40);

/// A process that ends with its test.
struct Ours(Child);

impl Ours {
    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.0), signal).unwrap();
    }
}

impl Drop for Ours {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// An owner without workers, and where its API is.
fn dev(dir: &Path) -> (Ours, String) {
    let mut child = Command::new(REMORA)
        .arg("--dir")
        .arg(dir)
        .args(["dev", "--workers", "0", "--lease", "2s", "--no-events", "--listen", "127.0.0.1:0"])
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let said = lines.find(|line| line.contains("the API is at")).expect("the API is served");
    let address = said.split_whitespace().last().unwrap().strip_prefix("http://").unwrap().to_owned();
    // What it still says goes nowhere, but is taken.
    std::thread::spawn(move || lines.for_each(drop));
    (Ours(child), address)
}

fn worker(dir: &Path, health: &str) -> Ours {
    let child = Command::new(REMORA)
        .arg("--dir")
        .arg(dir)
        .args(["worker", "--name", "anna", "--no-events", "--health", health])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    Ours(child)
}

/// Status and body.
fn ask(address: &str, method: &str, path: &str) -> Option<(u16, String)> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let status = answer.split_whitespace().nth(1)?.parse().ok()?;
    Some((status, answer.split_once("\r\n\r\n")?.1.to_owned()))
}

/// What the worker cannot do; `None` where it does not answer yet.
fn cannot(address: &str) -> Option<Vec<String>> {
    let (status, body) = ask(address, "GET", "/readyz")?;
    let told: Value = serde_json::from_str(&body).unwrap();
    let checks = told["checks"].as_array().unwrap();
    assert_eq!(checks.len(), 5, "{told}");
    let bad = checks.iter().filter(|check| check["ok"] == false);
    let bad: Vec<_> = bad.map(|check| check["name"].as_str().unwrap().to_owned()).collect();
    assert_eq!((status == 200, told["ready"] == true), (bad.is_empty(), bad.is_empty()), "{status} {told}");
    Some(bad)
}

fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < LONG, "{what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn free_address() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

#[test]
fn a_worker_is_ready_while_it_can_claim_renew_and_publish_and_says_what_it_cannot() {
    let folder = tempfile::tempdir().unwrap();
    let (owner, api) = dev(folder.path());
    let address = free_address();
    let _worker = worker(folder.path(), &address);
    until("it gets ready", || cannot(&address).is_some_and(|bad| bad.is_empty()));
    assert_eq!(ask(&address, "GET", "/healthz").unwrap(), (200, "ok\n".to_owned()));
    assert_eq!(ask(&address, "POST", "/readyz").unwrap().0, 405);
    assert_eq!(ask(&address, "GET", "/elsewhere").unwrap().0, 404);
    let (status, numbers) = ask(&address, "GET", "/metrics").unwrap();
    assert_eq!(status, 200);
    let claims = r#"remora_room_request_duration_seconds_count{room="coordination",action="register"}"#;
    assert!(numbers.contains(claims) && numbers.ends_with("# EOF\n"), "{numbers}");
    let (status, numbers) = ask(&api, "GET", "/metrics").unwrap();
    assert_eq!(status, 200);
    assert!(numbers.contains("remora_workers 1\n") && numbers.contains("remora_room_up"), "{numbers}");
    assert!(!numbers.contains("anna") && !numbers.contains("wrk_"), "{numbers}");
    owner.signal(Signal::STOP);
    until("a silent owner is told", || {
        cannot(&address).is_some_and(|bad| bad == ["claim", "renew", "registered"])
    });
    owner.signal(Signal::CONT);
    until("it gets ready again", || cannot(&address).is_some_and(|bad| bad.is_empty()));
    let target = folder.path().join("target");
    std::fs::rename(&target, folder.path().join("aside")).unwrap();
    std::fs::write(&target, "no folder").unwrap();
    assert_eq!(cannot(&address).unwrap(), ["publish"]);
}

#[test]
fn a_worker_that_is_asked_from_afar_to_drain_is_not_ready_and_ends() {
    let folder = tempfile::tempdir().unwrap();
    let (_owner, api) = dev(folder.path());
    let address = free_address();
    let mut worker = worker(folder.path(), &address);
    until("it gets ready", || cannot(&address).is_some_and(|bad| bad.is_empty()));
    let program = ["submit", "--", "sh", "-c", "trap '' TERM; sleep 2; echo done > $REMORA_OUTPUT/done"];
    let submitted = Command::new(REMORA).arg("--dir").arg(folder.path()).args(program).output().unwrap();
    assert!(submitted.status.success(), "{submitted:?}");
    until("the job runs", || {
        ask(&api, "GET", "/v1/overview").is_some_and(|(_, body)| body.contains(r#""running":1"#))
    });
    let known: Value = serde_json::from_str(&ask(&api, "GET", "/v1/workers").unwrap().1).unwrap();
    let incarnation = known[0]["incarnation"].as_str().unwrap();
    let (status, body) = ask(&api, "POST", &format!("/v1/workers/{incarnation}/drain")).unwrap();
    assert!((200..300).contains(&status), "{status} {body}");
    until("it is not ready", || cannot(&address).is_some_and(|bad| bad == ["accepting"]));
    let begun = Instant::now();
    let ended = loop {
        if let Some(ended) = worker.0.try_wait().unwrap() {
            break ended;
        }
        assert!(begun.elapsed() < LONG, "it ends when what it runs has ended");
        std::thread::sleep(Duration::from_millis(50));
    };
    assert!(ended.success(), "{ended}");
    let (_, overview) = ask(&api, "GET", "/v1/overview").unwrap();
    assert!(overview.contains(r#""succeeded":1"#), "{overview}");
}

#[test]
fn health_is_told_on_loopback_only() {
    let folder = tempfile::tempdir().unwrap();
    let (_owner, _) = dev(folder.path());
    let words = ["worker", "--health", "0.0.0.0:0"];
    let refused = Command::new(REMORA).arg("--dir").arg(folder.path()).args(words).output().unwrap();
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success() && said.contains("only addresses of loopback"), "{said}");
}
