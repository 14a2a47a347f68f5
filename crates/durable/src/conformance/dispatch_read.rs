//! `DispatchRead` and the windows of the outbox: their order, their pages, what is not in them.

use protocol::{JobId, JobSpec, Position, Priority, Timestamp, Window};

use super::world::{World, at_once, mark};
use crate::{DispatchRead, Dispatchable};

const START: Position = Position { due: Timestamp::MIN, sequence: 0 };

async fn read(world: &World, window: &Window, from: Position, limit: usize) -> Vec<Dispatchable> {
    let read = DispatchRead { window: window.clone(), from, limit };
    world.room.dispatch_read(&read).await.unwrap()
}

fn jobs(found: &[Dispatchable]) -> Vec<JobId> {
    found.iter().map(|found| found.job).collect()
}

pub async fn a_window_is_in_the_order_of_due_time_and_then_of_arrival(world: World) {
    let now = world.room.next_due().await.unwrap().now;
    let at = |ms| JobSpec { scheduled_at: Some(now.plus_ms(ms)), ..JobSpec::default() };
    let late = world.submit(at(30)).await;
    let soon = world.submit(at(10)).await;
    let (first, second) = (world.submit(JobSpec::default()).await, world.submit(JobSpec::default()).await);
    let also_soon = world.submit(at(10)).await;
    let window = JobSpec::default().window();
    assert_eq!(jobs(&read(&world, &window, START, 9).await), [first, second]);
    world.advance(30);
    let found = read(&world, &window, START, 9).await;
    assert_eq!(jobs(&found), [first, second, soon, also_soon, late]);
    assert!(found.is_sorted_by(|before, after| before.position < after.position));
    assert!(found.iter().all(|found| found.window == window && found.mark == mark(1)));
    assert_eq!(found[4].position.due, now.plus_ms(30));
}

pub async fn a_window_is_read_on_from_a_position_that_is_included(world: World) {
    let mut all = Vec::new();
    for _ in 0..25 {
        all.push(world.submit(JobSpec::default()).await);
    }
    let window = JobSpec::default().window();
    let page = read(&world, &window, START, 10).await;
    assert_eq!(jobs(&page), all[..10]);
    let next = read(&world, &window, page[9].position, 10).await;
    assert_eq!(jobs(&next), all[9..19]);
    let past = Position { sequence: u64::MAX, ..next[9].position };
    assert!(read(&world, &window, past, 10).await.is_empty());
    assert_eq!(read(&world, &window, START, 0).await.len(), 0);
    assert_eq!(read(&world, &window, START, usize::MAX).await.len(), 25);
}

pub async fn queues_kinds_and_priorities_are_windows_of_their_own(world: World) {
    let base = JobSpec::default;
    let specs = [
        JobSpec { priority: Priority(4), ..base() },
        base(),
        JobSpec { priority: Priority(1), ..base() },
        JobSpec { kind: "mail".to_owned(), ..base() },
        JobSpec { queue: "a".to_owned(), ..base() },
        JobSpec { queue: "仕事".to_owned(), kind: "größe".to_owned(), ..base() },
    ];
    for spec in &specs {
        for _ in 0..3 {
            world.submit(spec.clone()).await;
        }
    }
    let mut windows = world.room.waiting_windows().await.unwrap();
    windows.sort();
    let mut expected: Vec<_> = specs.iter().map(JobSpec::window).collect();
    expected.sort();
    assert_eq!(windows, expected);
    for window in &windows {
        let found = read(&world, window, START, 9).await;
        assert_eq!(found.len(), 3);
        assert!(found.iter().all(|found| found.window == *window));
    }
}

pub async fn named_jobs_are_answered_only_while_they_are_dispatchable(world: World) {
    let queued = world.submit(at_once()).await;
    let now = world.room.next_due().await.unwrap().now;
    let later = world.submit(JobSpec { scheduled_at: Some(now.plus_ms(9)), ..at_once() }).await;
    let asked = [
        world.job_id(),
        later,
        world.running(at_once()).await.job,
        world.waiting().await.job,
        queued,
        world.succeeded().await.job,
        world.cancelled().await.job,
    ];
    let found = world.room.dispatch_read_jobs(&asked).await.unwrap();
    assert_eq!(jobs(&found), [queued]);
    assert_eq!(found[0].window, at_once().window());
    world.advance(9);
    assert_eq!(jobs(&world.room.dispatch_read_jobs(&asked).await.unwrap()), [later, queued]);
}

pub async fn a_dispatchable_job_carries_its_checkpoints_revision(world: World) {
    let claimed = world.running(at_once()).await;
    let revision = world.persist(&claimed, 1).await;
    world.fail(&claimed).await;
    world.schedule(claimed.job).await;
    let found = read(&world, &at_once().window(), START, 9).await;
    assert_eq!((found[0].checkpoint_revision, found[0].mark), (revision, mark(5)));
}

pub async fn a_window_that_is_empty_or_unknown_reads_as_empty(world: World) {
    assert!(world.room.waiting_windows().await.unwrap().is_empty());
    let claimed = world.running(at_once()).await;
    assert!(world.room.waiting_windows().await.unwrap().is_empty());
    assert!(read(&world, &at_once().window(), START, 9).await.is_empty());
    world.succeed(&claimed).await;
    let window = Window { queue: "none".to_owned(), kind: "none".to_owned(), priority: Priority(1) };
    assert!(read(&world, &window, START, 9).await.is_empty());
}
