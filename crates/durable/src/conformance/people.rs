//! Reads for people: lists, counts, one job; and the pages of `running`.

use protocol::{Command, JobId, JobSpec, Phase};

use super::world::{World, at_once};
use crate::{JobFilter, PhaseCount};

async fn listed(world: &World, filter: &JobFilter) -> (Vec<JobId>, bool) {
    let page = world.room.list(filter).await.unwrap();
    (page.jobs.iter().map(|job| job.job).collect(), page.more)
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
