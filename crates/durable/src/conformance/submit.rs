//! Submit: what is accepted, what is refused, what a repeat finds.

use protocol::{Command, Guard, JobId, JobSpec, Phase, Priority, Step, Timestamp};

use super::world::{World, aside, at_once, mark, one, refused, taken};
use crate::Submit;

fn request(job: JobId, spec: JobSpec) -> Submit {
    Submit { job, spec, retry_of: None }
}

fn keyed(key: &str) -> JobSpec {
    JobSpec { idempotency_key: Some(key.to_owned()), ..JobSpec::default() }
}

pub async fn an_accepted_job_is_queued_and_offered(world: World) {
    let job = world.job_id();
    let answer = one(world.room.submit(&world.origin(), &[request(job, JobSpec::default())]).await);
    assert_eq!(answer.mark, mark(1));
    let effect = answer.step.taken().unwrap();
    assert_eq!((effect.job, effect.existed, effect.phase), (job, false, Phase::Queued));
    assert!(world.offered(job).await);
    let view = world.view(job).await;
    assert_eq!((view.revision, view.summary.token.0, view.attempts.len()), (1, 0, 0));
    assert_eq!(view.spec, JobSpec::default());
}

pub async fn the_same_submission_again_is_answered_the_same_and_makes_no_second_job(world: World) {
    let job = world.job_id();
    let again = [request(job, at_once()), request(job, at_once())];
    for answer in world.room.submit(&world.origin(), &again).await.unwrap() {
        let effect = answer.step.taken().unwrap();
        assert_eq!((effect.job, effect.existed), (job, false));
    }
    let claimed = world.claim(job).await;
    let later = taken(world.room.submit(&world.origin(), &again[..1]).await);
    assert_eq!((later.job, later.existed, later.phase), (job, false, Phase::Running));
    world.succeed(&claimed).await;
    let counts = world.room.counts().await.unwrap();
    assert_eq!(counts.iter().map(|count| count.jobs).sum::<u64>(), 1);
}

pub async fn another_submission_under_a_known_id_is_refused_as_not_the_same_request(world: World) {
    let job = world.submit(at_once()).await;
    let other = JobSpec { args: "[1]".to_owned(), ..at_once() };
    assert_eq!(refused(world.room.submit(&world.origin(), &[request(job, other)]).await), Guard::SameRequest);
    let repeats = Submit { job, spec: at_once(), retry_of: Some(JobId(3)) };
    assert_eq!(refused(world.room.submit(&world.origin(), &[repeats]).await), Guard::SameRequest);
    assert_eq!(world.view(job).await.spec.args, "null");
}

pub async fn an_idempotency_key_finds_the_earlier_job_whatever_became_of_it(world: World) {
    let first = world.submit(keyed("order-7")).await;
    let claimed = world.claim(first).await;
    world.succeed(&claimed).await;
    let again = world.job_id();
    let found = taken(world.room.submit(&world.origin(), &[request(again, keyed("order-7"))]).await);
    assert_eq!((found.job, found.existed, found.phase), (first, true, Phase::Succeeded));
    assert!(world.room.job(again).await.unwrap().is_none());
    let repeated = taken(world.room.submit(&world.origin(), &[request(first, keyed("order-7"))]).await);
    assert_eq!((repeated.job, repeated.existed), (first, false));
}

pub async fn an_idempotency_key_for_another_request_is_refused_and_nothing_is_stored(world: World) {
    world.submit(keyed("order-7")).await;
    let changes: [fn(&mut JobSpec); 5] = [
        |spec| spec.kind = "other".to_owned(),
        |spec| spec.queue = "other".to_owned(),
        |spec| spec.priority = Priority(4),
        |spec| spec.args = "7".to_owned(),
        |spec| spec.command = Some(Command { argv: vec!["true".to_owned()], cwd: None, env: Vec::new() }),
    ];
    for change in changes {
        let mut spec = keyed("order-7");
        change(&mut spec);
        let job = world.job_id();
        let answer = world.room.submit(&world.origin(), &[request(job, spec)]).await;
        assert_eq!(refused(answer), Guard::SameRequest);
        assert!(world.room.job(job).await.unwrap().is_none());
    }
}

pub async fn two_jobs_of_one_batch_with_the_same_key_become_one(world: World) {
    let batch = [request(world.job_id(), keyed("k")), request(world.job_id(), keyed("k"))];
    let answers = world.room.submit(&world.origin(), &batch).await.unwrap();
    let effects: Vec<_> = answers.into_iter().map(|answer| answer.step.taken().unwrap()).collect();
    assert!(effects.iter().all(|effect| effect.job == batch[0].job));
    assert_eq!((effects[0].existed, effects[1].existed), (false, true));
}

pub async fn a_submission_that_is_wrong_is_set_aside_by_name_and_its_neighbours_are_accepted(world: World) {
    let wrong = [
        (JobSpec { kind: String::new(), ..JobSpec::default() }, "kind is empty"),
        (JobSpec { max_attempts: 0, ..JobSpec::default() }, "max_attempts is 0; allowed is 1 to 32767"),
        (JobSpec { args: "{".to_owned(), ..JobSpec::default() }, "args"),
        (JobSpec { args: "1 2".to_owned(), ..JobSpec::default() }, "args"),
        (JobSpec { args: "\"\0\"".to_owned(), ..JobSpec::default() }, "args is a text with a NUL"),
        (
            JobSpec { args: format!("\"{}\"", "x".repeat(1 << 20)), ..JobSpec::default() },
            "args is 1048578 bytes",
        ),
        (keyed(&"k".repeat(257)), "idempotency_key is 257 bytes long"),
    ];
    for (spec, reason) in wrong {
        let (before, bad, after) = (world.job_id(), world.job_id(), world.job_id());
        let batch =
            [request(before, JobSpec::default()), request(bad, spec), request(after, JobSpec::default())];
        let answers = world.room.submit(&world.origin(), &batch).await.unwrap();
        assert!(matches!(answers[0].step, Step::Taken(_)) && matches!(answers[2].step, Step::Taken(_)));
        let text = aside(Ok(vec![answers[1].clone()]));
        assert!(text.contains(reason), "{text}");
        assert!(world.offered(before).await && world.offered(after).await);
        assert!(world.room.job(bad).await.unwrap().is_none());
    }
}

pub async fn what_a_job_asks_for_reads_back_digit_for_digit(world: World) {
    let odd = [
        "0.1000000000000000055511151231257827",
        "123456789012345678901234567890",
        "1E400",
        "-0.0",
        "{\"b\":1, \"a\" : [ ], \"b\":2}",
        "\"\\ud83d\\ude00 \u{1F600} e\u{301} \\u0000 \u{202e}\"",
        " [null,true] ",
    ];
    for args in odd {
        let spec = JobSpec {
            kind: "büro/größe".to_owned(),
            queue: "仕事".to_owned(),
            args: args.to_owned(),
            command: Some(Command {
                argv: vec!["./ex port.sh".to_owned(), "--name=é\n".to_owned(), String::new()],
                cwd: Some("/tmp/ä b".to_owned()),
                env: vec![("LANG".to_owned(), "de_AT.UTF-8".to_owned()), ("EMPTY".to_owned(), String::new())],
            }),
            timeout_ms: Some(i64::MAX.unsigned_abs()),
            ..at_once()
        };
        let job = world.submit(spec.clone()).await;
        assert_eq!(world.view(job).await.spec, spec);
        assert_eq!(world.claim(job).await.authorized.spec, spec);
    }
}

pub async fn a_scheduled_job_is_offered_when_it_is_due_and_not_before(world: World) {
    let now = world.room.next_due().await.unwrap().now;
    let at = now.plus_ms(5_000);
    let job = world.submit(JobSpec { scheduled_at: Some(at), ..JobSpec::default() }).await;
    assert!(!world.offered(job).await);
    assert!(world.room.waiting_windows().await.unwrap().is_empty());
    assert_eq!(world.room.next_due().await.unwrap().at, Some(at));
    world.advance(4_999);
    assert!(!world.offered(job).await);
    world.advance(1);
    assert!(world.offered(job).await);
    assert_eq!(world.room.next_due().await.unwrap().at, None);
    assert_eq!(world.room.waiting_windows().await.unwrap().len(), 1);
}

pub async fn a_time_in_the_past_is_no_way_to_the_front(world: World) {
    let first = world.submit(JobSpec::default()).await;
    let early = world.submit(JobSpec { scheduled_at: Some(Timestamp::MIN), ..JobSpec::default() }).await;
    let found = world.room.dispatch_read_jobs(&[first, early]).await.unwrap();
    assert!(found[0].position < found[1].position);
}
