//! What only S3 can show: pieces, joints, attempts that wake up late, a server that is killed, what it costs.
#![expect(clippy::unwrap_used, reason = "these are tests")]

mod bucket;

use std::sync::Arc;
use std::time::Duration;

use bucket::Bucket;
use bucket::wire::{Fault, Rule};
use protocol::Level;
use protocol::{AttemptId, JobId, Token};
use remora_target::conformance::Fixture;
use remora_target::s3::{S3Options, S3Target, doctor};
use remora_target::{Depth, Digest, Entry, Manifest, Node, Part, StageId, Target};
use testbed::s3::{InProcess, S3Server};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

const MIB: usize = 1 << 20;

fn stage(token: u32) -> StageId {
    StageId { job: JobId(1), token: Token(token), attempt: AttemptId(u128::from(token)) }
}

fn started() -> (Bucket, std::path::PathBuf) {
    let server = InProcess::start();
    let folder = server.folder().to_owned();
    (Bucket::new(&server.endpoint(), server), folder)
}

fn bytes(length: usize, seed: u8) -> Vec<u8> {
    (0..length).map(|at| u8::try_from((at / 7 + usize::from(seed)) % 251).unwrap()).collect()
}

fn file(path: &str, parts: &[Part]) -> Entry {
    Entry { path: path.to_owned(), node: Node::File { parts: parts.to_vec(), executable: false } }
}

fn output(parts: &[Part]) -> Manifest {
    Manifest { entries: vec![file("x", parts)] }
}

#[tokio::test]
async fn lengths_around_a_piece_are_sealed_and_read_in_ranges() {
    let (bucket, _) = started();
    let room = bucket.room();
    for length in [8 * MIB - 1, 8 * MIB, 8 * MIB + 1, 16 * MIB, 16 * MIB + 1, 33 * MIB] {
        let whole = bytes(length, 5);
        let path = bucket.local().join("source");
        std::fs::write(&path, &whole).unwrap();
        let from_file = room.seal_file(&stage(1), 1, &path, false).await.unwrap();
        let from_memory = room.seal_bytes(&stage(2), 1, whole.clone()).await.unwrap();
        assert_eq!(from_file.digest, Digest::of(&whole), "{length}");
        assert_eq!((from_memory.length, from_memory.digest), (from_file.length, from_file.digest));
        assert!(room.read(&from_file).await.unwrap() == whole, "{length}");
        room.fetch(&[from_memory, from_file], &path, false).await.unwrap();
        assert!(std::fs::read(&path).unwrap() == [whole.as_slice(), &whole].concat(), "{length}");
    }
}

#[tokio::test]
async fn parts_of_all_sizes_are_joined_the_large_ones_by_the_store() {
    let (bucket, _) = started();
    let room = bucket.room();
    let sizes = [
        vec![1, 9 * MIB],
        vec![6 * MIB, 3 * MIB],
        vec![3 * MIB, 12 * MIB, 1, 7 * MIB, 5 * MIB, 4 * MIB],
        vec![2 * MIB; 12],
        vec![0, 5 * MIB, 0, 5 * MIB, 0],
        vec![100, 200],
    ];
    for (number, sizes) in (1..).zip(sizes) {
        let (mut parts, mut whole) = (Vec::new(), Vec::new());
        for (place, size) in (1..).zip(&sizes) {
            let piece = bytes(*size, place);
            parts.push(room.seal_bytes(&stage(number), place.into(), piece.clone()).await.unwrap());
            whole.extend_from_slice(&piece);
        }
        bucket.wire.asked();
        let laid = room.lay_out(&stage(number), &output(&parts)).await.unwrap();
        let [part] = laid.parts().cloned().collect::<Vec<_>>().try_into().unwrap();
        assert_eq!((part.length, part.digest), (whole.len() as u64, Digest::of(&whole)), "{sizes:?}");
        assert!(room.read(&part).await.unwrap() == whole, "{sizes:?}");
    }
}

#[tokio::test]
async fn a_joint_of_damaged_or_changed_parts_is_bad_data_and_leaves_nothing() {
    let (bucket, folder) = started();
    let room = bucket.room();
    let parts = [
        room.seal_bytes(&stage(1), 1, bytes(9 * MIB, 1)).await.unwrap(),
        room.seal_bytes(&stage(1), 2, bytes(9 * MIB, 2)).await.unwrap(),
    ];
    let mut damaged = bytes(9 * MIB, 2);
    damaged[8 * MIB + 5] ^= 1;
    for there in [Some(damaged.as_slice()), Some(&damaged[..MIB]), None] {
        bucket.change(&parts[1].key, there);
        let fault = room.lay_out(&stage(1), &output(&parts)).await.unwrap_err();
        assert!(fault.bad_data && fault.to_string().contains(&parts[1].key), "{fault}");
        assert_eq!(std::fs::read_dir(folder.join("uploads")).unwrap().count(), 0);
        assert!(bucket.keys(&format!("{}/out", stage(1).prefix())).is_empty());
    }
}

#[tokio::test]
async fn an_old_upload_without_objects_makes_a_stage_that_a_sweep_takes() {
    let (mut bucket, folder) = started();
    bucket.options.retry_for = Duration::from_millis(100);
    let room = bucket.room();
    bucket.wire.add(Rule::always("PUT", "partNumber", Fault::Answer(403, "AccessDenied")));
    bucket.wire.add(Rule::always("DELETE", "uploadId", Fault::Reset));
    room.seal_bytes(&stage(1), 1, bytes(9 * MIB, 1)).await.unwrap_err();
    room.seal_bytes(&stage(2), 1, bytes(1, 1)).await.unwrap();
    bucket.wire.heal();
    let uploads = || std::fs::read_dir(folder.join("uploads")).unwrap().count();
    assert_eq!(uploads(), 1, "as after a kill");
    assert!(room.old_stages(Duration::from_secs(3600)).await.unwrap().is_empty());
    let old = async {
        // The store's clock goes in whole seconds.
        while room.old_stages(Duration::ZERO).await.unwrap() != [stage(1), stage(2)] {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), old).await.expect("both grow old");
    room.sweep(&stage(2), &[].into()).await.unwrap();
    assert_eq!(uploads(), 1, "another attempt's upload is not touched");
    room.sweep(&stage(1), &[].into()).await.unwrap();
    assert_eq!(uploads(), 0);
}

/// A way to the server on which everything can be held up.
async fn gate(to: u16) -> (u16, watch::Sender<bool>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let (open, opened) = watch::channel(true);
    tokio::spawn(async move {
        while let Ok((from, _)) = listener.accept().await {
            let to = TcpStream::connect(("127.0.0.1", to)).await.unwrap();
            let (from, to) = (from.into_split(), to.into_split());
            tokio::spawn(pass(from.0, to.1, opened.clone()));
            tokio::spawn(pass(to.0, from.1, opened.clone()));
        }
    });
    (port, open)
}

async fn pass(
    mut from: tokio::net::tcp::OwnedReadHalf,
    mut to: tokio::net::tcp::OwnedWriteHalf,
    mut open: watch::Receiver<bool>,
) {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let mut buffer = vec![0; 65_536];
    while let Ok(read @ 1..) = from.read(&mut buffer).await {
        if open.wait_for(|open| *open).await.is_err() || to.write_all(&buffer[..read]).await.is_err() {
            return;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_frozen_attempt_sends_after_it_was_swept_harms_nobody_and_is_swept_in_its_turn() {
    let server = InProcess::start();
    let (port, open) = gate(server.port()).await;
    let bucket = Bucket::new(&server.endpoint(), server);
    let room = bucket.room();
    let mut far = bucket.options.clone();
    far.endpoint = Some(format!("http://127.0.0.1:{port}"));
    let zombie = Arc::new(S3Target::open(far).unwrap());
    let inherited = zombie.seal_bytes(&stage(1), 1, bytes(100, 1)).await.unwrap();
    // Frozen, with a write on its way.
    open.send_replace(false);
    let late = tokio::spawn({
        let zombie = Arc::clone(&zombie);
        async move { zombie.seal_bytes(&stage(1), 2, bytes(100, 2)).await }
    });
    // Meanwhile it is reaped; the next attempt inherits, publishes, and the cleaner sweeps.
    let own = room.seal_bytes(&stage(2), 1, bytes(100, 3)).await.unwrap();
    let laid = room.lay_out(&stage(2), &output(&[inherited, own])).await.unwrap();
    room.sweep(&stage(1), &[].into()).await.unwrap();
    assert!(bucket.keys(&stage(1).prefix()).is_empty());
    let published = bucket.keys(&stage(2).prefix());
    // It wakes up and ends what it had begun.
    open.send_replace(true);
    let late = late.await.unwrap().unwrap();
    assert_eq!(bucket.keys(&stage(1).prefix()), [late.key].into());
    assert_eq!(bucket.keys(&stage(2).prefix()), published);
    let laid: Vec<_> = laid.parts().cloned().collect();
    room.verify(&laid, Depth::All).await.unwrap();
    room.sweep(&stage(1), &[].into()).await.unwrap();
    assert!(bucket.keys(&stage(1).prefix()).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_killed_and_started_again_or_frozen_costs_time_and_nothing_else() {
    let mut server = S3Server::start();
    let bucket = Bucket::new(&server.endpoint(), ());
    let room = Arc::new(bucket.room());
    let first = room.seal_bytes(&stage(1), 1, bytes(9 * MIB, 1)).await.unwrap();
    server.server.kill();
    let sealing = tokio::spawn({
        let room = Arc::clone(&room);
        async move { room.seal_bytes(&stage(1), 2, bytes(9 * MIB, 2)).await }
    });
    server.start_again();
    let second = sealing.await.unwrap().unwrap();
    server.server.freeze();
    let reading = tokio::spawn({
        let (room, parts) = (Arc::clone(&room), [first.clone(), second.clone()]);
        async move { room.verify(&parts, Depth::All).await }
    });
    server.server.thaw();
    reading.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_job_costs_the_requests_that_the_manual_says() {
    let (bucket, _) = started();
    let room = bucket.room();
    let small = room.seal_bytes(&stage(1), 1, bytes(10, 1)).await.unwrap();
    assert_eq!(bucket.wire.asked().len(), 1, "a part: one PUT");
    room.verify(std::slice::from_ref(&small), Depth::All).await.unwrap();
    assert_eq!(bucket.wire.asked().len(), 1, "its verification: one GET");
    let entries = (0..50).map(|number| file(&format!("{number:02}"), std::slice::from_ref(&small)));
    room.lay_out(&stage(1), &Manifest { entries: entries.collect() }).await.unwrap();
    assert_eq!(bucket.wire.asked().len(), 52, "a copy for each file, and two listings");
    room.seal_bytes(&stage(1), 2, bytes(20 * MIB, 1)).await.unwrap();
    assert_eq!(bucket.wire.asked().len(), 5, "three pieces, a beginning and an end");
    room.sweep(&stage(1), &[].into()).await.unwrap();
    assert_eq!(bucket.wire.asked().len(), 3, "two listings, a deletion for up to 1,000");
    let mut log = room.open_log(&stage(1)).await.unwrap();
    log.append(b"said");
    log.flush().await;
    assert_eq!(bucket.wire.asked().len(), 1, "what was said in a second: one PUT");
}

#[tokio::test]
async fn the_doctor_finds_a_good_room_good_and_says_what_is_wrong_with_others() {
    let (bucket, _) = started();
    let findings = doctor(&bucket.room()).await;
    assert!(findings.iter().all(|one| one.level == Level::Ok), "{findings:?}");
    let names: Vec<_> = findings.iter().map(|one| one.name).collect();
    let looked =
        ["reach", "clock", "write", "read", "conditions", "delete", "uploads", "versioning", "lifecycle"];
    assert_eq!(names, looked);
    assert!(bucket.keys("").is_empty(), "the probe is gone");

    let bad = |method, part, fault| {
        let (mut bucket, server) = started();
        bucket.options.retry_for = Duration::from_millis(100);
        bucket.wire.add(Rule::always(method, part, fault));
        async move {
            let found = doctor(&bucket.room()).await;
            drop(server);
            found.into_iter().filter(|one| one.level != Level::Ok).collect::<Vec<_>>()
        }
    };
    let denied = Fault::Answer(403, "AccessDenied");
    for (method, part, name) in [
        ("GET", "list-type", "reach"),
        ("PUT", "probe", "write"),
        ("GET", "probe", "read"),
        ("DELETE", "", "delete"),
    ] {
        let found = bad(method, part, denied.clone()).await;
        assert_eq!((found[0].name, found[0].level), (name, Level::Bad), "{found:?}");
        assert!(found[0].text.contains("AccessDenied"), "{found:?}");
    }
    let found = bad("GET", "?uploads", Fault::Answer(501, "NotImplemented")).await;
    assert_eq!((found[0].name, found[0].level), ("uploads", Level::Warn), "{found:?}");
}

#[tokio::test]
async fn a_room_is_opened_by_its_url_and_says_which_bucket_it_cannot_reach() {
    let url = "s3://somewhere/prefix?endpoint=http://127.0.0.1:9&retry_ms=100&anonymous=true";
    let room = remora_target::open(url).unwrap();
    let fault = room.old_stages(Duration::ZERO).await.unwrap_err();
    assert!(fault.to_string().starts_with("cannot list s3://somewhere/prefix/"), "{fault}");
    assert!(remora_target::open("s3://bucket?endpoint=nowhere").is_err());
    let strange = S3Target::open(S3Options { ca_file: Some("/no/such".into()), ..S3Options::new("b", "") });
    assert!(strange.unwrap_err().to_string().contains("/no/such"));
}
