//! Published results.

use futures_util::TryStreamExt as _;
use protocol::JobId;

use super::World;
use crate::FileBody;
use crate::v1::{Code, EntryKind};

const STRANGE: &str = "a b/\"><img src=x onerror=alert(1)>#?%41é.txt";

async fn published(world: &World) -> JobId {
    let job = world.place.submit("k").await;
    let stage = world.place.claim(job).await;
    let files: [(&str, &[u8]); 3] = [("empty", b""), ("lines", b"0123456789"), (STRANGE, b"strange")];
    world.place.publish(&stage, &files).await;
    job
}

async fn all(body: FileBody) -> Vec<u8> {
    body.bytes
        .try_fold(Vec::new(), |all, piece| async move { Ok([all, piece.to_vec()].concat()) })
        .await
        .unwrap()
}

pub async fn a_result_is_described_and_its_entries_come_in_pages(world: World) {
    let job = published(&world).await;
    let result = world.api.result(job).await.unwrap();
    assert_eq!((result.files, result.bytes, result.attempt), (3, 17, 1));
    assert_eq!(result.digest.len(), 64);
    let (mut paths, mut after) = (Vec::new(), None);
    loop {
        let page = world.api.result_entries(job, after.as_deref(), 2).await.unwrap();
        assert!(page.items.len() <= 2);
        paths.extend(page.items);
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    let names: Vec<_> = paths.iter().map(|entry| (entry.path.as_str(), entry.kind)).collect();
    assert_eq!(
        names,
        [
            (STRANGE, EntryKind::File),
            ("empty", EntryKind::File),
            ("folder", EntryKind::Folder),
            ("lines", EntryKind::File),
            ("link", EntryKind::Link),
        ]
    );
    assert_eq!(paths[4].to.as_deref(), Some("folder"));
}

pub async fn a_file_is_read_whole_and_in_ranges(world: World) {
    let job = published(&world).await;
    for (range, bytes) in [
        (0..u64::MAX, "0123456789"),
        (0..10, "0123456789"),
        (0..1, "0"),
        (4..7, "456"),
        (9..100, "9"),
        (10..20, ""),
        (3..3, ""),
    ] {
        let body = world.api.result_file(job, "lines", range.clone()).await.unwrap();
        assert_eq!(body.length, 10);
        assert_eq!(body.digest.clone().unwrap(), target::Digest::of(b"0123456789").to_string());
        assert_eq!(all(body).await, bytes.as_bytes(), "{range:?}");
    }
    let empty = world.api.result_file(job, "empty", 0..u64::MAX).await.unwrap();
    assert_eq!((empty.length, all(empty).await.len()), (0, 0));
}

pub async fn strange_names_are_found_and_what_is_no_file_is_not(world: World) {
    let job = published(&world).await;
    assert_eq!(all(world.api.result_file(job, STRANGE, 0..u64::MAX).await.unwrap()).await, b"strange");
    for path in ["folder", "link", "nothing", "lines/x", "../../remora.db", "..", "a b"] {
        let refused = world.api.result_file(job, path, 0..1).await.err().unwrap();
        assert_eq!(refused.code, Code::NotFound, "{path}");
    }
}

pub async fn a_job_without_a_result_says_so(world: World) {
    let job = world.place.submit("k").await;
    for refused in [
        world.api.result(job).await.err().unwrap(),
        world.api.result_entries(job, None, 1).await.err().unwrap(),
        world.api.result_file(job, "lines", 0..1).await.err().unwrap(),
    ] {
        assert_eq!(refused.code, Code::NotFound);
        assert!(refused.detail.contains("has no result: it is queued"), "{refused}");
    }
}
