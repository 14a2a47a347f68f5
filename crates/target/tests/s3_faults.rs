//! A store that answers late, twice, half or not at all: each ends right after a bounded repetition, or in a clear
//! fault, and nothing wrong is ever taken for a result.
#![expect(clippy::unwrap_used, reason = "these are tests")]

mod bucket;

use std::time::{Duration, Instant};

use bucket::Bucket;
use bucket::wire::{Fault, Rule};
use protocol::{AttemptId, JobId, Token};
use remora_target::conformance::Fixture;
use remora_target::{Depth, Digest, Entry, Manifest, Node, Part, StageId, Target};
use testbed::s3::InProcess;

const MIB: usize = 1 << 20;

fn stage(token: u32) -> StageId {
    StageId { job: JobId(1), token: Token(token), attempt: AttemptId(u128::from(token)) }
}

fn started() -> (Bucket, std::path::PathBuf) {
    let server = InProcess::start();
    let uploads = server.folder().join("uploads");
    let mut bucket = Bucket::new(&server.endpoint(), server);
    bucket.options.retry_for = Duration::from_secs(4);
    bucket.options.answer_for = Duration::from_millis(400);
    (bucket, uploads)
}

fn unfinished(uploads: &std::path::Path) -> usize {
    std::fs::read_dir(uploads).unwrap().count()
}

fn bytes(length: usize, seed: u8) -> Vec<u8> {
    (0..length).map(|at| u8::try_from((at / 7 + usize::from(seed)) % 251).unwrap()).collect()
}

fn output(parts: &[Part]) -> Manifest {
    let node = Node::File { parts: parts.to_vec(), executable: false };
    Manifest { entries: vec![Entry { path: "x".to_owned(), node }] }
}

/// What a request may meet and get over.
fn passing() -> Vec<Fault> {
    vec![
        Fault::LostReply,
        Fault::Reset,
        Fault::Truncated,
        Fault::Silence,
        Fault::Answer(409, "ConditionalRequestConflict"),
        Fault::Answer(412, "PreconditionFailed"),
        Fault::Answer(500, "InternalError"),
        Fault::Answer(503, "SlowDown"),
    ]
}

fn is_written_once(fault: &Fault) -> bool {
    !matches!(fault, Fault::Answer(412, _))
}

#[tokio::test]
async fn a_part_is_sealed_through_every_passing_fault_of_its_put() {
    for fault in passing() {
        let (bucket, _) = started();
        bucket.wire.add(Rule::once("PUT", "/p/", fault.clone()));
        let sealed = bucket.room().seal_bytes(&stage(1), 1, bytes(1000, 1)).await.unwrap();
        assert_eq!(sealed.digest, Digest::of(&bytes(1000, 1)), "{fault:?}");
        assert_eq!(bucket.peek(&sealed.key), Some(bytes(1000, 1)), "{fault:?}");
        assert!(bucket.wire.asked().len() >= 2, "{fault:?}");
    }
}

#[tokio::test]
async fn a_large_part_is_sealed_through_every_passing_fault_of_its_upload() {
    let whole = bytes(9 * MIB, 2);
    for part in ["?uploads", "partNumber=2", "?uploadId"] {
        // Of the second piece, which is small: the time for its bytes counts, too.
        let method = if part == "partNumber=2" { "PUT" } else { "POST" };
        let mut faults = passing();
        faults.retain(|fault| method == "POST" && part == "?uploadId" || is_written_once(fault));
        if method == "POST" {
            faults.push(Fault::HiddenError("InternalError"));
        }
        for fault in faults {
            let (mut bucket, uploads) = started();
            bucket.options.answer_for = Duration::from_secs(1);
            bucket.wire.add(Rule::once(method, part, fault.clone()));
            let room = bucket.room();
            let file = bucket.local().join("large");
            std::fs::write(&file, &whole).unwrap();
            let sealed = room.seal_file(&stage(1), 1, &file, false).await.unwrap();
            assert_eq!(
                (sealed.length, sealed.digest),
                (9 * MIB as u64, Digest::of(&whole)),
                "{part} {fault:?}"
            );
            room.verify(&[sealed], Depth::All).await.unwrap();
            // An upload whose beginning was not heard of is found when the stage is swept.
            let most = usize::from(part == "?uploads");
            assert!(unfinished(&uploads) <= most, "{part} {fault:?}");
            room.sweep(&stage(1), &[].into()).await.unwrap();
            assert_eq!(unfinished(&uploads), 0, "{part} {fault:?}");
        }
    }
}

#[tokio::test]
async fn an_upload_that_fails_or_is_dropped_is_aborted() {
    for (fault, status) in
        [(Fault::Answer(500, "InternalError"), "500"), (Fault::Answer(403, "AccessDenied"), "403")]
    {
        let (mut bucket, uploads) = started();
        bucket.options.retry_for = Duration::from_millis(300);
        bucket.wire.add(Rule::always("PUT", "partNumber=3", fault));
        let fault = bucket.room().seal_bytes(&stage(1), 1, bytes(40 * MIB, 1)).await.unwrap_err();
        assert!(!fault.bad_data, "{fault}");
        let cause = std::error::Error::source(&fault).unwrap().to_string();
        assert!(cause.contains(status), "{cause}");
        assert_eq!(unfinished(&uploads), 0, "{status}");
        assert!(bucket.keys("").is_empty());
    }
    let (bucket, uploads) = started();
    bucket.wire.add(Rule::always("PUT", "partNumber=3", Fault::Silence));
    let room = bucket.room();
    let stage = stage(1);
    let sealing = room.seal_bytes(&stage, 1, bytes(40 * MIB, 1));
    tokio::time::timeout(Duration::from_millis(350), sealing).await.unwrap_err();
    let aborted = async {
        while unfinished(&uploads) > 0 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), aborted).await.expect("the dropped upload is aborted");
}

#[tokio::test]
async fn a_result_is_laid_out_through_every_passing_fault_of_a_copy() {
    let mut faults = passing();
    faults.push(Fault::HiddenError("SlowDown"));
    faults.retain(is_written_once);
    for fault in faults {
        let (bucket, _) = started();
        let room = bucket.room();
        let sealed = room.seal_bytes(&stage(1), 1, bytes(1000, 1)).await.unwrap();
        bucket.wire.add(Rule::once("PUT", "/out/", fault.clone()));
        let laid = room.lay_out(&stage(1), &output(&[sealed])).await.unwrap();
        let laid: Vec<_> = laid.parts().cloned().collect();
        room.verify(&laid, Depth::All).await.unwrap();
        assert_eq!(bucket.peek(&laid[0].key), Some(bytes(1000, 1)), "{fault:?}");
    }
}

#[tokio::test]
async fn a_copy_that_never_comes_about_is_no_result() {
    let (mut bucket, _) = started();
    bucket.options.retry_for = Duration::from_millis(300);
    let room = bucket.room();
    let sealed = room.seal_bytes(&stage(1), 1, bytes(1000, 1)).await.unwrap();
    bucket.wire.add(Rule::always("PUT", "/out/", Fault::HiddenError("InternalError")));
    room.lay_out(&stage(1), &output(std::slice::from_ref(&sealed))).await.unwrap_err();
    // Success is answered, and nothing was done.
    bucket.wire.heal();
    bucket.wire.add(Rule::always("PUT", "/out/", Fault::Answer(200, "")));
    let fault = room.lay_out(&stage(1), &output(&[sealed])).await.unwrap_err();
    assert!(!fault.to_string().is_empty());
    assert!(bucket.keys(&format!("{}/out", stage(1).prefix())).len() <= 1);
}

#[tokio::test]
async fn reading_goes_on_where_an_answer_broke_off_and_never_takes_half_for_the_whole() {
    let whole = bytes(17 * MIB, 3);
    let (mut bucket, _) = started();
    bucket.options.answer_for = Duration::from_secs(1);
    let room = bucket.room();
    let sealed = [room.seal_bytes(&stage(1), 1, whole.clone()).await.unwrap()];
    let faults =
        [Fault::Truncated, Fault::Reset, Fault::LostReply, Fault::Answer(503, "SlowDown"), Fault::Silence];
    for skip in [0, 2] {
        for fault in &faults {
            bucket.wire.add(Rule { skip, ..Rule::once("GET", "/p/", fault.clone()) });
            let to = bucket.local().join("fetched");
            room.fetch(&sealed, &to, false).await.unwrap();
            assert!(std::fs::read(&to).unwrap() == whole, "{skip} {fault:?}");
            bucket.wire.heal();
        }
    }
    for fault in [Fault::Truncated, Fault::Reset, Fault::Answer(503, "SlowDown")] {
        bucket.options.retry_for = Duration::from_millis(300);
        let room = bucket.room();
        bucket.wire.add(Rule { skip: 1, ..Rule::always("GET", "/p/", fault.clone()) });
        let to = bucket.local().join("half");
        let failed = room.fetch(&sealed, &to, false).await.unwrap_err();
        // The data is not bad: it cannot be read at this moment.
        assert!(!failed.bad_data && !to.exists(), "{fault:?}: {failed}");
        bucket.wire.heal();
    }
}

#[tokio::test]
async fn sweeping_gets_over_passing_faults_and_a_refused_one_is_told() {
    for part in ["?delete", "list-type", "?uploads"] {
        let method = if part == "?delete" { "POST" } else { "GET" };
        for fault in
            [Fault::LostReply, Fault::Reset, Fault::Truncated, Fault::Answer(503, "SlowDown"), Fault::Silence]
        {
            let (bucket, _) = started();
            let room = bucket.room();
            for number in 1..=3 {
                room.seal_bytes(&stage(1), number, bytes(10, 1)).await.unwrap();
            }
            bucket.wire.add(Rule::once(method, part, fault.clone()));
            let sweep = room.sweep(&stage(1), &[].into()).await.unwrap();
            assert_eq!(sweep.deleted, 3, "{part} {fault:?}");
            assert!(bucket.keys("").is_empty());
        }
    }
    let (bucket, _) = started();
    let room = bucket.room();
    room.seal_bytes(&stage(1), 1, bytes(10, 1)).await.unwrap();
    bucket.wire.add(Rule::always("DELETE", "/p/", Fault::Answer(403, "AccessDenied")));
    let fault = room.sweep(&stage(1), &[].into()).await.unwrap_err().to_string();
    assert!(fault.starts_with("cannot delete s3://bucket/") && fault.contains("/p/000001"), "{fault}");
}

#[tokio::test]
async fn a_store_that_stays_away_is_a_fault_in_bounded_time_that_shows_no_secret() {
    for fault in [Fault::Answer(503, "SlowDown"), Fault::Reset, Fault::Silence] {
        let (mut bucket, _) = started();
        bucket.options.retry_for = Duration::from_secs(1);
        bucket.wire.add(Rule::always("PUT", "", fault.clone()));
        let begun = Instant::now();
        let failed = bucket.room().seal_bytes(&stage(1), 1, bytes(10, 1)).await.unwrap_err();
        assert!(begun.elapsed() < Duration::from_secs(3), "{fault:?}: {:?}", begun.elapsed());
        assert!(!failed.bad_data && !failed.out_of_space());
        let shown = format!("{failed}: {failed:?}");
        let key = bucket.whole(&format!("{}/p/000001", stage(1).prefix()));
        assert!(shown.starts_with(&format!("cannot write s3://bucket/{key}")), "{shown}");
        assert!(!shown.contains(testbed::s3::SECRET_KEY) && !shown.contains("Signature"), "{shown}");
        assert!(!format!("{:?}", bucket.room()).contains(testbed::s3::SECRET_KEY));
    }
}

#[tokio::test]
async fn what_asking_again_does_not_change_is_told_at_once() {
    for (status, code) in [(403, "AccessDenied"), (403, "SignatureDoesNotMatch"), (400, "InvalidRequest")] {
        let (bucket, _) = started();
        bucket.wire.add(Rule::always("PUT", "", Fault::Answer(status, code)));
        let failed = bucket.room().seal_bytes(&stage(1), 1, bytes(10, 1)).await.unwrap_err();
        let cause = std::error::Error::source(&failed).unwrap().to_string();
        assert!(cause.contains(code) && !failed.bad_data, "{cause}");
        assert_eq!(bucket.wire.asked().len(), 1, "{code}");
    }
    for (status, code) in [(507, "InsufficientStorage"), (400, "XMinioStorageFull"), (403, "QuotaExceeded")] {
        let (bucket, _) = started();
        bucket.wire.add(Rule::always("PUT", "", Fault::Answer(status, code)));
        let failed = bucket.room().seal_bytes(&stage(1), 1, bytes(10, 1)).await.unwrap_err();
        assert!(failed.out_of_space(), "{code}");
    }
}

#[tokio::test]
async fn a_bucket_that_is_not_there_makes_no_data_bad() {
    let (mut bucket, _) = started();
    let sealed = [bucket.room().seal_bytes(&stage(1), 1, bytes(10, 1)).await.unwrap()];
    bucket.options.bucket = "elsewhere".to_owned();
    let room = bucket.room();
    for depth in [Depth::All, Depth::UpTo(0)] {
        let fault = room.verify(&sealed, depth).await.unwrap_err();
        assert!(!fault.bad_data, "{fault}");
    }
    assert!(!room.lay_out(&stage(1), &output(&sealed)).await.unwrap_err().bad_data);
}

#[tokio::test]
async fn a_write_that_was_given_up_and_arrives_late_replaces_nothing() {
    let (mut bucket, _) = started();
    bucket.options.retry_for = Duration::from_millis(200);
    let room = bucket.room();
    bucket.wire.add(Rule::always("PUT", "/p/", Fault::KeptBack));
    room.seal_bytes(&stage(1), 1, bytes(100, 1)).await.unwrap_err();
    bucket.wire.heal();
    let sealed = room.seal_bytes(&stage(1), 1, bytes(100, 2)).await.unwrap();
    let arrived = bucket.wire.release().await;
    assert!(!arrived.is_empty() && arrived.iter().all(|status| *status == 412), "{arrived:?}");
    assert_eq!(room.read(&sealed).await.unwrap(), bytes(100, 2));
}

#[tokio::test]
async fn an_upload_that_was_given_up_and_is_completed_late_replaces_nothing() {
    let (mut bucket, uploads) = started();
    bucket.options.retry_for = Duration::from_millis(200);
    let room = bucket.room();
    // The abort does not arrive either.
    bucket.wire.add(Rule::always("POST", "?uploadId", Fault::KeptBack));
    bucket.wire.add(Rule::always("DELETE", "?uploadId", Fault::Reset));
    room.seal_bytes(&stage(1), 1, bytes(9 * MIB, 1)).await.unwrap_err();
    assert_eq!(unfinished(&uploads), 1);
    bucket.wire.heal();
    let sealed = room.seal_bytes(&stage(1), 1, bytes(9 * MIB, 2)).await.unwrap();
    let arrived = bucket.wire.release().await;
    assert!(!arrived.is_empty() && arrived.iter().all(|status| *status == 412), "{arrived:?}");
    room.verify(&[sealed], Depth::All).await.unwrap();
    room.sweep(&stage(1), &[].into()).await.unwrap();
    assert_eq!(unfinished(&uploads), 0);
}

#[tokio::test]
async fn without_conditions_parts_are_sealed_and_replaced_all_the_same() {
    for fault in [None, Some(Fault::LostReply), Some(Fault::Answer(503, "SlowDown"))] {
        let (mut bucket, _) = started();
        bucket.options.conditional = false;
        bucket.options.bulk_delete = false;
        // Without conditions a slow write that is asked again meets itself; here nothing is to be slow.
        bucket.options.answer_for = Duration::from_secs(10);
        bucket.options.retry_for = Duration::from_secs(20);
        let room = bucket.room();
        for length in [100, 9 * MIB] {
            if let Some(fault) = &fault {
                bucket.wire.add(Rule::once("PUT", "/p/", fault.clone()));
                bucket.wire.add(Rule::once("POST", "?uploadId", fault.clone()));
            }
            for seed in [1, 2] {
                let sealed = room.seal_bytes(&stage(1), 1, bytes(length, seed)).await.unwrap();
                room.verify(&[sealed], Depth::All).await.unwrap();
            }
        }
        room.seal_bytes(&stage(1), 2, bytes(1, 1)).await.unwrap();
        assert_eq!(room.sweep(&stage(1), &[].into()).await.unwrap().deleted, 2);
        assert!(!bucket.wire.asked().iter().any(|asked| asked.contains("?delete")));
    }
}

#[tokio::test]
async fn a_log_that_the_store_refuses_for_a_while_is_whole_in_the_end() {
    let (mut bucket, _) = started();
    bucket.options.retry_for = Duration::from_millis(200);
    let room = bucket.room();
    bucket.wire.add(Rule::always("PUT", "/logs/", Fault::Answer(503, "SlowDown")));
    let mut log = room.open_log(&stage(1)).await.unwrap();
    log.append(b"one ");
    // Bounded: the store refuses, and the attempt goes on.
    tokio::time::timeout(Duration::from_secs(10), log.flush()).await.expect("bounded");
    log.append(&bytes(600_000, 1));
    bucket.wire.heal();
    log.flush().await;
    let whole = room.read_log(&stage(1)).read_more().await.unwrap();
    assert!(whole == [b"one ".as_slice(), &bytes(600_000, 1)].concat(), "{} bytes", whole.len());
}
