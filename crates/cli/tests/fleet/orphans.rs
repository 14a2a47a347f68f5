//! Whoever starts an installation and is killed leaves none of its processes behind.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, Stdio};
use std::time::Duration;

use chaos::fleet::{Fleet, FleetOptions};
use chaos::{count, eventually, exists, send, tree};
use rustix::process::Signal;

const LIMIT: Duration = Duration::from_secs(60);
/// Set where this program is started for being killed.
const VICTIM: &str = "REMORA_TEST_VICTIM";
const READY: &str = "everything runs";

/// Not a test of its own: what the test below starts.
#[tokio::test(flavor = "multi_thread")]
async fn victim() {
    if std::env::var_os(VICTIM).is_none() {
        return;
    }
    let options = FleetOptions { servers: 1, workers: 1, slots: 1, lease: Duration::from_secs(3) };
    let fleet = Fleet::start(env!("CARGO_BIN_EXE_remora"), options).await.unwrap();
    fleet.submit([count(1_000, Duration::from_millis(100), None)]).await.unwrap();
    eventually("the job's program runs", LIMIT, || async {
        let workers = fleet.client().workers().await?;
        Ok(workers.iter().any(|worker| !worker.attempts.is_empty()).then_some(()))
    })
    .await
    .unwrap();
    println!("{READY}");
    // Standard input ends with whoever waits for the line.
    let _ = std::io::stdin().read(&mut [0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_tool_leaves_no_process_of_its_installation() {
    for signal in [Signal::TERM, Signal::INT, Signal::KILL] {
        let mut victim = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "orphans::victim", "--nocapture"])
            .env(VICTIM, "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let said = BufReader::new(victim.stdout.take().unwrap());
        let is_ready = said.lines().map_while(Result::ok).any(|line| line.contains(READY));
        assert!(is_ready, "the installation did not start");
        let left = tree(victim.id());
        assert!(left.len() >= 5, "two servers of stores, a server, a worker, a program: {left:?}");
        send(victim.id(), signal);
        victim.wait().unwrap();
        let gone = eventually("all of its processes end", LIMIT, || async {
            Ok((!left.iter().any(|pid| exists(*pid))).then_some(()))
        });
        gone.await.unwrap();
    }
}
