//! The pool, queues, workers, and how the whole is.

use futures_util::StreamExt as _;
use protocol::{Incarnation, Phase};

use super::World;
use super::place::WORKER;
use crate::v1::{Code, EventName, PoolChange};

pub async fn the_pool_is_read_and_changed(world: World) {
    let pool = world.api.pool().await.unwrap();
    assert_eq!((pool.global, pool.lease_ms, pool.epoch, pool.open), (1_000, 15_000, 1, true));
    let change = PoolChange { global: Some(7), lease_ms: Some(5_000), ..PoolChange::default() };
    let changed = world.api.configure(&change).await.unwrap();
    assert_eq!((changed.global, changed.lease_ms), (7, 5_000));
    let read = world.api.pool().await.unwrap();
    assert_eq!((read.global, read.lease_ms, read.in_use), (7, 5_000, Some(0)));
}

pub async fn a_queue_is_paused_and_resumed(world: World) {
    let name = "a/b:仕事+1";
    let pause = PoolChange { pause: Some(name.to_owned()), ..PoolChange::default() };
    assert_eq!(world.api.configure(&pause).await.unwrap().paused, [name]);
    let queues = world.api.queues().await.unwrap();
    assert!(queues.iter().any(|queue| queue.queue == name && queue.paused));
    let resume = PoolChange { resume: Some(name.to_owned()), ..PoolChange::default() };
    assert!(world.api.configure(&resume).await.unwrap().paused.is_empty());
}

pub async fn a_change_out_of_range_is_refused_by_field(world: World) {
    let wrong = [
        (PoolChange { global: Some(0), ..PoolChange::default() }, "global_limit"),
        (PoolChange { lease_ms: Some(499), ..PoolChange::default() }, "lease"),
        (PoolChange { pause: Some("a b".to_owned()), ..PoolChange::default() }, "queue"),
        (PoolChange { resume: Some(String::new()), ..PoolChange::default() }, "queue"),
    ];
    for (change, field) in wrong {
        let refused = world.api.configure(&change).await.err().unwrap();
        assert_eq!((refused.code, refused.field.as_deref()), (Code::Invalid, Some(field)), "{refused:?}");
    }
}

pub async fn workers_are_shown_and_a_stranger_is_not_drained(world: World) {
    assert!(world.api.workers().await.unwrap().is_empty());
    world.place.register().await;
    let workers = world.api.workers().await.unwrap();
    assert_eq!((workers[0].name.as_str(), workers[0].incarnation, workers[0].slots), ("anna", WORKER, 2));
    assert_eq!(world.api.drain(Incarnation(12)).await.unwrap_err().code, Code::NotFound);
    assert!(!world.place.register().await);
    world.api.drain(WORKER).await.unwrap();
    world.api.drain(WORKER).await.unwrap();
    assert!(world.place.register().await, "it hears of it when it registers");
}

pub async fn the_overview_counts_what_is_there(world: World) {
    let (one, two) = (world.place.submit("k").await, world.place.submit("k").await);
    let stage = world.place.claim(two).await;
    world.place.fail(&stage, "no").await;
    let overview = world.api.overview().await.unwrap();
    assert_eq!(overview.jobs.get(&Phase::Queued), Some(&1));
    assert_eq!(overview.jobs.get(&Phase::Failed), Some(&1));
    assert_eq!(overview.oldest_waiting.unwrap().job, one);
    assert_eq!(overview.last_failures[0].job, two);
    assert!(overview.away.is_empty());
}

pub async fn events_begin_with_the_overview_and_tell_of_changes(world: World) {
    let mut events = world.api.events().await.unwrap();
    let first = events.next().await.unwrap().unwrap();
    assert_eq!(first.event, EventName::Overview);
    assert_eq!(first.overview.unwrap().jobs.get(&Phase::Queued).copied().unwrap_or(0), 0);
    world.place.submit("k").await;
    let second = events.next().await.unwrap().unwrap();
    assert_eq!(second.overview.unwrap().jobs.get(&Phase::Queued), Some(&1));
}

pub async fn readiness_says_what_can_be_done(world: World) {
    let cannot = async |world: &World| {
        let readiness = world.api.readiness().await;
        let names: Vec<_> = readiness.checks.iter().map(|check| check.name.as_str()).collect();
        assert_eq!(names, ["claim", "renew", "publish"]);
        assert_eq!(readiness.ready, readiness.checks.iter().all(|check| check.ok));
        let bad = readiness.checks.into_iter().filter(|check| !check.ok);
        bad.map(|check| format!("{}: {}", check.name, check.text)).collect::<Vec<_>>()
    };
    assert_eq!(cannot(&world).await, [""; 0]);
    let target = world.place.folder().join("target");
    let left: usize = std::fs::read_dir(&target).unwrap().map(|job| entries(&job.unwrap().path())).sum();
    assert_eq!(left, 0, "a trial leaves nothing behind");
    world.place.coordination.lose();
    let bad = cannot(&world).await;
    assert_eq!(bad, ["renew: coordination is at epoch 0, the durable store at 1: it is to be rebuilt"]);
    std::fs::remove_dir_all(&target).unwrap();
    std::fs::write(&target, "no folder").unwrap();
    let bad = cannot(&world).await;
    assert!(bad.len() == 2 && bad[1].starts_with("publish: cannot "), "{bad:?}");
}

fn entries(folder: &std::path::Path) -> usize {
    std::fs::read_dir(folder).map_or(1, Iterator::count)
}
