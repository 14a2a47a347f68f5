//! A standby that takes over, sessions that are ended one by one, and servers whose defaults are stricter.

use std::time::Duration;

use protocol::{AttemptId, JobId};
use remora_durable::postgres::migrate::{self, Setup};
use remora_durable::postgres::{Options, PostgresRoom};
use remora_durable::{Durable as _, DurableReads as _};
use testbed::Postgres;
use tokio::time::timeout;

use crate::help::{ORIGIN, claim, client, submit, success, taken};

/// What all of these take at most, on a machine that does other things, too.
const LIMIT: Duration = Duration::from_secs(60);

async fn room(url: &str) -> PostgresRoom {
    migrate::up(url, &Setup::default()).await.unwrap();
    PostgresRoom::open(url, Options::default()).await.unwrap()
}

/// Asks with the same id until there is an answer.
async fn submitted(room: &PostgresRoom, number: u128) {
    let asked = async {
        while !room.submit(&ORIGIN, &[submit(number)]).await.is_ok_and(|answer| taken(&answer[0].step)) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    assert!(timeout(LIMIT, asked).await.is_ok(), "{number} is not accepted");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_standby_that_is_promoted_has_all_that_was_answered_and_work_goes_on_there_without_a_restart() {
    let mut old = Postgres::start();
    let standby = Postgres::standby_of(&old);
    old.set("synchronous_standby_names", Some("*")).unwrap();
    let url = format!(
        "postgres://postgres@127.0.0.1:{},127.0.0.1:{}/postgres?sslmode=disable&connections=4&\
         target_session_attrs=read-write&call_timeout_ms=2000",
        old.port(),
        standby.port()
    );
    let room = room(&url).await;
    for number in 1..=40 {
        submitted(&room, number).await;
    }
    let claims: Vec<_> = (1..=20).map(|number| claim(number, number + 100)).collect();
    room.authorize_attempt(&ORIGIN, &claims).await.unwrap();
    old.server().kill();
    standby.promote();
    // It waits for a standby of its own as little as the old one did at first.
    submitted(&room, 41).await;
    let all: Vec<_> = (1..=41).map(JobId).collect();
    assert!(room.phases(&all).await.unwrap().iter().all(Option::is_some), "every answered job is there");
    let ends: Vec<_> = (1..=20).map(|number| success(number, number + 100)).collect();
    let ended = room.accept_success(&ORIGIN, &ends).await.unwrap();
    assert!(ended.iter().all(|answer| taken(&answer.step)), "attempts of the old server end on the new one");
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_that_are_ended_one_by_one_idle_or_busy_cost_at_most_one_unanswered_request() {
    let server = Postgres::start();
    let url = format!("{}?sslmode=disable&connections=4", server.url());
    let room = room(&url).await;
    let admin = client(&url).await;
    let own =
        "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()";
    let mut number = 0;
    for round in 0..5 {
        let first = number;
        let many = (1..=4).map(|more| submitted(&room, first + more));
        futures_util::future::join_all(many).await;
        number += 4;
        let sessions = admin.query(own, &[]).await.unwrap();
        assert!(!sessions.is_empty());
        for session in sessions {
            let pid: i32 = session.get(0);
            if round % 2 == 0 {
                // Idle.
                admin.query("SELECT pg_terminate_backend($1)", &[&pid]).await.unwrap();
                submitted(&room, number + 1).await;
            } else {
                // Busy, as far as chance has it.
                let end = async { admin.query("SELECT pg_terminate_backend($1)", &[&pid]).await.unwrap() };
                tokio::join!(end, submitted(&room, number + 1));
            }
            number += 1;
        }
    }
    let all: Vec<_> = (1..=number).map(JobId).collect();
    assert!(room.phases(&all).await.unwrap().iter().all(Option::is_some), "every answered job is there");
}

#[tokio::test(flavor = "multi_thread")]
async fn stricter_defaults_of_a_server_change_no_answer_and_spend_no_attempt() {
    let strict: [&[(&str, &str)]; 3] = [
        &[("default_transaction_isolation", "repeatable read")],
        &[("default_transaction_isolation", "serializable")],
        &[
            ("statement_timeout", "200ms"),
            ("lock_timeout", "50ms"),
            ("idle_in_transaction_session_timeout", "1s"),
        ],
    ];
    for settings in strict {
        let server = Postgres::start_with(settings);
        let room = room(&format!("{}?sslmode=disable&connections=8", server.url())).await;
        let jobs: Vec<_> = (1..=64).map(submit).collect();
        room.submit(&ORIGIN, &jobs).await.unwrap();
        // Eight workers want the same eight jobs, eight times over; each job has one attempt.
        let race = (0..8_u128).map(|worker| {
            let room = &room;
            async move {
                let mut won = Vec::new();
                for batch in 0..8_u128 {
                    let wanted = (1..=8).map(|one| batch * 8 + one);
                    let claims: Vec<_> = wanted.map(|job| claim(job, job + 1_000 * (worker + 1))).collect();
                    let answers = loop {
                        // Asked again with the same ids, as every caller does.
                        if let Ok(answers) = room.authorize_attempt(&ORIGIN, &claims).await {
                            break answers;
                        }
                    };
                    let taken = claims.into_iter().zip(&answers).filter(|(_, answer)| taken(&answer.step));
                    won.extend(taken.map(|(claim, _)| (claim.job, claim.attempt)));
                }
                won
            }
        });
        let won = timeout(LIMIT, futures_util::future::join_all(race)).await.unwrap().concat();
        let mut jobs: Vec<JobId> = won.iter().map(|(job, _)| *job).collect();
        jobs.sort_unstable();
        assert_eq!(jobs, (1..=64).map(JobId).collect::<Vec<_>>(), "{settings:?}");
        for (JobId(job), AttemptId(attempt)) in won {
            let ended = room.accept_success(&ORIGIN, &[success(job, attempt)]).await.unwrap();
            assert!(taken(&ended[0].step), "{settings:?}: the first token: {ended:?}");
        }
    }
}
