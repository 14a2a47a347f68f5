//! Files of a result by name, as a person or the API asks for them.

use std::ops::Range;

use super::world::{WAYS_OUT, World, bad, entry, folder, link, manifest};
use crate::{StageId, TargetFault};

const ALL: Range<u64> = 0..u64::MAX;

async fn read(world: &World, stage: &StageId, path: &str, range: Range<u64>) -> Result<Vec<u8>, TargetFault> {
    let mut file = world.target.open_result(stage, path, range).await?;
    let mut bytes = Vec::new();
    while let Some(piece) = file.next().await? {
        assert!(!piece.is_empty() && piece.len() <= 8 << 20, "{} bytes", piece.len());
        bytes.extend_from_slice(&piece);
    }
    assert!(file.next().await?.is_none(), "the end stays the end");
    Ok(bytes)
}

pub async fn a_file_is_read_whole_by_its_own_name(world: World) {
    let stage = world.stage();
    let large: Vec<u8> = (0..9_000_000_u32).map(|at| u8::try_from(at % 251).unwrap()).collect();
    let sealed = world.seal(&stage, 1, &large).await;
    let names = ["100%/größe ~#", "a", "new\nline"];
    let mut entries: Vec<_> = names.iter().map(|name| entry(name, &[&sealed], false)).collect();
    entries.extend([folder("100%"), entry("empty", &[], false)]);
    world.target.lay_out(&stage, &manifest(entries)).await.unwrap();
    for name in names {
        assert_eq!(read(&world, &stage, name, ALL).await.unwrap(), large, "{name}");
    }
    assert_eq!(read(&world, &stage, "empty", ALL).await.unwrap(), b"");
    let file = world.target.open_result(&stage, "a", 5..6).await.unwrap();
    assert_eq!(file.length(), 9_000_000, "of the whole");
}

pub async fn a_range_is_cut_to_what_there_is(world: World) {
    let stage = world.stage();
    let sealed = world.seal(&stage, 1, b"0123456789").await;
    world.target.lay_out(&stage, &manifest([entry("x", &[&sealed], false)])).await.unwrap();
    let ranges: [(Range<u64>, &[u8]); 8] = [
        (0..10, b"0123456789"),
        (3..6, b"345"),
        (9..10, b"9"),
        (9..99, b"9"),
        (10..11, b""),
        (50..60, b""),
        (4..4, b""),
        (u64::MAX - 1..u64::MAX, b""),
    ];
    for (range, expected) in ranges {
        assert_eq!(read(&world, &stage, "x", range.clone()).await.unwrap(), expected, "{range:?}");
    }
}

pub async fn each_attempt_has_its_own_and_a_repeated_layout_its_newest(world: World) {
    let stage = world.stage();
    let next = world.next_stage(&stage);
    for (stage, bytes) in [(&stage, b"one"), (&next, b"two"), (&next, b"new")] {
        let sealed = world.seal(stage, 1, bytes).await;
        world.target.lay_out(stage, &manifest([entry("x", &[&sealed], false)])).await.unwrap();
    }
    assert_eq!(read(&world, &stage, "x", ALL).await.unwrap(), b"one");
    assert_eq!(read(&world, &next, "x", ALL).await.unwrap(), b"new");
}

pub async fn what_is_no_file_of_the_result_is_bad_data(world: World) {
    let stage = world.stage();
    let sealed = world.seal(&stage, 1, b"x").await;
    let outside = world.file(b"precious");
    let away = outside.parent().unwrap().to_str().unwrap();
    let entries = [entry("d/x", &[&sealed], false), folder("d"), link("away", away), link("l", "d/x")];
    world.target.lay_out(&stage, &manifest(entries)).await.unwrap();
    let through = format!("away/{}", outside.file_name().unwrap().to_str().unwrap());
    for name in ["y", "d", "d/y", "d/x/y", "l", "away", &through] {
        bad(read(&world, &stage, name, ALL).await, name);
    }
    bad(read(&world, &world.next_stage(&stage), "d/x", ALL).await, "another attempt");
}

pub async fn a_name_that_leads_out_is_refused(world: World) {
    let stage = world.stage();
    let sealed = world.seal(&stage, 1, b"x").await;
    world.target.lay_out(&stage, &manifest([entry("x", &[&sealed], false)])).await.unwrap();
    for name in WAYS_OUT.into_iter().chain(["./x", "x/", "../p/000001"]) {
        bad(read(&world, &stage, name, ALL).await, name);
    }
}
