//! An attempt's log: written, read, followed, cut.

use protocol::limit;

use super::world::World;

pub async fn a_log_is_read_as_it_was_written_and_followed(world: World) {
    let stage = world.stage();
    let mut reader = world.target.read_log(&stage);
    assert_eq!(reader.read_more().await.unwrap(), b"", "before there is one");
    let mut log = world.target.open_log(&stage).await.unwrap();
    assert_eq!(reader.read_more().await.unwrap(), b"");
    for said in [&b"one\n"[..], b"\xff\0two", b"\n", &[b'x'; 100_000]] {
        log.append(said);
        log.flush().await;
        assert_eq!(reader.read_more().await.unwrap(), said);
        assert_eq!(reader.read_more().await.unwrap(), b"", "once");
    }
    let whole = world.target.read_log(&stage).read_more().await.unwrap();
    assert!(whole.starts_with(b"one\n\xff\0two\nxxx"));
    assert_eq!(whole.len(), 10 + 100_000);
}

pub async fn a_silent_attempt_leaves_no_log(world: World) {
    let stage = world.stage();
    let mut log = world.target.open_log(&stage).await.unwrap();
    log.append(b"");
    log.flush().await;
    drop(log);
    assert!(world.fixture.keys(&stage.job.to_string()).is_empty());
    assert_eq!(world.target.read_log(&stage).read_more().await.unwrap(), b"");
}

pub async fn each_attempt_has_a_log_of_its_own(world: World) {
    let first = world.stage();
    let second = world.next_stage(&first);
    let mut logs =
        [world.target.open_log(&first).await.unwrap(), world.target.open_log(&second).await.unwrap()];
    logs[0].append(b"a");
    logs[1].append(b"b");
    logs[0].append(b"c");
    for log in &mut logs {
        log.flush().await;
    }
    assert_eq!(world.target.read_log(&first).read_more().await.unwrap(), b"ac");
    assert_eq!(world.target.read_log(&second).read_more().await.unwrap(), b"b");
}

/// Writes `lines` lines of 64 KiB, each beginning with its number.
async fn long(world: &World, stage: &crate::StageId, lines: u32) {
    let mut log = world.target.open_log(stage).await.unwrap();
    log.append(b"first\n");
    for number in 0..lines {
        log.append(format!("\n{number:>65534}\n").as_bytes());
    }
    log.append(b"last");
    log.flush().await;
}

pub async fn a_log_under_its_limit_is_whole(world: World) {
    let stage = world.stage();
    long(&world, &stage, 90).await;
    let text = String::from_utf8(world.target.read_log(&stage).read_more().await.unwrap()).unwrap();
    let lines: Vec<u32> = text.lines().filter_map(|line| line.trim().parse().ok()).collect();
    assert_eq!(lines, (0..90).collect::<Vec<_>>());
    assert!(text.ends_with("last"));
}

pub async fn a_log_over_its_limit_keeps_head_and_tail_and_marks_the_cut(world: World) {
    let stage = world.stage();
    long(&world, &stage, 500).await;
    let kept: usize = world
        .fixture
        .keys(&format!("{}/logs", stage.job))
        .iter()
        .map(|key| world.fixture.peek(key).unwrap().len())
        .sum();
    assert!(u64::try_from(kept).unwrap() <= limit::LOG_BYTES, "{kept} bytes");
    let text = world.target.read_log(&stage).read_more().await.unwrap();
    assert!(text.starts_with(b"first\n") && text.ends_with(b"last"));
    let text = String::from_utf8_lossy(&text);
    let marks: Vec<u64> = text
        .lines()
        .filter_map(|line| {
            line.strip_prefix("[… ")?.split_once(" bytes of this log were cut")?.0.parse().ok()
        })
        .collect();
    let written = 500 * 65_536 + 10;
    let read = u64::try_from(kept).unwrap();
    assert_eq!(marks, [written - read], "one mark, which says how much is missing");
}

pub async fn a_reader_that_follows_past_the_cut_is_told_of_it(world: World) {
    let stage = world.stage();
    let mut reader = world.target.read_log(&stage);
    let mut log = world.target.open_log(&stage).await.unwrap();
    log.append(b"first\n");
    log.flush().await;
    assert_eq!(reader.read_more().await.unwrap(), b"first\n");
    for _ in 0..500 {
        log.append(&[b'x'; 65_536]);
    }
    log.append(b"last");
    log.flush().await;
    let rest = reader.read_more().await.unwrap();
    assert!(rest.ends_with(b"last"));
    assert!(String::from_utf8_lossy(&rest).contains("bytes of this log were cut"));
    log.append(b" words");
    log.flush().await;
    assert_eq!(reader.read_more().await.unwrap(), b" words");
}

pub async fn what_was_appended_can_be_read_soon_without_asking(world: World) {
    let stage = world.stage();
    let mut log = world.target.open_log(&stage).await.unwrap();
    log.append(b"said");
    let mut reader = world.target.read_log(&stage);
    let soon = async {
        loop {
            let read = reader.read_more().await.unwrap();
            if !read.is_empty() {
                return read;
            }
            tokio::task::yield_now().await;
        }
    };
    let read = tokio::time::timeout(std::time::Duration::from_secs(10), soon).await;
    assert_eq!(read.expect("within ten seconds"), b"said");
}

pub async fn what_was_appended_last_is_kept_when_the_log_is_dropped(world: World) {
    let stage = world.stage();
    let mut log = world.target.open_log(&stage).await.unwrap();
    log.append(b"last words");
    drop(log);
    let kept = async {
        while world.target.read_log(&stage).read_more().await.unwrap() != b"last words" {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(10), kept).await.expect("within ten seconds");
}
