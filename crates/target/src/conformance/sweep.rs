//! `CleanupStage`: all of a stage but what is to be kept.

use std::collections::BTreeSet;

use super::world::{World, entry, folder, link, manifest};
use crate::{Manifest, Part, StageId, Sweep};

/// Three parts, and a result of three files, a link and an empty folder.
async fn written(world: &World, stage: &StageId) -> (Vec<Part>, Manifest) {
    let mut parts = Vec::new();
    for (number, bytes) in [(1, b"one"), (2, b"two"), (3, b"six")] {
        parts.push(world.seal(stage, number, bytes).await);
    }
    let output = manifest([
        folder("a"),
        entry("a/100%", &[&parts[0]], false),
        entry("a/größe", &[&parts[1]], true),
        folder("empty"),
        link("link", "a"),
        entry("top", &[&parts[0], &parts[2]], false),
    ]);
    let laid = world.target.lay_out(stage, &output).await.unwrap();
    (parts, laid)
}

fn keys<'a>(parts: impl IntoIterator<Item = &'a Part>) -> BTreeSet<String> {
    parts.into_iter().map(|part| part.key.clone()).collect()
}

pub async fn everything_goes_when_nothing_is_kept(world: World) {
    let stage = world.stage();
    written(&world, &stage).await;
    let sweep = world.target.sweep(&stage, &[].into()).await.unwrap();
    assert_eq!((sweep.deleted >= 6, sweep.kept), (true, 0), "{sweep:?}");
    assert!(world.fixture.keys(&stage.job.to_string()).is_empty(), "folders, too");
    let again = world.target.sweep(&stage, &[].into()).await.unwrap();
    assert_eq!(again, Sweep::default());
}

pub async fn a_stage_that_was_never_written_sweeps_to_nothing(world: World) {
    let stage = world.stage();
    assert_eq!(world.target.sweep(&stage, &[].into()).await.unwrap(), Sweep::default());
    let keep = [format!("{}/out", stage.prefix())].into();
    assert_eq!(world.target.sweep(&stage, &keep).await.unwrap(), Sweep::default());
    assert!(world.fixture.keys(&stage.job.to_string()).is_empty());
}

pub async fn single_keys_are_kept_and_only_they(world: World) {
    let stage = world.stage();
    let (parts, laid) = written(&world, &stage).await;
    let results: Vec<_> = laid.parts().collect();
    let keep = keys([&parts[1], results[0], results[1]]);
    let sweep = world.target.sweep(&stage, &keep).await.unwrap();
    assert_eq!(sweep.kept, 3);
    assert_eq!(world.keys(&stage), keep);
    for part in [&parts[1], results[0], results[1]] {
        world.target.verify(std::slice::from_ref(part), crate::Depth::All).await.unwrap();
    }
    let fewer = keys([&parts[1]]);
    assert_eq!(world.target.sweep(&stage, &fewer).await.unwrap().kept, 1);
    assert_eq!(world.keys(&stage), fewer);
}

pub async fn the_key_of_a_folder_keeps_all_that_is_in_it(world: World) {
    let stage = world.stage();
    let (_, laid) = written(&world, &stage).await;
    let before = world.keys(&stage);
    let out = format!("{}/out", stage.prefix());
    let sweep = world.target.sweep(&stage, &[out.clone()].into()).await.unwrap();
    assert_eq!((sweep.deleted, sweep.kept >= 1), (3, true), "the three parts: {sweep:?}");
    let kept: BTreeSet<_> = before.into_iter().filter(|key| key.starts_with(&format!("{out}/"))).collect();
    assert_eq!(world.keys(&stage), kept);
    let results: Vec<_> = laid.parts().cloned().collect();
    world.target.verify(&results, crate::Depth::All).await.unwrap();
}

pub async fn a_key_is_kept_by_its_whole_name(world: World) {
    let stage = world.stage();
    let (parts, _) = written(&world, &stage).await;
    let almost = [
        parts[0].key[..parts[0].key.len() - 1].to_owned(),
        format!("{}0", parts[0].key),
        format!("{}/ou", stage.prefix()),
        format!("{}/out/a/100", stage.prefix()),
        stage.prefix(),
    ];
    assert_eq!(world.target.sweep(&stage, &almost.into()).await.unwrap().kept, 0);
    assert!(world.keys(&stage).is_empty());
}

pub async fn other_attempts_jobs_and_logs_are_not_touched(world: World) {
    let stage = world.stage();
    let (next, stranger) = (world.next_stage(&stage), world.stage());
    for stage in [&stage, &next, &stranger] {
        written(&world, stage).await;
        let mut log = world.target.open_log(stage).await.unwrap();
        log.append(b"said\n");
        log.flush().await;
    }
    let before = [world.keys(&next), world.keys(&stranger)];
    assert!(world.target.sweep(&stage, &[].into()).await.unwrap().deleted > 0);
    assert!(world.keys(&stage).is_empty());
    assert_eq!([world.keys(&next), world.keys(&stranger)], before);
    for stage in [&stage, &next, &stranger] {
        assert_eq!(world.target.read_log(stage).read_more().await.unwrap(), b"said\n");
    }
    world.target.sweep(&next, &[].into()).await.unwrap();
    assert_eq!(world.target.read_log(&next).read_more().await.unwrap(), b"said\n");
}

pub async fn links_go_and_what_they_point_to_stays(world: World) {
    let stage = world.stage();
    let outside = world.file(b"precious");
    let output = manifest([link("file", outside.to_str().unwrap()), link("folder", "/")]);
    world.target.lay_out(&stage, &output).await.unwrap();
    world.target.sweep(&stage, &[].into()).await.unwrap();
    assert_eq!(std::fs::read(outside).unwrap(), b"precious");
    assert!(world.keys(&stage).is_empty());
}

pub async fn the_stage_may_be_written_again_after_it(world: World) {
    let stage = world.stage();
    written(&world, &stage).await;
    world.target.sweep(&stage, &[].into()).await.unwrap();
    let sealed = world.seal(&stage, 1, b"a zombie writes on").await;
    world.target.settle(&stage).await.unwrap();
    assert_eq!(world.keys(&stage), keys([&sealed]));
    world.target.sweep(&stage, &[].into()).await.unwrap();
    assert!(world.keys(&stage).is_empty());
}
