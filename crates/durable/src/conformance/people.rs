//! Reads for people: lists, counts, one job; and the pages of `running`.

use protocol::{Command, Incarnation, JobId, JobSpec, Phase, Timestamp};

use super::world::{World, at_once};
use crate::{EndCount, JobFilter, PhaseCount};

async fn listed(world: &World, filter: &JobFilter) -> (Vec<JobId>, bool) {
    let page = world.room.list(filter).await.unwrap();
    (page.jobs.iter().map(|job| job.job).collect(), page.next.is_some())
}

/// One job of each phase, in the order of `Phase::ALL`.
async fn one_of_each(world: &World) -> Vec<JobId> {
    vec![
        world.submit(at_once()).await,
        world.running(at_once()).await.job,
        world.waiting().await.job,
        world.cancelling().await.job,
        world.succeeded().await.job,
        world.failed().await.job,
        world.cancelled().await.job,
    ]
}

pub async fn jobs_are_listed_newest_first_in_pages(world: World) {
    let mut all = Vec::new();
    for _ in 0..7 {
        all.insert(0, world.submit(at_once()).await);
    }
    let mut filter = JobFilter { limit: 3, ..JobFilter::default() };
    assert_eq!(listed(&world, &filter).await, (all[..3].to_vec(), true));
    filter.before = Some(all[2]);
    assert_eq!(listed(&world, &filter).await, (all[3..6].to_vec(), true));
    filter.before = Some(all[5]);
    assert_eq!(listed(&world, &filter).await, (all[6..].to_vec(), false));
    filter.before = Some(all[6]);
    assert_eq!(listed(&world, &filter).await, (Vec::new(), false));
}

pub async fn a_list_is_filtered_by_phase_kind_and_queue(world: World) {
    let each = one_of_each(&world).await;
    for (phase, job) in Phase::ALL.into_iter().zip(&each) {
        let filter = JobFilter { phases: vec![phase], ..JobFilter::default() };
        assert_eq!(listed(&world, &filter).await, (vec![*job], false), "{phase}");
        assert_eq!(world.view(*job).await.summary.phase, phase);
    }
    let phases = vec![Phase::Failed, Phase::Queued, Phase::Failed, Phase::RetryWait];
    let filter = JobFilter { phases, limit: 2, ..JobFilter::default() };
    assert_eq!(listed(&world, &filter).await, (vec![each[5], each[2]], true));
    let filter = JobFilter { before: Some(each[2]), ..filter };
    assert_eq!(listed(&world, &filter).await, (vec![each[0]], false));
    let mail = world.submit(JobSpec { kind: "mail".to_owned(), queue: "仕事".to_owned(), ..at_once() }).await;
    let filter = JobFilter { kind: Some("mail".to_owned()), ..JobFilter::default() };
    assert_eq!(listed(&world, &filter).await, (vec![mail], false));
    let filter = JobFilter { queue: Some("仕事".to_owned()), ..JobFilter::default() };
    assert_eq!(listed(&world, &filter).await, (vec![mail], false));
    let filter =
        JobFilter { phases: vec![Phase::Queued], queue: Some("仕事".to_owned()), ..JobFilter::default() };
    assert_eq!(listed(&world, &filter).await, (vec![mail], false));
    let filter = JobFilter { queue: Some("%".to_owned()), ..JobFilter::default() };
    assert_eq!(listed(&world, &filter).await, (Vec::new(), false));
}

pub async fn a_list_is_filtered_by_time_worker_and_text(world: World) {
    let early = world.running(at_once()).await;
    world.advance(10_000);
    let argv = vec!["./Export.sh".to_owned(), "--all \"of\" it".to_owned()];
    let command = Some(Command { argv, cwd: None, env: Vec::new() });
    let late = world.submit(JobSpec { command, ..at_once() }).await;
    let failed = world.failed().await.job;
    let at = world.view(late).await.summary.created_at;
    let found = async |filter: JobFilter| listed(&world, &filter).await;
    let filter = JobFilter { created_from: Some(at), ..JobFilter::default() };
    assert_eq!(found(filter).await, (vec![failed, late], false));
    let filter = JobFilter { created_until: Some(at), ..JobFilter::default() };
    assert_eq!(found(filter).await, (vec![early.job], false));
    let worker = world.view(early.job).await.attempts[0].worker;
    let filter = JobFilter { workers: vec![worker, Incarnation(7)], ..JobFilter::default() };
    assert_eq!(found(filter.clone()).await, (vec![early.job], false));
    let filter = JobFilter { phases: vec![Phase::Failed], ..filter };
    assert_eq!(found(filter).await, (Vec::new(), false), "who has ended is under no worker");
    let filter = JobFilter { workers: vec![Incarnation(7)], ..JobFilter::default() };
    assert_eq!(found(filter).await, (Vec::new(), false));
    let error = world.view(failed).await.summary.error.unwrap();
    for (text, job) in [("eXPORT.SH --ALL", late), (&error[1..], failed)] {
        let filter = JobFilter { text: Some(text.to_owned()), ..JobFilter::default() };
        assert_eq!(found(filter).await, (vec![job], false), "{text}");
    }
    for nobody in ["no such text", "%", "_xport", "\0"] {
        let filter = JobFilter { text: Some(nobody.to_owned()), ..JobFilter::default() };
        assert_eq!(found(filter).await, (Vec::new(), false), "{nobody}");
    }
}

pub async fn a_long_search_goes_on_where_it_stopped(world: World) {
    let rare = JobSpec { kind: "rare".to_owned(), ..at_once() };
    let mut wanted = vec![world.submit(rare.clone()).await];
    for _ in 0..7 {
        world.submit(at_once()).await;
    }
    wanted.insert(0, world.submit(rare).await);
    let other = world.failed().await.job;
    for phases in [Vec::new(), vec![Phase::Queued], vec![Phase::Queued, Phase::Failed]] {
        let mut filter = JobFilter { phases, kind: Some("rare".to_owned()), scan: 3, ..JobFilter::default() };
        let (mut found, mut steps) = (Vec::new(), 0);
        loop {
            let page = world.room.list(&filter).await.unwrap();
            found.extend(page.jobs.iter().map(|job| job.job));
            steps += 1;
            let Some(next) = page.next else { break };
            assert!(filter.before.is_none_or(|before| next < before), "every step goes on");
            filter.before = Some(next);
        }
        assert_eq!(found, wanted);
        assert!((3..=5).contains(&steps), "{steps} steps");
    }
    let filter = JobFilter { limit: 100, scan: 3, ..JobFilter::default() };
    assert_eq!(listed(&world, &filter).await.0.len(), 10, "who asks for all is not made to search");
    assert_eq!(listed(&world, &filter).await.0[0], other);
}

pub async fn the_job_that_waits_longest_is_the_one_that_was_due_first(world: World) {
    let oldest = async || world.room.oldest_waiting().await.unwrap().map(|job| job.job);
    assert_eq!(oldest().await, None);
    let running = world.running(at_once()).await;
    assert_eq!(oldest().await, None, "who runs does not wait");
    let now = world.view(running.job).await.summary.created_at;
    let later = JobSpec { scheduled_at: Some(now.plus_ms(5_000)), ..at_once() };
    let later = world.submit(later).await;
    assert_eq!(oldest().await, None, "nor does who is not due");
    world.advance(1_000);
    let other = JobSpec { queue: "other".to_owned(), ..at_once() };
    let damaged = world.submit(other.clone()).await;
    world.advance(1_000);
    let (second, third) = (world.submit(other).await, world.submit(at_once()).await);
    assert_eq!(oldest().await, Some(damaged));
    world.damage(damaged).await;
    assert_eq!(oldest().await, Some(second), "nor does who was set aside");
    world.claim(second).await;
    assert_eq!(oldest().await, Some(third));
    world.claim(third).await;
    world.advance(10_000);
    assert_eq!(oldest().await, Some(later));
}

pub async fn ends_are_counted_by_minute(world: World) {
    let succeeded = world.succeeded().await.job;
    world.failed().await;
    let at = world.view(succeeded).await.summary.finished_at.unwrap();
    let minute = Timestamp(at.0.div_euclid(60_000) * 60_000);
    world.advance(3 * 60_000);
    world.succeeded().await;
    world.succeeded().await;
    world.cancelled().await;
    let count =
        |minutes: u64, phase, jobs| EndCount { minute: minute.plus_ms(minutes * 60_000), phase, jobs };
    let late = vec![count(3, Phase::Cancelled, 1), count(3, Phase::Succeeded, 2)];
    let early = vec![count(0, Phase::Failed, 1), count(0, Phase::Succeeded, 1)];
    assert_eq!(world.room.ends(minute.plus_ms(60_000)).await.unwrap(), late);
    assert_eq!(world.room.ends(minute).await.unwrap(), [early, late].concat());
}

pub async fn counts_are_exact_in_every_phase(world: World) {
    assert!(world.room.counts().await.unwrap().is_empty());
    one_of_each(&world).await;
    one_of_each(&world).await;
    world.submit(JobSpec { queue: "other".to_owned(), ..at_once() }).await;
    let mut counts = world.room.counts().await.unwrap();
    counts.sort_by(|a, b| (&a.queue, a.phase).cmp(&(&b.queue, b.phase)));
    let count = |queue: &str, phase, jobs| PhaseCount { queue: queue.to_owned(), phase, jobs };
    let mut expected: Vec<_> = Phase::ALL.into_iter().map(|phase| count("default", phase, 2)).collect();
    expected.push(count("other", Phase::Queued, 1));
    assert_eq!(counts, expected);
}

pub async fn a_summary_says_what_a_list_shows(world: World) {
    let argv: Vec<_> = ["./export.sh", "--all"].map(str::to_owned).to_vec();
    let command = Some(Command { argv: argv.clone(), cwd: None, env: Vec::new() });
    let job = world.submit(JobSpec { command, max_attempts: 9, ..at_once() }).await;
    let summary = world.room.list(&JobFilter::default()).await.unwrap().jobs.remove(0);
    assert_eq!((summary.job, summary.command, summary.max_attempts), (job, Some(argv), 9));
    assert_eq!((summary.created_at, summary.due_at), (summary.due_at, summary.created_at));
    assert_eq!((summary.progress, summary.error, summary.set_aside), (None, None, None));
    assert_eq!(world.view(job).await.summary.job, job);
    let long = Some(Command { argv: vec!["ü".repeat(5_000)], cwd: None, env: Vec::new() });
    let job = world.submit(JobSpec { command: long.clone(), ..at_once() }).await;
    let view = world.view(job).await;
    assert_eq!(view.spec.command, long);
    assert!(view.summary.command.unwrap()[0].starts_with("üü"));
}

pub async fn a_stranger_is_nobody(world: World) {
    let job = world.job_id();
    assert_eq!(world.room.job(job).await.unwrap(), None);
    assert_eq!(world.room.result(job).await.unwrap(), None);
    assert_eq!(world.room.checkpoint(job).await.unwrap(), None);
    let known = world.running(at_once()).await;
    let phases = world.room.phases(&[job, known.job]).await.unwrap();
    assert_eq!(phases[0], None);
    assert_eq!(phases[1].unwrap().attempt, Some(known.attempt));
}

pub async fn the_running_are_read_in_pages_by_id(world: World) {
    let mut attempts = Vec::new();
    for _ in 0..5 {
        attempts.push(world.running(at_once()).await.attempt);
    }
    let first = world.room.running(None, 3).await.unwrap();
    assert_eq!(first.iter().map(|row| row.attempt).collect::<Vec<_>>(), attempts[..3]);
    let rest = world.room.running(Some(first[2].attempt), 3).await.unwrap();
    assert_eq!(rest.iter().map(|row| row.attempt).collect::<Vec<_>>(), attempts[3..]);
    assert!(world.room.running(Some(attempts[4]), 3).await.unwrap().is_empty());
}
