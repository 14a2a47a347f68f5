//! Programs as they are: late, talkative, ended by signals, missing, not executable.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use chaos::{Dev, DevOptions, count, count_result, of_folder, resident_bytes, shell, within};
use durable::{JobView, ProgramExit};
use protocol::{Command, FailureCause, JobSpec, Phase, Verdict};

const LONG: Duration = Duration::from_secs(50);

fn dev(slots: u32) -> Dev {
    Dev::start(env!("CARGO_BIN_EXE_remora"), DevOptions { workers: 1, slots, ..DevOptions::default() })
        .unwrap()
}

fn once(spec: JobSpec) -> JobSpec {
    JobSpec { max_attempts: 1, ..spec }
}

fn program(argv: &[&str]) -> JobSpec {
    let argv = argv.iter().map(|word| (*word).to_owned()).collect();
    JobSpec { command: Some(Command { argv, cwd: None, env: Vec::new() }), ..JobSpec::default() }
}

async fn end(dev: &Dev, spec: JobSpec) -> JobView {
    let job = dev.submit([spec]).await.unwrap()[0];
    dev.ended(job, LONG).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn only_a_true_exit_0_succeeds_and_a_signal_is_told_apart_from_its_number() {
    let dev = dev(4);
    for code in [1, 2, 126, 127, 128, 137, 143, 255] {
        let view = end(&dev, once(shell(&format!("exit {code}")))).await;
        assert_eq!(view.summary.phase, Phase::Failed, "{view:?}");
        assert_eq!(view.attempts[0].exit, Some(ProgramExit::Code(code)), "{view:?}");
    }
    for (name, number) in [("KILL", 9), ("TERM", 15), ("SEGV", 11)] {
        let view = end(&dev, once(shell(&format!("kill -{name} $$")))).await;
        assert_eq!(view.summary.phase, Phase::Failed, "{view:?}");
        assert_eq!(view.attempts[0].exit, Some(ProgramExit::Signal(number)), "{view:?}");
    }
    for (text, phase) in
        [("false | true", Phase::Succeeded), (":", Phase::Succeeded), ("true | false", Phase::Failed)]
    {
        assert_eq!(end(&dev, once(shell(text))).await.summary.phase, phase, "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_can_never_start_fails_for_good_at_its_first_attempt() {
    let dev = dev(2);
    let plain = dev.place().join("plain");
    fs::write(&plain, "#!/bin/sh\nexit 0\n").unwrap();
    fs::set_permissions(&plain, fs::Permissions::from_mode(0o644)).unwrap();
    let broken = dev.place().join("broken");
    fs::write(&broken, "#!/no/such/interpreter\n").unwrap();
    fs::set_permissions(&broken, fs::Permissions::from_mode(0o755)).unwrap();
    let folder = dev.place().display().to_string();
    let cases = [
        ("no-such-program-at-all", "there is no program `no-such-program-at-all` on the PATH"),
        ("/no/such/program", "there is no program `/no/such/program`"),
        (plain.to_str().unwrap(), "may not be executed"),
        (broken.to_str().unwrap(), "what runs it"),
        (folder.as_str(), "may not be executed"),
    ];
    for (name, text) in cases {
        let view = end(&dev, program(&[name])).await;
        assert_eq!(view.summary.phase, Phase::Failed, "{view:?}");
        assert_eq!(view.attempts.len(), 1, "{view:?}");
        assert_eq!(view.attempts[0].verdict, Some(Verdict::Failed(FailureCause::Permanent)), "{view:?}");
        assert!(view.attempts[0].error.as_deref().unwrap().contains(text), "{view:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_timeout_ends_each_attempt_with_all_its_processes() {
    let dev = dev(2);
    for (text, longest) in [
        ("setsid sleep 600 & sleep 600", Duration::from_secs(4)),
        ("trap '' TERM; setsid sleep 600 & while :; do sleep 600; done", Duration::from_secs(14)),
    ] {
        let began = Instant::now();
        let view = end(&dev, once(JobSpec { timeout_ms: Some(1_000), ..shell(text) })).await;
        let took = began.elapsed();
        assert_eq!(view.attempts[0].verdict, Some(Verdict::Failed(FailureCause::TimedOut)), "{view:?}");
        assert!(took > Duration::from_secs(1) && took < longest, "{text}: {took:?}");
        assert!(of_folder(dev.data().root()).is_empty(), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_talkative_program_runs_at_speed_in_bounded_memory_beside_a_neighbour() {
    let dev = dev(3);
    let pid = dev.worker_of(dev.submit([shell("sleep 0.5")]).await.unwrap()[0]).await.unwrap().pid;
    let before = resident_bytes(pid);
    let talkers =
        ["head -c 200000000 /dev/zero", "head -c 200000000 /dev/urandom >&2"].map(|text| once(shell(text)));
    let jobs =
        dev.submit(talkers.into_iter().chain([count(20, Duration::from_millis(50), None)])).await.unwrap();
    let mut most = before;
    let phase = async |job| dev.job(job).await.unwrap().summary.phase;
    let began = Instant::now();
    for job in &jobs {
        while !phase(*job).await.is_terminal() {
            most = most.max(resident_bytes(pid));
            assert!(began.elapsed() < LONG, "{:?}", dev.job(*job).await);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let view = dev.job(*job).await.unwrap();
        assert_eq!((view.summary.phase, view.attempts.len()), (Phase::Succeeded, 1), "{view:?}");
    }
    assert!(most - before < 24 << 20, "{before} to {most} bytes");
    let neighbour = dev.job(jobs[2]).await.unwrap();
    assert_eq!(dev.published(&neighbour, "lines").unwrap(), count_result(20));
    let logs: u64 = walk(&dev.data().target().join(jobs[0].to_string()).join("logs"));
    assert!(logs <= protocol::limit::LOG_BYTES, "{logs}");
    let said = dev.command(&["logs", &jobs[0].to_string()]).unwrap();
    assert!(
        said.out.contains("bytes of this log were cut") || said.err.contains("bytes of this log were cut")
    );
}

fn walk(folder: &std::path::Path) -> u64 {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len()).sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_ends_while_a_grandchild_holds_its_output_open_ends_at_once() {
    let dev = dev(1);
    let tag = std::process::id();
    let began = Instant::now();
    let view = end(&dev, once(shell(&format!("(setsid sleep 7400.{tag} &); exit 0")))).await;
    assert_eq!(view.summary.phase, Phase::Succeeded, "{view:?}");
    assert!(began.elapsed() < Duration::from_secs(5));
    within("the grandchild is gone", Duration::from_secs(1), || {
        chaos::with_text(&format!("7400.{tag}")).is_empty()
    })
    .await
    .unwrap();
}

/// A cgroup of 64 MB, where the system lets one be made.
struct SmallMemory(std::path::PathBuf);

impl SmallMemory {
    fn make() -> Option<Self> {
        let name = format!("remora-test-{}", std::process::id());
        let limits = [("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")];
        limits.into_iter().find_map(|(root, limit)| {
            let made = Self(std::path::Path::new(root).join(&name));
            fs::create_dir(&made.0).ok()?;
            fs::write(made.0.join(limit), "64000000").ok()?;
            Some(made)
        })
    }
}

impl Drop for SmallMemory {
    fn drop(&mut self) {
        // It is empty: what was in it has been killed.
        let _ = fs::remove_dir(&self.0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_killed_for_its_memory_has_failed_by_signal_9_and_one_that_is_refused_memory_by_its_code() {
    let dev = dev(2);
    let greedy = "exec dd if=/dev/zero of=/dev/null bs=400000000 count=1";
    let refused = end(&dev, once(shell(&format!("ulimit -v 100000; {greedy}")))).await;
    assert_eq!(refused.summary.phase, Phase::Failed, "{refused:?}");
    assert_eq!(refused.attempts[0].exit, Some(ProgramExit::Code(1)), "{refused:?}");
    let Some(group) = SmallMemory::make() else {
        println!("no cgroup may be made here: only a limit of addresses was tried");
        return;
    };
    let inside = format!("echo $$ > {}/cgroup.procs && {greedy}", group.0.display());
    let killed = end(&dev, once(shell(&inside))).await;
    assert_eq!(killed.summary.phase, Phase::Failed, "{killed:?}");
    assert_eq!(killed.attempts[0].exit, Some(ProgramExit::Signal(9)), "{killed:?}");
    assert!(killed.result.is_none());
    // A child that was killed so is the program's business: it alone knows what that means.
    let child =
        format!("sh -c 'echo $$ > {}/cgroup.procs && {greedy}'; [ $? -eq 137 ] && exit 3", group.0.display());
    let told = end(&dev, once(shell(&child))).await;
    assert_eq!(told.attempts[0].exit, Some(ProgramExit::Code(3)), "{told:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn each_field_that_a_program_sends_is_taken_at_its_limit_and_refused_beyond_it_in_one_run() {
    let dev = dev(1);
    let message = |bytes: u64| format!("\"$(head -c {bytes} /dev/zero | tr '\\0' m)\"");
    let limit = protocol::limit::PROGRESS_MESSAGE_BYTES;
    let state = protocol::limit::STATE_BYTES;
    let text = format!(
        "set -e
         remora attempt progress 1/9 {below}
         remora attempt progress 1/9 {at}
         if remora attempt progress 2/9 {over} 2>> said; then exit 21; fi
         truncate -s {beyond} \"$REMORA_STATE/big\"
         if remora attempt checkpoint 2>> said; then exit 22; fi
         rm \"$REMORA_STATE/big\"; echo right > \"$REMORA_STATE/small\"
         remora attempt checkpoint --progress 3/9
         cat said >&2; cp said \"$REMORA_OUTPUT/said\"
         head -c 200000 /dev/zero | tr '\\0' e >&2; exit 23",
        below = message(limit - 1),
        at = message(limit),
        over = message(limit + 1),
        beyond = state + 1,
    );
    let scratch = JobSpec { max_attempts: 1, ..shell(&format!("cd \"$(mktemp -d)\"; {text}")) };
    let view = end(&dev, scratch).await;
    assert_eq!((view.summary.phase, view.attempts.len()), (Phase::Failed, 1), "{view:?}");
    assert_eq!(view.attempts[0].exit, Some(ProgramExit::Code(23)), "{view:?}");
    let error = view.attempts[0].error.as_deref().unwrap_or_default();
    assert!(error.len() <= protocol::limit::ERROR_BYTES, "{}", error.len());
    let log = dev.command(&["logs", &view.summary.job.to_string()]).unwrap();
    let said: String = log.out.chars().take(4_000).collect();
    assert!(said.contains("1025 bytes") && said.contains("1024"), "the message, its size, its limit: {said}");
    assert!(said.contains("67108864"), "the state's limit: {said}");
}
