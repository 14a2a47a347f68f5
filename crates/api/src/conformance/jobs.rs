//! Lists, one job, its log, its events.

use futures_util::{StreamExt as _, TryStreamExt as _};
use protocol::Phase;

use super::World;
use super::place::WORKER;
use crate::v1::{Code, EventName, JobQuery};

async fn listed(world: &World, query: JobQuery) -> Vec<protocol::JobId> {
    world.api.jobs(&query).await.unwrap().items.into_iter().map(|job| job.job).collect()
}

pub async fn jobs_are_listed_newest_first_in_pages(world: World) {
    let mut jobs = Vec::new();
    for _ in 0..5 {
        jobs.push(world.place.submit("k").await);
    }
    jobs.sort_unstable();
    jobs.reverse();
    let mut query = JobQuery { limit: Some(2), ..JobQuery::default() };
    let mut found = Vec::new();
    loop {
        let page = world.api.jobs(&query).await.unwrap();
        found.extend(page.items.into_iter().map(|job| job.job));
        let Some(next) = page.next else { break };
        query.cursor = Some(next);
    }
    assert_eq!(found, jobs);
}

pub async fn a_list_is_filtered_by_all_that_is_named(world: World) {
    let (one, two) = (world.place.submit("one").await, world.place.submit("two:x").await);
    let stage = world.place.claim(two).await;
    world.place.fail(&stage, "it broke & burned").await;
    let all = JobQuery::default;
    assert_eq!(listed(&world, JobQuery { kind: Some("two:x".into()), ..all() }).await, [two]);
    assert_eq!(listed(&world, JobQuery { phase: vec![Phase::Queued], ..all() }).await, [one]);
    assert_eq!(
        listed(&world, JobQuery { phase: vec![Phase::Queued, Phase::Failed], ..all() }).await.len(),
        2
    );
    assert_eq!(listed(&world, JobQuery { text: Some("broke & b".into()), ..all() }).await, [two]);
    assert_eq!(listed(&world, JobQuery { text: Some(one.to_string()), ..all() }).await, [one]);
    assert!(listed(&world, JobQuery { queue: Some("other".into()), ..all() }).await.is_empty());
    let job = world.api.job(two).await.unwrap().job;
    let later = JobQuery { created_from: Some("9999-01-01T00:00:00Z".parse().unwrap()), ..all() };
    assert!(listed(&world, later).await.is_empty());
    let since = JobQuery { created_from: Some(job.created_at), kind: Some("two:x".into()), ..all() };
    assert_eq!(listed(&world, since).await, [two]);
}

pub async fn a_query_that_is_wrong_is_refused_by_field(world: World) {
    let wrong = [
        (JobQuery { limit: Some(0), ..JobQuery::default() }, "limit"),
        (JobQuery { limit: Some(1_001), ..JobQuery::default() }, "limit"),
        (JobQuery { text: Some("ab".into()), ..JobQuery::default() }, "text"),
        (JobQuery { cursor: Some("x".into()), ..JobQuery::default() }, "cursor"),
        (JobQuery { kind: Some("a b".into()), ..JobQuery::default() }, "kind"),
        (JobQuery { queue: Some(String::new()), ..JobQuery::default() }, "queue"),
    ];
    for (query, field) in wrong {
        let refused = world.api.jobs(&query).await.err().unwrap();
        assert_eq!((refused.code, refused.field.as_deref()), (Code::Invalid, Some(field)), "{refused:?}");
    }
}

pub async fn a_job_is_shown_with_its_attempts(world: World) {
    let job = world.place.submit("k").await;
    let stage = world.place.claim(job).await;
    let running = world.api.job(job).await.unwrap();
    assert_eq!((running.job.phase, running.job.attempt), (Phase::Running, 1));
    assert_eq!((running.attempts[0].verdict.as_str(), running.attempts[0].worker), ("running", WORKER));
    world.place.fail(&stage, "\"><img src=x onerror=alert(1)>\nsecond line").await;
    let failed = world.api.job(job).await.unwrap();
    assert_eq!(failed.job.error.as_deref(), Some("\"><img src=x onerror=alert(1)>"));
    let attempt = &failed.attempts[0];
    assert_eq!((attempt.verdict.as_str(), attempt.exit_code, attempt.attempt), ("permanent", Some(3), 1));
    assert!(attempt.error.as_ref().unwrap().ends_with("second line"));
    assert!(failed.job.finished_at.is_some() && attempt.ended_at.is_some());
}

pub async fn a_stranger_is_not_found_whatever_is_asked(world: World) {
    let (api, job) = (&world.api, world.place.stranger());
    let codes = [
        api.job(job).await.err().unwrap().code,
        api.why(job).await.err().unwrap().code,
        api.inspect(job).await.err().unwrap().code,
        api.watch(job).await.err().unwrap().code,
        api.log(job, None, false).await.err().unwrap().code,
        api.result(job).await.err().unwrap().code,
        api.result_entries(job, None, 10).await.err().unwrap().code,
        api.result_file(job, "x", 0..1).await.err().unwrap().code,
    ];
    assert_eq!(codes, [Code::NotFound; 8]);
}

async fn text(world: &World, job: protocol::JobId, attempt: Option<u32>, follow: bool) -> String {
    let bytes = world.api.log(job, attempt, follow).await.unwrap();
    let all: Vec<u8> = bytes
        .try_fold(Vec::new(), |all, piece| async move { Ok([all, piece.to_vec()].concat()) })
        .await
        .unwrap();
    String::from_utf8(all).unwrap()
}

pub async fn a_log_is_read_and_followed_to_the_end_of_its_attempt(world: World) {
    let job = world.place.submit("k").await;
    assert_eq!(text(&world, job, None, true).await, "", "nothing ran yet");
    let stage = world.place.claim(job).await;
    world.place.write_log(&stage, "<script>one</script>\n").await;
    assert_eq!(text(&world, job, Some(1), false).await, "<script>one</script>\n");
    assert_eq!(world.api.log(job, Some(9), false).await.err().unwrap().code, Code::NotFound);
    let mut followed = world.api.log(job, None, true).await.unwrap();
    assert_eq!(followed.next().await.unwrap().unwrap(), "<script>one</script>\n");
    world.place.fail(&stage, "no").await;
    assert!(followed.next().await.is_none(), "it ends with the attempt");
}

pub async fn a_watched_job_is_told_until_it_has_ended(world: World) {
    let job = world.place.submit("k").await;
    let mut events = world.api.watch(job).await.unwrap();
    let mut phases = Vec::new();
    let first = events.next().await.unwrap().unwrap();
    assert_eq!((first.event, first.job.as_ref().unwrap().job), (EventName::Job, job));
    phases.push(first.job.unwrap().phase);
    let stage = world.place.claim(job).await;
    world.place.fail(&stage, "no").await;
    while let Some(event) = events.next().await {
        phases.push(event.unwrap().job.unwrap().phase);
    }
    assert_eq!(phases.first(), Some(&Phase::Queued));
    assert_eq!(phases.last(), Some(&Phase::Failed));
    let mut late = world.api.watch(job).await.unwrap();
    assert_eq!(late.next().await.unwrap().unwrap().job.unwrap().phase, Phase::Failed);
    assert!(late.next().await.is_none());
}
