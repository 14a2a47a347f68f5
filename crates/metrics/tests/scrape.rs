//! What is told is OpenMetrics, bounded, and what the documents and dashboards say.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use api::Api as _;
use api::conformance::Place;
use api::v1::Submission;
use axum::body::Body;
use axum::http::Request;
use coordination::{Coordination as _, Registration};
use http_body_util::BodyExt as _;
use protocol::{
    Action, ActorId, AttemptId, Detail, Event, FailureCause, Guard, Incarnation, JobId, NoEvents, Outcome,
    Phase, Token,
};
use remora_metrics::{Metrics, router};
use tower::ServiceExt as _;

fn event(action: Action, outcome: Outcome, detail: Detail) -> Event {
    Event {
        room: action.room(),
        epoch: 0,
        order: 1,
        action,
        outcome,
        job: None,
        token: None,
        attempt: None,
        actor: ActorId(1),
        sequence: 1,
        sent_after: 0,
        answered_before: None,
        detail,
        judged: vec![],
    }
}

/// Checks the text as OpenMetrics has it, and gives the samples' values by name and labels.
fn read(text: &str) -> BTreeMap<String, f64> {
    let body = text.strip_suffix("# EOF\n").expect("it ends with its mark");
    let mut families: BTreeMap<&str, &str> = BTreeMap::new();
    let mut current = "";
    let mut samples = BTreeMap::new();
    for line in body.lines() {
        if let Some(about) = line.strip_prefix("# ") {
            let words: Vec<_> = about.splitn(3, ' ').collect();
            assert!(["HELP", "TYPE", "UNIT"].contains(&words[0]), "{line}");
            if words[0] == "TYPE" {
                assert!(families.insert(words[1], words[2]).is_none(), "{line} comes twice");
            }
            if words[0] == "UNIT" {
                assert!(words[1].ends_with(&format!("_{}", words[2])), "{line}");
            }
            current = words[1];
            continue;
        }
        let (series, value) = line.rsplit_once(' ').expect(line);
        let name = series.split('{').next().unwrap();
        let suffix = name.strip_prefix(current).unwrap_or_else(|| panic!("{line} stands under {current}"));
        let allowed: &[&str] = match families[current] {
            "counter" => &["_total"],
            "gauge" => &[""],
            "histogram" => &["_bucket", "_sum", "_count"],
            other => panic!("{current} is of type {other}"),
        };
        assert!(allowed.contains(&suffix), "{line}");
        let value: f64 = value.parse().expect(line);
        assert!(value >= 0.0, "{line}");
        assert!(samples.insert(series.to_owned(), value).is_none(), "{line} comes twice");
    }
    samples
}

fn kinds() -> impl Iterator<Item = Event> {
    let outcomes = Guard::ALL.iter().map(|guard| Outcome::Refused(*guard)).chain([Outcome::Taken]);
    outcomes.flat_map(|outcome| Action::ALL.map(|action| event(action, outcome, Detail::default())))
}

#[tokio::test]
async fn actions_are_counted_under_the_names_of_the_spec() {
    let metrics = Metrics::new();
    let sink = metrics.counting(NoEvents::shared());
    assert!(sink.is_on(), "rooms build events for nobody else");
    let ended = |phase| Detail { phase_after: Some(phase), ..Detail::default() };
    let refused = Outcome::Refused(Guard::Authority);
    for event in [
        event(Action::AcceptSuccess, Outcome::Taken, ended(Phase::Succeeded)),
        event(Action::AcceptSuccess, refused, ended(Phase::Succeeded)),
        event(Action::RejectOutcome, Outcome::Taken, ended(Phase::Succeeded)),
        event(Action::PersistCheckpoint, refused, Detail::default()),
        event(Action::PersistCheckpoint, Outcome::Refused(Guard::CheckpointAdvances), Detail::default()),
        event(Action::ReapLostAttempt, Outcome::Taken, ended(Phase::RetryWait)),
        event(
            Action::AcceptFailure,
            Outcome::Taken,
            Detail { cause: Some(FailureCause::TimedOut), ..ended(Phase::Failed) },
        ),
        event(Action::ExpireLease, Outcome::Taken, Detail::default()),
        event(Action::LoseCoordinationState, Outcome::Taken, Detail::default()),
    ] {
        sink.record(event);
    }
    let told = read(&metrics.scrape(None).await.unwrap());
    for (series, count) in [
        (r#"remora_actions_total{action="accept_success",outcome="taken"}"#, 1.0),
        (r#"remora_actions_total{action="persist_checkpoint",outcome="refused"}"#, 2.0),
        (r#"remora_refusals_total{guard="authority"}"#, 2.0),
        (r#"remora_job_ends_total{outcome="succeeded"}"#, 1.0),
        (r#"remora_job_ends_total{outcome="failed"}"#, 1.0),
        (r#"remora_job_ends_total{outcome="cancelled"}"#, 0.0),
        (r#"remora_attempt_failures_total{cause="lost"}"#, 1.0),
        (r#"remora_attempt_failures_total{cause="timed_out"}"#, 1.0),
        (r#"remora_publications_total{outcome="won"}"#, 1.0),
        (r#"remora_publications_total{outcome="lost"}"#, 1.0),
        ("remora_fenced_writes_total", 2.0),
        ("remora_lease_expiries_total", 1.0),
        ("remora_coordination_losses_total", 1.0),
    ] {
        assert_eq!(told.get(series), Some(&count), "{series} in {told:#?}");
    }
    assert!(told["remora_process_memory_bytes"] > 0.0);
}

#[tokio::test]
async fn the_size_is_bounded_whatever_the_names_of_queues_and_workers() {
    let place = Place::new().await;
    let metrics = Metrics::new();
    let sink = metrics.counting(NoEvents::shared());
    kinds().for_each(|event| sink.record(event));
    let api = Arc::new(place.direct());
    let submission = |queue: usize, jobs: usize| {
        (0..jobs).map(move |_| Submission {
            kind: Some("k".to_owned()),
            queue: Some(format!("queue-{queue}")),
            ..Submission::default()
        })
    };
    let register = |number: u32| Registration {
        worker: Incarnation(u128::from(number) + 100),
        name: format!("worker-{number}"),
        pid: number,
        host: "desk".to_owned(),
        slots: 3,
        queues: None,
        kinds: vec!["k".to_owned()],
        draining: false,
    };
    let origin = protocol::Origin { actor: ActorId(9), sequence: 1, sent_after: 0 };
    let at = coordination::At { origin, epoch: 1 };
    let mut sizes = Vec::new();
    for round in 0..3 {
        let batch: Vec<_> =
            (0..1_000).flat_map(|queue| submission(queue, 1 + usize::from(queue == 777))).collect();
        api.submit(batch).await.unwrap();
        for worker in 0..200 {
            place.coordination.register(&at, &register(round * 200 + worker)).await.unwrap();
        }
        // Another port: this one may still show its last counts, which it made milliseconds ago.
        let text = metrics.scrape(Some(&place.direct())).await.unwrap();
        let told = read(&text);
        let queues = told.keys().filter(|series| series.starts_with("remora_queue_jobs"));
        assert_eq!(queues.count(), 101);
        let rounds = f64::from(round + 1);
        assert_eq!(told[r#"remora_queue_jobs{queue="queue-777",phase="queued"}"#], 2.0 * rounds);
        assert_eq!(told[r#"remora_queue_jobs{queue="(other)",phase="queued"}"#], 900.0 * rounds);
        assert_eq!(told[r#"remora_jobs{phase="queued"}"#], 1_001.0 * rounds);
        assert_eq!((told["remora_workers"], told["remora_worker_slots"]), (200.0 * rounds, 600.0 * rounds));
        assert!(!text.contains("worker-1") && !text.contains("wrk_") && !text.contains("job_0"), "{text}");
        sizes.push((told.len(), text.len()));
    }
    assert!(sizes.iter().all(|(series, _)| *series == sizes[0].0), "{sizes:?}");
    assert!(sizes.iter().all(|(_, bytes)| *bytes < 64 * 1024), "{sizes:?}");
}

/// What a room records of a job that does nothing, by a worker's life.
fn short_life(number: u128) -> [Event; 4] {
    let actor = ActorId(number % 200);
    let of = |action, detail| Event {
        job: Some(JobId(number)),
        attempt: Some(AttemptId(number)),
        token: Some(Token(1)),
        actor,
        ..event(action, Outcome::Taken, detail)
    };
    [
        of(Action::AuthorizeAttempt, Detail { phase_after: Some(Phase::Running), ..Detail::default() }),
        of(Action::ActivateAttempt, Detail::default()),
        of(Action::AcceptSuccess, Detail { phase_after: Some(Phase::Succeeded), ..Detail::default() }),
        of(Action::ReleaseLease, Detail::default()),
    ]
}

#[tokio::test]
async fn j4_a_hundred_thousand_jobs_of_two_hundred_lives_leave_scrape_and_memory_as_they_were() {
    let metrics = Metrics::new();
    let sink = metrics.counting(NoEvents::shared());
    short_life(0).into_iter().for_each(|event| sink.record(event));
    let before = read(&metrics.scrape(None).await.unwrap());
    (1..100_000).flat_map(short_life).for_each(|event| sink.record(event));
    let text = metrics.scrape(None).await.unwrap();
    let after = read(&text);
    assert_eq!(before.keys().collect::<Vec<_>>(), after.keys().collect::<Vec<_>>());
    assert_eq!(after[r#"remora_job_ends_total{outcome="succeeded"}"#], 100_000.0);
    assert!(text.len() < 64 * 1024, "{} bytes", text.len());
    let grown = after["remora_process_memory_bytes"] - before["remora_process_memory_bytes"];
    assert!(grown < 4.0 * 1024.0 * 1024.0, "{grown} bytes");
}

#[tokio::test]
async fn a_room_that_is_away_is_told_as_down_and_its_numbers_are_left_out() {
    let place = Place::new().await;
    place.submit("k").await;
    let metrics = Metrics::new();
    let app = router(Arc::new(place.direct()), Arc::clone(&metrics));
    let scrape = async || {
        let request = Request::get("/metrics").body(Body::empty()).unwrap();
        let answer = app.clone().oneshot(request).await.unwrap();
        assert_eq!(answer.headers()["content-type"], remora_metrics::content_type());
        let bytes = answer.into_body().collect().await.unwrap().to_bytes();
        read(std::str::from_utf8(&bytes).unwrap())
    };
    let told = scrape().await;
    assert_eq!(
        (told[r#"remora_room_up{room="durable"}"#], told[r#"remora_room_up{room="coordination"}"#]),
        (1.0, 1.0)
    );
    assert_eq!((told["remora_places_limit"], told["remora_epoch_open"]), (1_000.0, 1.0));
    assert!(told["remora_oldest_waiting_seconds"] < 60.0);
    let alone = api::Direct::new(api::DirectRooms {
        coordination: None,
        ..api::DirectRooms::of(
            Arc::clone(&place.durable) as Arc<_>,
            Arc::clone(&place.coordination) as Arc<_>,
            Arc::clone(&place.target) as Arc<_>,
        )
    });
    let told = read(&metrics.scrape(Some(&alone)).await.unwrap());
    assert_eq!(told[r#"remora_room_up{room="coordination"}"#], 0.0);
    assert!(
        !told.contains_key("remora_workers") && !told.keys().any(|key| key.starts_with("remora_places_used"))
    );
}

#[tokio::test]
async fn requests_are_measured_by_room_and_action() {
    let metrics = Metrics::new();
    let timer = metrics.timer();
    timer("durable", "authorize_attempt", Duration::from_millis(3), true);
    timer("durable", "authorize_attempt", Duration::from_secs(60), false);
    let told = read(&metrics.scrape(None).await.unwrap());
    let of = |rest: &str| told[&format!("remora_room_request_duration_seconds_{rest}")];
    assert_eq!(of(r#"count{room="durable",action="authorize_attempt"}"#), 2.0);
    assert_eq!(of(r#"bucket{le="0.005",room="durable",action="authorize_attempt"}"#), 1.0);
    assert_eq!(of(r#"bucket{le="+Inf",room="durable",action="authorize_attempt"}"#), 2.0);
}

#[tokio::test]
async fn http_requests_are_counted_by_route_method_and_class_and_measured() {
    let metrics = Metrics::new();
    let hear = metrics.http();
    hear("/v1/jobs/{job}", "GET", 200, Duration::from_millis(3));
    hear("/v1/jobs/{job}", "GET", 206, Duration::from_millis(3));
    hear("/v1/jobs/{job}", "GET", 404, Duration::from_millis(3));
    hear("(other)", "POST", 405, Duration::from_millis(1));
    let told = read(&metrics.scrape(None).await.unwrap());
    for (series, count) in [
        (r#"remora_http_requests_total{route="/v1/jobs/{job}",method="GET",status="2xx"}"#, 2.0),
        (r#"remora_http_requests_total{route="/v1/jobs/{job}",method="GET",status="4xx"}"#, 1.0),
        (r#"remora_http_requests_total{route="(other)",method="POST",status="4xx"}"#, 1.0),
        (r#"remora_http_request_duration_seconds_count{route="/v1/jobs/{job}",method="GET"}"#, 3.0),
    ] {
        assert_eq!(told.get(series), Some(&count), "{series} in {told:#?}");
    }
}

#[tokio::test]
async fn a_rebuild_is_measured_from_raising_the_epoch_to_opening_it() {
    let metrics = Metrics::new();
    let timer = metrics.timer();
    let seconds = async || read(&metrics.scrape(None).await.unwrap())["remora_rebuild_seconds"];
    let raised = Duration::from_millis(1_500);
    timer("coordination", "open_epoch", Duration::ZERO, true);
    assert_eq!(seconds().await, 0.0, "one that another process raised");
    timer("durable", "raise_epoch", raised, true);
    timer("coordination", "install_epoch", Duration::ZERO, true);
    timer("durable", "open_epoch", Duration::ZERO, true);
    timer("coordination", "open_epoch", Duration::ZERO, false);
    assert_eq!(seconds().await, 0.0, "no answer, not open");
    timer("durable", "raise_epoch", Duration::ZERO, true);
    timer("coordination", "open_epoch", Duration::ZERO, true);
    let took = seconds().await;
    assert!((1.5..5.0).contains(&took), "from the first raise on: {took}");
}

#[tokio::test]
async fn what_was_dropped_and_what_is_owed_is_asked_for_when_somebody_scrapes() {
    let place = Place::new().await;
    let metrics = Metrics::new();
    let told = read(&metrics.scrape(Some(&place.direct())).await.unwrap());
    assert_eq!((told["remora_events_dropped_total"], told["remora_spans_dropped_total"]), (0.0, 0.0));
    assert!(!told.contains_key("remora_stages_owed"));
    metrics.events_dropped(|| 7);
    metrics.spans_dropped(|| 8);
    metrics.stages_owed(|| Box::pin(async { Some(9) }));
    let told = read(&metrics.scrape(Some(&place.direct())).await.unwrap());
    assert_eq!((told["remora_events_dropped_total"], told["remora_spans_dropped_total"]), (7.0, 8.0));
    assert_eq!(told["remora_stages_owed"], 9.0);
    metrics.stages_owed(|| Box::pin(async { None }));
    let told = read(&metrics.scrape(Some(&place.direct())).await.unwrap());
    assert!(!told.contains_key("remora_stages_owed"), "no answer, no number");
}

/// Names of metrics in a text.
fn names(text: &str) -> BTreeSet<String> {
    text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
        .filter(|word| word.starts_with("remora_") && word.len() > "remora_".len())
        .map(str::to_owned)
        .collect()
}

#[tokio::test]
async fn dashboard_alerts_and_manual_name_what_is_told() {
    let place = Place::new().await;
    let metrics = Metrics::new();
    let sink = metrics.counting(NoEvents::shared());
    kinds().for_each(|event| sink.record(event));
    (metrics.timer())("durable", "pool", Duration::from_millis(1), true);
    (metrics.http())("(other)", "GET", 404, Duration::from_millis(1));
    metrics.stages_owed(|| Box::pin(async { Some(0) }));
    place.submit("k").await;
    let text = metrics.scrape(Some(&place.direct())).await.unwrap();
    let told: BTreeSet<String> =
        read(&text).keys().map(|series| series.split('{').next().unwrap().to_owned()).collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for file in ["deploy/grafana/remora.json", "deploy/prometheus/alerts.yaml"] {
        let used = names(&std::fs::read_to_string(root.join(file)).expect(file));
        assert!(used.len() > 5, "{file}: {used:?}");
        let strangers: Vec<_> = used.difference(&told).collect();
        assert!(strangers.is_empty(), "{file} names {strangers:?}, which nothing tells");
    }
    let manual = names(&std::fs::read_to_string(root.join("docs/reference/metrics.md")).unwrap());
    let stems: BTreeSet<String> = told
        .iter()
        .map(|name| {
            match name.strip_suffix("_bucket").or(name.strip_suffix("_sum")).or(name.strip_suffix("_count")) {
                Some(stem) => stem.to_owned(),
                None => name.clone(),
            }
        })
        .collect();
    assert_eq!(manual, stems, "docs/reference/metrics.md says what is told, all of it and nothing else");
    let dashboard = std::fs::read_to_string(root.join("deploy/grafana/remora.json")).unwrap();
    serde_json::from_str::<serde_json::Value>(&dashboard).unwrap();
}
