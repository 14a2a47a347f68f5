//! What only a folder can show: names that are no text, links between files, a disk that is full.
#![expect(clippy::unwrap_used, reason = "these are tests")]

mod folder;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use folder::Folder;
use protocol::{AttemptId, JobId, Token};
use remora_target::conformance::Fixture;
use remora_target::file::FileTarget;
use remora_target::{Entry, Manifest, Node, Part, StageId, Target};

fn stage(token: u32) -> StageId {
    StageId { job: JobId(1), token: Token(token), attempt: AttemptId(u128::from(token)) }
}

fn output(name: &str, parts: &[&Part]) -> Manifest {
    let parts = parts.iter().copied().cloned().collect();
    Manifest { entries: vec![Entry { path: name.to_owned(), node: Node::File { parts, executable: false } }] }
}

#[tokio::test]
async fn names_that_are_no_text_are_swept_and_never_kept_by_mistake() {
    let folder = Folder::new();
    let target = folder.target();
    target.seal_bytes(&stage(1), 1, b"x".to_vec()).await.unwrap();
    let path = folder.root().join(stage(1).prefix());
    let odd = path.join(OsStr::from_bytes(b"\xff\xfe"));
    fs::create_dir(&odd).unwrap();
    fs::write(odd.join("x"), b"x").unwrap();
    fs::write(path.join(OsStr::from_bytes(b"p\xff")), b"x").unwrap();
    let keep = ["/x".to_owned(), "x".to_owned()].into();
    let sweep = target.sweep(&stage(1), &keep).await.unwrap();
    assert_eq!((sweep.deleted, sweep.kept), (3, 0));
    assert!(!folder.root().join(stage(1).job.to_string()).exists());
}

#[tokio::test]
async fn the_jobs_folder_goes_with_the_last_that_is_in_it() {
    let folder = Folder::new();
    let target = folder.target();
    let job = folder.root().join(stage(1).job.to_string());
    for token in [1, 2] {
        target.seal_bytes(&stage(token), 1, b"x".to_vec()).await.unwrap();
    }
    target.sweep(&stage(1), &[].into()).await.unwrap();
    assert!(job.is_dir() && !folder.root().join(stage(1).prefix()).exists());
    target.sweep(&stage(2), &[].into()).await.unwrap();
    assert!(!job.exists() && folder.root().is_dir());
}

#[tokio::test]
async fn a_result_shares_its_parts_bytes_until_a_number_is_used_again() {
    let folder = Folder::new();
    let target = folder.target();
    let sealed = target.seal_bytes(&stage(1), 1, b"sealed".to_vec()).await.unwrap();
    target.lay_out(&stage(1), &output("x", &[&sealed])).await.unwrap();
    let result = target.local_result(&stage(1)).unwrap().join("x");
    let part = folder.root().join(&sealed.key);
    assert_eq!(fs::metadata(&result).unwrap().ino(), fs::metadata(&part).unwrap().ino(), "no second copy");
    assert_eq!(fs::metadata(&part).unwrap().permissions().mode() & 0o777, 0o644);
    target.seal_bytes(&stage(1), 1, b"others".to_vec()).await.unwrap();
    assert_eq!((fs::read(&result).unwrap(), fs::read(&part).unwrap()), (b"sealed".into(), b"others".into()));
}

#[tokio::test]
async fn strangers_in_the_folder_are_no_stages() {
    let folder = Folder::new();
    let target = folder.target();
    let job = folder.root().join(stage(1).job.to_string());
    fs::create_dir_all(job.join("1-att_short")).unwrap();
    fs::create_dir_all(job.join("x")).unwrap();
    fs::create_dir_all(folder.root().join("lost+found").join(stage(1).name())).unwrap();
    fs::write(folder.root().join(JobId(2).to_string()), b"a file").unwrap();
    fs::create_dir_all(job.join(stage(3).name())).unwrap();
    folder.make_older(&stage(3), std::time::Duration::from_secs(60));
    let old = target.old_stages(std::time::Duration::from_secs(30)).await.unwrap();
    assert_eq!(old, [stage(3)]);
}

#[tokio::test]
async fn stages_of_a_job_are_written_while_its_other_stages_are_swept() {
    let folder = Arc::new(Folder::new());
    let sweeping = tokio::spawn({
        let target = folder.target();
        async move {
            for _ in 0..400 {
                target.sweep(&stage(1), &[].into()).await.unwrap();
            }
        }
    });
    let target = folder.target();
    for _ in 0..200 {
        target.seal_bytes(&stage(2), 1, b"x".to_vec()).await.unwrap();
        target.sweep(&stage(2), &[].into()).await.unwrap();
    }
    sweeping.await.unwrap();
}

/// Where the full disk is, in the process that runs on it.
const DISK: &str = "REMORA_TEST_DISK";

/// Runs the test of this name once more, with a small disk of its own.
fn on_a_small_disk(name: &str, bytes: &str) {
    let disk = tempfile::tempdir().unwrap();
    let script =
        format!("mount -t tmpfs -o size={bytes} tmpfs \"$REMORA_TEST_DISK\" && exec \"$0\" --exact {name}");
    let ran = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", &script])
        .arg(std::env::current_exe().unwrap())
        .env(DISK, disk.path())
        .output()
        .expect("unshare of util-linux starts");
    let said = format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success() && said.contains("1 passed"), "{said}");
}

#[test]
fn a_full_disk_is_out_of_space_and_takes_no_sealed_part_along() {
    match std::env::var_os(DISK) {
        None => on_a_small_disk("a_full_disk_is_out_of_space_and_takes_no_sealed_part_along", "1m"),
        Some(disk) => run(fills(PathBuf::from(disk))),
    }
}

fn run(work: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work);
}

async fn fills(disk: PathBuf) {
    let local = tempfile::tempdir().unwrap();
    let (root, local) = (disk.join("target"), local.path());
    let target = FileTarget::new(&root);
    let big = local.join("big");
    fs::write(&big, vec![b'x'; 2 << 20]).unwrap();
    let small = target.seal_bytes(&stage(1), 1, vec![b's'; 300_000]).await.unwrap();
    let other = target.seal_bytes(&stage(1), 2, vec![b'o'; 300_000]).await.unwrap();
    let full = target.seal_file(&stage(1), 3, &big, false).await.unwrap_err();
    assert!(full.out_of_space() && !full.bad_data, "{full}");
    let full = target.seal_bytes(&stage(1), 3, vec![0; 2 << 20]).await.unwrap_err();
    assert!(full.out_of_space(), "{full}");
    // What a failed call had written is given back, so that there is space again.
    let third = target.seal_bytes(&stage(1), 3, vec![b't'; 300_000]).await.unwrap();
    let parts = [small, other, third];
    target.verify(&parts, remora_target::Depth::All).await.unwrap();
    lays_out_on_a_full_disk(&target, &parts, &disk).await;
}

/// A link takes no space, a copy of two parts does.
async fn lays_out_on_a_full_disk(target: &FileTarget, parts: &[Part; 3], disk: &Path) {
    target.lay_out(&stage(1), &output("linked", &[&parts[0]])).await.unwrap();
    let full = target.lay_out(&stage(1), &output("copied", &[&parts[0], &parts[1]])).await.unwrap_err();
    assert!(full.out_of_space(), "{full}");
    let full = target.fetch(parts, &disk.join("fetched"), false).await.unwrap_err();
    assert!(full.out_of_space(), "{full}");
    assert!(!disk.join("fetched").exists());
    let mut log = target.open_log(&stage(1)).await.unwrap();
    for _ in 0..100 {
        log.append(&[b'l'; 65_536]);
    }
    target.verify(parts, remora_target::Depth::All).await.unwrap();
    target.sweep(&stage(1), &[].into()).await.unwrap();
    target.seal_bytes(&stage(1), 1, vec![0; 100_000]).await.unwrap();
}
