//! `ReportProgress`.

use protocol::{AttemptId, Guard, JobId, Step, UserProgress};

use super::pool::Pool;
use crate::LiveProgress;

/// Guards `stale`, `lease_live`, `progress_changed`.
pub async fn only_under_the_own_lease_and_only_what_is_new(pool: &Pool) {
    pool.open(2).await;
    pool.execute(1, 1).await;
    assert_eq!(pool.report(1, 1, 1, 3).await, Step::Taken(()));
    assert_eq!(pool.report(1, 1, 1, 3).await.refused(), Some(Guard::ProgressChanged));
    assert_eq!(pool.report(1, 1, 1, 2).await, Step::Taken(()), "it may fall");
    for (job, attempt, worker) in [(2, 1, 1), (1, 2, 1), (1, 1, 2)] {
        let refused = pool.report(job, attempt, worker, 9).await.refused();
        assert_eq!(refused, Some(Guard::LeaseLive), "{job} {attempt} {worker}");
    }
    pool.believe(2);
    assert_eq!(pool.report(1, 1, 1, 9).await.refused(), Some(Guard::Stale));
    pool.believe(1);
    let progress = UserProgress { done: 2, total: Some(9), message: None };
    let shown = LiveProgress { attempt: AttemptId(1), progress };
    let read = pool.room().progress(&[JobId(2), JobId(1)]).await.expect("an answer");
    assert_eq!(read, [None, Some(shown)]);
}

/// The first word may be zero.
pub async fn the_first_report_is_new_whatever_it_says(pool: &Pool) {
    pool.open(2).await;
    pool.execute(1, 1).await;
    assert_eq!(pool.room().progress(&[JobId(1)]).await.expect("an answer"), [None]);
    assert_eq!(pool.report(1, 1, 1, 0).await, Step::Taken(()));
}

/// Rule 10.
pub async fn a_message_over_its_limit_is_set_aside_by_name(pool: &Pool) {
    pool.open(2).await;
    pool.execute(1, 1).await;
    let request = |message: usize| crate::ReportProgress {
        job: JobId(1),
        attempt: AttemptId(1),
        worker: protocol::Incarnation(1),
        progress: UserProgress { done: 1, total: None, message: Some("m".repeat(message)) },
        judged: Vec::new(),
    };
    let batch = [request(1_025), request(1_024)];
    let answers = pool.room().report_progress(&pool.at(), &batch).await.expect("an answer");
    assert!(matches!(&answers[0].step, Step::SetAside(reason) if reason.0.contains("1025")));
    assert_eq!(answers[1].step, Step::Taken(()));
}
