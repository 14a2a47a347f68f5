//! What a collector is told of jobs: one trace each, spans under each other, and what docs/reference/traces.md says.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use durable::conformance::world::{Claimed, at_once, checkpoint, failure, loss, refused, success, taken};
use durable::conformance::{Fixture, World};
use durable::sqlite::{Options, SqliteRoom};
use durable::{DurableRoom, Retried, Retry};
use protocol::{
    Action, ActorId, AttemptId, Detail, Event, FailureCause, Guard, JobId, JobSpec, NoEvents, Outcome, Token,
};
use remora_traces::{Ear, SETTLE, Sampler, Settings, Traces, ids};
use testbed::collector::{Collector, Span, hex as id, texts};

/// A durable room that is told of, as a worker's process has it.
struct Told {
    room: Arc<dyn DurableRoom>,
    _folder: tempfile::TempDir,
}

#[async_trait]
impl Fixture for Told {
    fn room(&self) -> Arc<dyn DurableRoom> {
        Arc::clone(&self.room)
    }

    fn advance(&self, _: u64) {}

    fn events(&self) -> Option<Vec<Event>> {
        None
    }

    async fn damage(&self, _: JobId) {}
}

fn traces(endpoint: String, sampler: Sampler) -> Traces {
    Traces::of(Settings { endpoint: Some(endpoint), service: "tested", sampler }).unwrap()
}

/// A worker's view of the room, and the room itself.
struct Place {
    world: World,
    room: Arc<dyn DurableRoom>,
    traces: Traces,
}

impl Place {
    fn new(traces: Traces) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = Options { sink: traces.telling(NoEvents::shared()), ..Options::default() };
        let room = Arc::new(SqliteRoom::open(folder.path().join("remora.db"), options).unwrap());
        let heard = traces.over(Arc::clone(&room) as Arc<_>, Ear::Own);
        let world = World::new(Arc::new(Told { room: heard, _folder: folder }));
        Self { world, room, traces }
    }

    async fn finish(&self) {
        let traces = self.traces.clone();
        tokio::task::spawn_blocking(move || traces.finish()).await.unwrap();
    }
}

/// The spans of a job, by name in order of their ends.
fn of(spans: &[(String, Span)], job: JobId) -> Vec<Span> {
    let trace = ids::trace(job).to_string();
    spans.iter().filter(|(_, span)| id(&span.trace_id) == trace).map(|(_, span)| span.clone()).collect()
}

fn named<'a>(spans: &'a [Span], name: &str) -> Vec<&'a Span> {
    spans.iter().filter(|span| span.name == name).collect()
}

fn spec() -> JobSpec {
    JobSpec { queue: "films".to_owned(), kind: "encode".to_owned(), ..at_once() }
}

fn attributes(span: &Span) -> BTreeMap<String, String> {
    texts(&span.attributes)
}

/// A failed attempt with a checkpoint, then one that publishes, then a repetition of its verdict too late.
async fn two_attempts(world: &World) -> (Claimed, Claimed) {
    let first = world.running(spec()).await;
    world.persist(&first, 1).await;
    taken(world.room.accept_failure(&world.origin(), &[failure(&first, FailureCause::TimedOut)]).await);
    world.schedule(first.job).await;
    let second = world.claim(first.job).await;
    world.succeed(&second).await;
    (first, second)
}

#[tokio::test]
async fn a_job_is_one_trace_with_its_attempts_under_its_submission() {
    let collector = Collector::start().unwrap();
    let place = Place::new(traces(format!("{}/v1/traces", collector.url()), Sampler::ALL));
    let (first, second) = two_attempts(&place.world).await;
    place.finish().await;
    let all = collector.spans();
    assert!(all.iter().all(|(service, _)| service == "tested"), "{all:?}");
    let spans = of(&all, first.job);
    assert_eq!(spans.len(), 5, "{spans:#?}");
    let send = named(&spans, "send films")[0];
    assert!(send.parent_span_id.is_empty() && id(&send.span_id) == ids::send(first.job).to_string());
    let told = attributes(send);
    let message = first.job.to_string();
    for (name, value) in [
        ("messaging.system", "remora"),
        ("messaging.operation.type", "send"),
        ("messaging.destination.name", "films"),
        ("messaging.message.id", message.as_str()),
        ("remora.job.kind", "encode"),
    ] {
        assert_eq!(told[name], value);
    }
    let processes = named(&spans, "process films");
    let ends: Vec<_> = processes
        .iter()
        .map(|span| {
            assert_eq!(span.parent_span_id, send.span_id);
            assert!(span.end_time_unix_nano >= span.start_time_unix_nano);
            let told = attributes(span);
            (
                told["remora.job.fence"].clone(),
                told["remora.job.outcome"].clone(),
                told.get("error.type").cloned(),
            )
        })
        .collect();
    assert_eq!(
        ends,
        [
            ("1".to_owned(), "retry_wait".to_owned(), Some("timed_out".to_owned())),
            ("2".to_owned(), "succeeded".to_owned(), None),
        ]
    );
    assert_eq!(processes[0].status.as_ref().unwrap().message, "timed_out");
    assert_eq!(processes[0].events[0].name, "checkpoint");
    assert_eq!(texts(&processes[0].events[0].attributes)["remora.checkpoint.progress"], "1");
    let settles = named(&spans, "settle films");
    assert_eq!(settles.len(), 2);
    for (settle, attempt) in settles.iter().zip([&first, &second]) {
        assert_eq!(id(&settle.parent_span_id), ids::process(attempt.attempt).to_string());
    }
    assert_eq!(attributes(settles[1])["messaging.operation.name"], "accept_success");
}

#[tokio::test]
async fn a_fenced_outcome_is_told_twice_as_the_refused_verdict_and_as_what_went_on() {
    let collector = Collector::start().unwrap();
    let place = Place::new(traces(format!("{}/v1/traces", collector.url()), Sampler::ALL));
    let world = &place.world;
    let claimed = world.running(spec()).await;
    world.persist(&claimed, 1).await;
    place.traces.stopped(claimed.attempt, "lease_lost");
    let reaper = traces(format!("{}/v1/traces", collector.url()), Sampler::ALL);
    let seen_there = reaper.over(Arc::clone(&place.room), Ear::Own);
    taken(seen_there.reap_lost_attempt(&world.origin(), &[loss(&claimed)]).await);
    let late = world.room.persist_checkpoint(&world.origin(), &[checkpoint(&claimed, 2)]).await;
    assert_eq!(refused(late), Guard::Authority);
    let late = world.room.accept_success(&world.origin(), &[success(&claimed)]).await;
    assert_eq!(refused(late), Guard::Authority);
    place.traces.left(claimed.attempt);
    tokio::task::spawn_blocking(move || reaper.finish()).await.unwrap();
    place.finish().await;
    let spans = of(&collector.spans(), claimed.job);
    let lost = named(&spans, "process");
    assert_eq!(lost.len(), 1, "told by whoever reaped, who had not seen the claim: {spans:#?}");
    assert_eq!(attributes(lost[0])["error.type"], "lost");
    let fenced = named(&spans, "fenced films");
    assert_eq!(fenced[0].parent_span_id, lost[0].span_id);
    assert_eq!(attributes(fenced[0])["error.type"], "authority");
    let events: Vec<_> = fenced[0].events.iter().map(|event| event.name.as_str()).collect();
    assert_eq!(events, ["checkpoint", "lease_lost", "checkpoint_refused"]);
    let settle = spans.iter().find(|span| attributes(span)["messaging.operation.name"] == "accept_success");
    let settle = settle.expect("the refused verdict");
    assert_eq!(attributes(settle)["remora.job.outcome"], "refused");
    assert_eq!(settle.status.as_ref().unwrap().message, "authority");
    assert_eq!(settle.parent_span_id, lost[0].span_id);
}

#[tokio::test]
async fn of_attempts_of_served_workers_only_what_they_cannot_tell_is_told() {
    let collector = Collector::start().unwrap();
    let place = Place::new(traces(format!("{}/v1/traces", collector.url()), Sampler::ALL));
    let world = &place.world;
    let served = place.traces.over(Arc::clone(&place.room), Ear::Served);
    let job = world.submit(spec()).await;
    let mut claims = Vec::new();
    for _ in 0..2 {
        let claim = world.claim_of(job).await;
        let attempt = claim.attempt;
        let authorized = taken(served.authorize_attempt(&world.origin(), &[claim]).await);
        let claimed = Claimed { job, attempt, token: authorized.token, authorized };
        if claims.is_empty() {
            // The worker is killed; an agent of this process finds that.
            world.lose(&claimed).await;
            world.schedule(job).await;
        } else {
            taken(served.accept_success(&world.origin(), &[success(&claimed)]).await);
        }
        claims.push(claimed);
    }
    place.finish().await;
    let spans = of(&collector.spans(), job);
    let processes = named(&spans, "process films");
    assert_eq!(processes.len(), 1, "the worker tells of the second itself: {spans:#?}");
    assert_eq!(id(&processes[0].span_id), ids::process(claims[0].attempt).to_string());
    assert_eq!(attributes(processes[0])["error.type"], "lost");
    assert_eq!(named(&spans, "settle films").len(), 2);
}

#[tokio::test]
async fn a_retry_that_makes_a_new_job_is_a_trace_of_its_own_linked_to_the_old_one() {
    let collector = Collector::start().unwrap();
    let place = Place::new(traces(format!("{}/v1/traces", collector.url()), Sampler::ALL));
    let world = &place.world;
    let failed = world.failed().await;
    let retry = Retry { job: failed.job, new_job: world.job_id() };
    let Retried::NewJob(new) = taken(world.room.retry(&world.origin(), &[retry]).await) else { panic!() };
    place.finish().await;
    let spans = of(&collector.spans(), new);
    assert_eq!((spans.len(), spans[0].name.as_str()), (1, "send"));
    let link = &spans[0].links[0];
    assert_eq!(id(&link.trace_id), ids::trace(failed.job).to_string());
    assert_eq!(id(&link.span_id), ids::send(failed.job).to_string());
}

#[tokio::test]
async fn a_job_that_is_not_sampled_is_told_of_by_nobody_and_its_program_knows() {
    let collector = Collector::start().unwrap();
    let place = Place::new(traces(format!("{}/v1/traces", collector.url()), Sampler::NONE));
    let (first, _) = two_attempts(&place.world).await;
    place.finish().await;
    assert_eq!((collector.spans().len(), place.traces.dropped()), (0, 0));
    assert!(place.traces.traceparent(first.job, first.attempt).ends_with("-00"));
}

#[tokio::test]
async fn a_collector_that_is_away_or_silent_holds_nobody_up_and_what_it_missed_is_counted() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = silent.local_addr().unwrap();
    let closed = {
        let gone = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        gone.local_addr().unwrap()
    };
    for address in [closed, address] {
        let place = Place::new(traces(format!("http://{address}/v1/traces"), Sampler::ALL));
        let sink = place.traces.telling(NoEvents::shared());
        let begun = Instant::now();
        (0..20_000).for_each(|number| sink.record(verdict(number)));
        two_attempts(&place.world).await;
        assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
        let begun = Instant::now();
        place.finish().await;
        assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
        assert!(place.traces.dropped() > 10_000, "{}", place.traces.dropped());
    }
}

fn verdict(sequence: u64) -> Event {
    Event {
        room: protocol::Room::Durable,
        epoch: 0,
        order: 1,
        action: Action::AcceptSuccess,
        outcome: Outcome::Taken,
        job: Some(JobId(1)),
        token: Some(Token(1)),
        attempt: Some(AttemptId(1)),
        actor: ActorId(1),
        sequence,
        sent_after: 0,
        answered_before: None,
        detail: Detail::default(),
        judged: Vec::new(),
    }
}

/// The rows of the manual's tables: what is told, and what it carries.
fn manual(heading: &str) -> BTreeMap<String, BTreeSet<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/traces.md");
    let text = std::fs::read_to_string(path).unwrap();
    let section = text.split("\n## ").find(|section| section.starts_with(heading)).expect(heading).to_owned();
    let ticked = |cell: &str| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    rows.map(|line| {
        let cells: Vec<_> = line.trim_matches('|').split('|').collect();
        let name = ticked(cells[0])[0].split(' ').next().unwrap().to_owned();
        (name, ticked(cells.last().unwrap()).into_iter().collect())
    })
    .collect()
}

#[tokio::test]
async fn the_manual_lists_what_is_told_all_of_it_and_nothing_else() {
    let collector = Collector::start().unwrap();
    let place = Place::new(traces(format!("{}/v1/traces", collector.url()), Sampler::ALL));
    let world = &place.world;
    two_attempts(world).await;
    world.cancelled().await;
    let lost = world.running(spec()).await;
    world.lose(&lost).await;
    let fenced = world.running(spec()).await;
    for why in ["cancel", "drain", "timed_out", "lease_lost"] {
        place.traces.stopped(fenced.attempt, why);
    }
    world.persist(&fenced, 1).await;
    taken(place.room.reap_lost_attempt(&world.origin(), &[loss(&fenced)]).await);
    refused(world.room.persist_checkpoint(&world.origin(), &[checkpoint(&fenced, 2)]).await);
    refused(world.room.accept_success(&world.origin(), &[success(&fenced)]).await);
    place.finish().await;
    let mut spans: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut events: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (_, span) in collector.spans() {
        let stem = span.name.split(' ').next().unwrap().to_owned();
        spans.entry(stem).or_default().extend(attributes(&span).into_keys());
        for event in span.events {
            events.entry(event.name.clone()).or_default().extend(texts(&event.attributes).into_keys());
        }
    }
    assert_eq!(manual("Spans"), spans);
    assert_eq!(manual("Events of spans"), events);
    let verdicts = SETTLE.into_iter().chain([Action::AuthorizeAttempt, Action::PersistCheckpoint]);
    let actions: BTreeSet<_> = verdicts.map(|action| action.name().to_owned()).collect();
    assert_eq!(manual("From an action to its span").into_keys().collect::<BTreeSet<_>>(), actions);
}
