//! Stored parts that are damaged between two attempts (a flipped byte, a cut, an emptied file, a missing one).
#![expect(clippy::unwrap_used, reason = "these are tests")]

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use chaos::{Dev, DevOptions, count, count_result, eventually, kill};
use protocol::{JobId, Phase};

const LONG: Duration = Duration::from_secs(50);
const STEPS: u32 = 25;

type Damage = (&'static str, fn(&PathBuf));

const DAMAGES: [Damage; 4] = [
    ("a byte is flipped", |path| {
        let mut bytes = fs::read(path).unwrap();
        bytes[0] ^= 1;
        fs::write(path, bytes).unwrap();
    }),
    ("it is cut", |path| {
        let bytes = fs::read(path).unwrap();
        fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
    }),
    ("it is empty", |path| fs::write(path, "").unwrap()),
    ("it is gone", |path| fs::remove_file(path).unwrap()),
];

/// Sealed parts of a job.
fn parts(dev: &Dev, job: JobId) -> Vec<PathBuf> {
    let stages = fs::read_dir(dev.data().target().join(job.to_string())).unwrap();
    stages
        .flatten()
        .flat_map(|stage| fs::read_dir(stage.path().join("p")).into_iter().flatten().flatten())
        .map(|part| part.path())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_checkpoint_is_noticed_and_the_job_goes_on_from_zero() {
    let dev = Dev::start(
        env!("CARGO_BIN_EXE_remora"),
        DevOptions { lease: Duration::from_millis(1_500), workers: 1, ..DevOptions::default() },
    )
    .unwrap();
    for (what, damage) in DAMAGES {
        let job = dev.submit([count(STEPS, Duration::from_millis(100), None)]).await.unwrap()[0];
        eventually("five checkpoints", LONG, || async {
            let done = dev.job(job).await?.summary.progress.map_or(0, |progress| progress.done);
            Ok((done >= 5).then_some(()))
        })
        .await
        .unwrap();
        kill(dev.worker_of(job).await.unwrap().pid);
        let sealed = parts(&dev, job);
        assert!(!sealed.is_empty(), "{what}");
        sealed.iter().for_each(damage);
        let view = dev.ended(job, LONG).await.unwrap();
        assert_eq!(view.summary.phase, Phase::Succeeded, "{what}: {view:?}");
        assert_eq!(dev.published(&view, "lines").unwrap(), count_result(STEPS), "{what}");
        assert!(view.attempts.len() <= 3, "{what}: {view:?}");
        let last = view.attempts.last().unwrap();
        assert_eq!(last.resumed_from, 0, "{what}: {view:?}");
    }
}

/// An output and a state too large to be looked at whole before a claim.
const LARGE: &str = r#"
if [ -e "$REMORA_STATE/made" ]; then
  [ "$(wc -c < "$REMORA_OUTPUT/large")" = 3000000 ] || exit 7
  exit 0
fi
head -c 3000000 /dev/zero > "$REMORA_OUTPUT/large"
head -c 2000000 /dev/zero > "$REMORA_STATE/made"
remora attempt checkpoint --progress 1/2 || exit
[ -e "$MARK" ] && exit 0
touch "$MARK"
sleep 60
"#;

#[tokio::test(flavor = "multi_thread")]
async fn damage_seen_only_when_a_large_part_is_read_costs_at_most_one_attempt() {
    let dev = Dev::start(
        env!("CARGO_BIN_EXE_remora"),
        DevOptions { lease: Duration::from_millis(1_500), workers: 1, ..DevOptions::default() },
    )
    .unwrap();
    let mark = dev.place().join("mark");
    let text = LARGE.replace("$MARK", &mark.display().to_string());
    let job = dev.submit([chaos::shell(&text)]).await.unwrap()[0];
    chaos::within("the checkpoint is made", LONG, || mark.exists()).await.unwrap();
    kill(dev.worker_of(job).await.unwrap().pid);
    let sealed = parts(&dev, job);
    assert!(sealed.len() >= 2, "{sealed:?}");
    for path in sealed {
        let mut bytes = fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(&path, bytes).unwrap();
    }
    let view = dev.ended(job, LONG).await.unwrap();
    assert_eq!(view.summary.phase, Phase::Succeeded, "{view:?}");
    assert!(view.attempts.len() <= 3, "{view:?}");
    assert_eq!(view.attempts.last().unwrap().resumed_from, 0, "{view:?}");
    assert_eq!(fs::read(dev.result_folder(&view).unwrap().join("large")).unwrap(), vec![0; 3_000_000]);
}
