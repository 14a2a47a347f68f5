//! Submit, cancel, retry.

use protocol::Phase;
use serde_json::value::RawValue;

use super::World;
use crate::v1::{Code, Item, Problem, RetriedAs, Submission};

/// G3 of the trials: numbers and containers that a careless reader changes.
pub const DIGITS: &str = r#"{"a":9007199254740993,"b":-9223372036854775808,"c":18446744073709551615,"d":0.1,"e":1e-7,"f":123456789012345678901234567890,"g":[],"h":{},"i":1.0,"j":-0.0,"k":"1e400"}"#;

fn of(kind: &str) -> Submission {
    Submission { kind: Some(kind.to_owned()), ..Submission::default() }
}

fn with_args(args: &str) -> Submission {
    Submission { args: Some(RawValue::from_string(args.to_owned()).unwrap()), ..of("k") }
}

fn problem<T>(item: Item<T>) -> Problem {
    item.into_result().err().unwrap()
}

pub async fn a_submission_is_accepted_and_found(world: World) {
    let program = Submission {
        command: Some(vec!["sh".to_owned(), "-c".to_owned(), "exit 0".to_owned()]),
        env: [("SECRET".to_owned(), "hush".to_owned())].into(),
        queue: Some("仕事".to_owned()),
        priority: Some(1),
        max_attempts: Some(3),
        ..Submission::default()
    };
    let done = world.api.submit(vec![program]).await.unwrap().remove(0).into_result().unwrap();
    assert_eq!((done.existed, done.phase), (false, Phase::Queued));
    let job = world.api.job(done.job).await.unwrap();
    assert_eq!((job.job.kind.as_str(), job.job.queue.as_str(), job.job.priority), ("exec", "仕事", 1));
    let program = job.program.unwrap();
    assert_eq!(program.argv, ["sh", "-c", "exit 0"]);
    assert_eq!(program.env, ["SECRET"], "names are shown, values are not");
    assert_eq!(world.api.submit(vec![]).await.unwrap(), []);
}

pub async fn a_submission_that_is_wrong_is_refused_by_field_and_its_neighbours_are_accepted(world: World) {
    let wrong = [
        (Submission::default(), "command"),
        (of(""), "kind"),
        (of("a b"), "kind"),
        (Submission { queue: Some("q".repeat(129)), ..of("k") }, "queue"),
        (Submission { priority: Some(0), ..of("k") }, "priority"),
        (Submission { priority: Some(5), ..of("k") }, "priority"),
        (Submission { max_attempts: Some(0), ..of("k") }, "max_attempts"),
        (Submission { max_attempts: Some(32_768), ..of("k") }, "max_attempts"),
        (Submission { timeout_ms: Some(0), ..of("k") }, "timeout"),
        (Submission { timeout_ms: Some(u64::MAX), ..of("k") }, "timeout"),
        (Submission { retry_cap_ms: Some(u64::MAX), ..of("k") }, "retry_cap"),
        (Submission { retry_base_ms: Some(u64::MAX), ..of("k") }, "retry_base"),
        (Submission { idempotency_key: Some("\0".to_owned()), ..of("k") }, "idempotency_key"),
        (Submission { idempotency_key: Some("k".repeat(257)), ..of("k") }, "idempotency_key"),
        (Submission { command: Some(vec![]), ..Submission::default() }, "command"),
    ];
    for (submission, field) in wrong {
        let mut items = world.api.submit(vec![of("k"), submission, of("k")]).await.unwrap();
        assert!(items.remove(2).into_result().is_ok());
        let refused = problem(items.remove(1));
        assert_eq!((refused.code, refused.field.as_deref()), (Code::Invalid, Some(field)), "{refused:?}");
        assert!(refused.value.is_some() && refused.allowed.is_some());
        assert!(items.remove(0).into_result().is_ok());
    }
}

pub async fn the_same_key_gives_the_same_job_and_another_request_under_it_is_refused(world: World) {
    let keyed = |kind: &str| Submission { idempotency_key: Some("\\u0000 é".to_owned()), ..of(kind) };
    let first = world.api.submit(vec![keyed("k")]).await.unwrap().remove(0).into_result().unwrap();
    let again = world.api.submit(vec![keyed("k")]).await.unwrap().remove(0).into_result().unwrap();
    assert_eq!((again.job, first.existed, again.existed), (first.job, false, true));
    let other = problem(world.api.submit(vec![keyed("other")]).await.unwrap().remove(0));
    assert_eq!((other.code, other.guard.as_deref()), (Code::KeyReused, Some("same_request")));
    assert_eq!(world.place.count().await, 1);
}

pub async fn args_read_back_digit_for_digit(world: World) {
    let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
    let twice = r#"{"a":1,"a":2}"#;
    let six = r#""\\u0000""#;
    for args in [DIGITS, "null", "[]", "\"😀\"", r#""\ud83d\ude00""#, six, twice, &deep, " 1 "] {
        let done = world.api.submit(vec![with_args(args)]).await.unwrap().remove(0).into_result().unwrap();
        assert_eq!(world.api.job(done.job).await.unwrap().args.get(), args.trim());
    }
}

pub async fn a_text_that_no_store_holds_is_refused(world: World) {
    for args in [r#""\u0000""#, r#"{"\u0000":1}"#, r#""\ud800""#, r#"["\udc00"]"#] {
        let refused = problem(world.api.submit(vec![with_args(args)]).await.unwrap().remove(0));
        assert_eq!((refused.code, refused.field.as_deref()), (Code::Invalid, Some("args")), "{args}");
    }
    assert_eq!(world.place.count().await, 0);
}

pub async fn a_cancel_is_answered_for_each_job(world: World) {
    let (queued, running, ended) =
        (world.place.submit("k").await, world.place.submit("k").await, world.place.submit("k").await);
    world.place.claim(running).await;
    let stage = world.place.claim(ended).await;
    world.place.fail(&stage, "no").await;
    let jobs = [queued, running, ended, world.place.stranger(), queued];
    let mut items = world.api.cancel(&jobs).await.unwrap().into_iter();
    let mut next = || items.next().unwrap().into_result();
    assert_eq!(next().unwrap().phase, Phase::Cancelled);
    assert_eq!(next().unwrap().phase, Phase::Cancelling);
    let refused = next().unwrap_err();
    assert_eq!((refused.code, refused.guard.as_deref()), (Code::Refused, Some("cancellable")));
    assert_eq!(next().unwrap_err().code, Code::NotFound);
    assert_eq!(next().unwrap().phase, Phase::Cancelled, "once more is the same");
}

pub async fn a_retry_is_answered_for_each_job(world: World) {
    let (queued, failed) = (world.place.submit("k").await, world.place.submit("k").await);
    let stage = world.place.claim(failed).await;
    world.place.fail(&stage, "no").await;
    let jobs = [failed, queued, world.place.stranger()];
    let mut items = world.api.retry(&jobs).await.unwrap().into_iter();
    let mut next = || items.next().unwrap().into_result();
    let new = next().unwrap();
    assert_eq!((new.job, new.retried), (failed, RetriedAs::NewJob));
    assert_eq!(world.api.job(new.now).await.unwrap().retry_of, Some(failed));
    assert_eq!(next().unwrap_err().guard.as_deref(), Some("terminal"));
    assert_eq!(next().unwrap_err().code, Code::NotFound);
}

pub async fn a_batch_that_is_too_large_is_refused_whole(world: World) {
    let many = vec![of("k"); 10_001];
    let refused = world.api.submit(many).await.unwrap_err();
    assert_eq!((refused.code, refused.field.as_deref()), (Code::Invalid, Some("jobs")), "{refused:?}");
    let ids = vec![world.place.stranger(); 10_001];
    assert_eq!(world.api.cancel(&ids).await.unwrap_err().code, Code::Invalid);
    assert_eq!(world.api.retry(&ids).await.unwrap_err().code, Code::Invalid);
    assert_eq!(world.place.count().await, 0);
}
