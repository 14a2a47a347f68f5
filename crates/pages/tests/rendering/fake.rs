//! A port with fixed answers, whose every text is what an attacker would put there.

use std::collections::BTreeMap;
use std::ops::Range;

use api::v1::{
    Attempt, AttemptStory, Because, Cancelled, Checkpoint, Code, EntryKind, EventRecord, Expected,
    HeldAttempt, Holder, Inspection, Item, Job, JobDetail, JobQuery, MinuteEnds, Moment, Overview, Page,
    Pool, PoolChange, Problem, Program, Progress, Queue, Readiness, ReasonCode, ResultEntry, ResultSummary,
    Retried, RetriedAs, RoomReport, Submission, Submitted, Why, Worker,
};
use api::{Answer, Api, Bytestream, FileBody, Watching};
use async_trait::async_trait;
use futures_util::stream;
use protocol::{AttemptId, Incarnation, JobId, Phase, Timestamp};
use serde_json::value::RawValue;

/// What runs as script where somebody forgot to escape.
pub(crate) const EVIL: &str = "\"><img src=x onerror=alert(1)>'<script>alert(2)</script>";
/// What runs as script where a text becomes a link.
pub(crate) const LINK: &str = "javascript:alert(3)";
pub(crate) const JOB: JobId = JobId((1_796_000_000_000 << 80) | 0x7000_8000_0000_0000_0001);
pub(crate) const WORKER: Incarnation = Incarnation(11);
const NOW: i64 = 1_796_000_000_000;

/// How the rooms are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rooms {
    Full,
    Empty,
    /// Coordination gives no answer.
    CoordinationAway,
    /// Nothing gives an answer.
    Away,
}

pub(crate) struct Fake(pub(crate) Rooms);

fn at(ago_ms: i64) -> Moment {
    Moment(Timestamp(NOW - ago_ms))
}

fn evil() -> String {
    format!("{EVIL} {LINK}")
}

pub(crate) fn job(phase: Phase) -> Job {
    Job {
        job: JOB,
        phase,
        kind: evil(),
        queue: evil(),
        priority: 2,
        attempt: 2,
        max_attempts: 25,
        created_at: at(3_600_000),
        due_at: at(3_600_000),
        finished_at: phase.is_terminal().then(|| at(1_000)),
        progress: Some(Progress { done: 3, total: Some(10), message: Some(evil()) }),
        error: Some(evil()),
        command: Some(vec![evil(), LINK.to_owned()]),
        set_aside: Some(evil()),
    }
}

fn attempt(number: u32, verdict: &str, ended: bool) -> Attempt {
    Attempt {
        attempt: number,
        attempt_id: AttemptId(number.into()),
        worker: WORKER,
        worker_name: Some(evil()),
        verdict: verdict.to_owned(),
        started_at: at(i64::from(4 - number) * 600_000),
        ended_at: ended.then(|| at(i64::from(4 - number) * 600_000 - 300_000)),
        resumed_from: 2,
        exit_code: ended.then_some(3),
        signal: None,
        error: Some(evil()),
        lease_age_ms: (!ended).then_some(1_200),
    }
}

fn detail(phase: Phase) -> JobDetail {
    JobDetail {
        job: job(phase),
        args: RawValue::from_string(serde_json::to_string(&[EVIL, LINK]).unwrap()).unwrap(),
        program: Some(Program { argv: vec![evil()], cwd: Some(evil()), env: vec![evil()] }),
        timeout_ms: Some(60_000),
        retry_base_ms: 1_000,
        retry_cap_ms: 60_000,
        idempotency_key: Some(evil()),
        retry_of: Some(JOB),
        revision: 9,
        checkpoint: Some(Checkpoint {
            revision: 7,
            attempt: 1,
            sealed: 4,
            progress: Progress { done: 3, total: None, message: Some(evil()) },
            at: at(1_600_000),
        }),
        attempts: vec![attempt(1, "lost", true), attempt(2, "running", false)],
        result: Some(summary()),
    }
}

fn summary() -> ResultSummary {
    let text = format!(
        r#"{{"job":"{JOB}","attempt":2,"attempt_id":"{}","files":1,"bytes":5,"digest":"00","published_at":"{}","path":null}}"#,
        AttemptId(2),
        at(1_000)
    );
    serde_json::from_str(&text).unwrap()
}

fn pool(away: bool) -> Pool {
    let known = |number: u64| (!away).then_some(number);
    Pool {
        global: 8,
        in_use: known(4),
        leases: known(2),
        reservations: known(1),
        unaccounted: known(1),
        lease_ms: 15_000,
        epoch: 3,
        open: false,
        paused: vec![evil()],
    }
}

/// As it is made, with nothing in it.
fn empty_pool() -> Pool {
    let none = Some(0);
    Pool {
        in_use: none,
        leases: none,
        reservations: none,
        unaccounted: none,
        open: true,
        paused: vec![],
        ..pool(false)
    }
}

fn gone(room: &str) -> Problem {
    Problem::new(Code::Unavailable, format!("{room} gives no answer: {EVIL}"))
}

impl Fake {
    fn durable(&self) -> Answer<()> {
        if self.0 == Rooms::Away { Err(gone("the durable store")) } else { Ok(()) }
    }

    fn coordination(&self) -> Answer<()> {
        self.durable()?;
        if self.0 == Rooms::CoordinationAway { Err(gone("coordination")) } else { Ok(()) }
    }

    fn is_empty(&self) -> bool {
        self.0 == Rooms::Empty
    }
}

fn item<T>(done: T) -> Vec<Item<T>> {
    vec![Item::Done(done), Item::Problem(Problem::new(Code::Refused, EVIL))]
}

#[async_trait]
impl Api for Fake {
    async fn jobs(&self, query: &JobQuery) -> Answer<Page<Job>> {
        self.durable()?;
        if query.text.as_ref().is_some_and(|text| text.len() < 3) {
            return Err(Problem::new(Code::Invalid, format!("text is {EVIL}")));
        }
        let items = if self.is_empty() { vec![] } else { Phase::ALL.map(job).to_vec() };
        let next = (!self.is_empty()).then(|| JOB.to_string());
        Ok(Page { items, next })
    }

    async fn job(&self, job: JobId) -> Answer<JobDetail> {
        self.durable()?;
        if job == JOB { Ok(detail(Phase::Running)) } else { Err(Problem::not_found(format!("job {job}"))) }
    }

    async fn submit(&self, _: Vec<Submission>) -> Answer<Vec<Item<Submitted>>> {
        unreachable!("no page submits")
    }

    async fn cancel(&self, jobs: &[JobId]) -> Answer<Vec<Item<Cancelled>>> {
        self.durable()?;
        Ok(item(Cancelled { job: jobs[0], phase: Phase::Cancelling }).into_iter().take(jobs.len()).collect())
    }

    async fn retry(&self, jobs: &[JobId]) -> Answer<Vec<Item<Retried>>> {
        self.durable()?;
        let retried = Retried { job: jobs[0], retried: RetriedAs::NewJob, now: JobId(JOB.0 + 1) };
        Ok(item(retried).into_iter().take(jobs.len()).collect())
    }

    async fn why(&self, job: JobId) -> Answer<Why> {
        self.durable()?;
        let holder =
            Holder { job: Some(job), attempt: Some(2), worker: Some(WORKER), worker_name: Some(evil()) };
        Ok(Why {
            job,
            phase: Phase::Running,
            summary: evil(),
            because: vec![Because {
                code: ReasonCode::GlobalLimit,
                text: evil(),
                holders: vec![holder],
                until: Some(at(-5_000)),
            }],
            attempts: vec![AttemptStory {
                attempt: 1,
                verdict: "lost".to_owned(),
                text: evil(),
                fenced_by: Some(2),
            }],
            next: vec![Expected { text: evil(), at: Some(at(-9_000)) }],
            away: if self.0 == Rooms::CoordinationAway { vec![evil()] } else { vec![] },
        })
    }

    async fn inspect(&self, _: JobId) -> Answer<Inspection> {
        unreachable!("no page inspects")
    }

    async fn watch(&self, _: JobId) -> Answer<Watching> {
        unreachable!("streams are of the HTTP API")
    }

    async fn events(&self) -> Answer<Watching> {
        Ok(Box::pin(stream::empty::<Answer<EventRecord>>()))
    }

    async fn log(&self, _: JobId, _: Option<u32>, _: bool) -> Answer<Bytestream> {
        Ok(Box::pin(stream::iter([Ok(evil().into())])))
    }

    async fn result(&self, _: JobId) -> Answer<ResultSummary> {
        Ok(summary())
    }

    async fn result_entries(&self, _: JobId, _: Option<&str>, _: usize) -> Answer<Page<ResultEntry>> {
        let entry = |path: &str, kind, to: Option<&str>| ResultEntry {
            path: path.to_owned(),
            kind,
            bytes: Some(5),
            executable: false,
            blake3: Some("ab".repeat(32)),
            to: to.map(str::to_owned),
        };
        let items = vec![
            entry(EVIL, EntryKind::File, None),
            entry(LINK, EntryKind::File, None),
            entry("link", EntryKind::Link, Some(LINK)),
        ];
        Ok(Page { items, next: Some(EVIL.to_owned()) })
    }

    async fn result_file(&self, _: JobId, path: &str, range: Range<u64>) -> Answer<FileBody> {
        let bytes: Vec<u8> = match path {
            "picture.png" => b"\x89PNG\r\n\x1a\n...".to_vec(),
            "drawing.svg" => {
                b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(4)</script></svg>".to_vec()
            }
            "program" => b"\x7fELF\0\0".to_vec(),
            _ => evil().into_bytes(),
        };
        let length = u64::try_from(bytes.len()).unwrap();
        let range = range.start..range.end.min(length);
        Ok(FileBody { length, range, digest: None, bytes: Box::pin(stream::iter([Ok(bytes.into())])) })
    }

    async fn workers(&self) -> Answer<Vec<Worker>> {
        self.coordination()?;
        if self.is_empty() {
            return Ok(vec![]);
        }
        let held = HeldAttempt { job: JOB, attempt: 2, attempt_id: AttemptId(2), lease_age_ms: 1_234 };
        Ok(vec![Worker {
            name: evil(),
            pid: 77,
            host: evil(),
            incarnation: WORKER,
            slots: 4,
            queues: Some(vec![evil()]),
            kinds: vec![evil()],
            draining: false,
            seen_ms_ago: 900,
            attempts: vec![held],
        }])
    }

    async fn drain(&self, worker: Incarnation) -> Answer<()> {
        self.coordination()?;
        if worker == WORKER { Ok(()) } else { Err(Problem::not_found(format!("worker {worker}"))) }
    }

    async fn queues(&self) -> Answer<Vec<Queue>> {
        self.durable()?;
        let jobs = BTreeMap::from([(Phase::Queued, 1_234_567), (Phase::Failed, 2)]);
        let queue = Queue { queue: evil(), paused: true, jobs };
        Ok(if self.is_empty() { vec![] } else { vec![queue] })
    }

    async fn pool(&self) -> Answer<Pool> {
        self.durable()?;
        Ok(pool(self.0 == Rooms::CoordinationAway))
    }

    async fn configure(&self, change: &PoolChange) -> Answer<Pool> {
        self.durable()?;
        if change.global == Some(0) {
            return Err(Problem::new(Code::Invalid, "global is `0`; allowed is 1 to 1000000"));
        }
        Ok(pool(false))
    }

    async fn overview(&self) -> Answer<Overview> {
        self.durable()?;
        let (away, full) = (self.0 == Rooms::CoordinationAway, !self.is_empty());
        let ends = MinuteEnds { minute: at(120_000), succeeded: 30, failed: 2, cancelled: 1 };
        Ok(Overview {
            at: at(0),
            jobs: if full { Phase::ALL.map(|phase| (phase, 12_345)).into() } else { BTreeMap::new() },
            ends: if full { vec![ends] } else { vec![] },
            pool: if full { pool(away) } else { empty_pool() },
            workers: (!away).then_some(u64::from(full)),
            slots: (!away).then_some(4 * u64::from(full)),
            oldest_waiting: full.then(|| job(Phase::Queued)),
            last_failures: if full { vec![job(Phase::Failed)] } else { vec![] },
            away: if away { vec![format!("coordination: {EVIL}")] } else { vec![] },
        })
    }

    async fn doctor(&self) -> Answer<Vec<RoomReport>> {
        unreachable!("no page examines")
    }

    async fn readiness(&self) -> Readiness {
        unreachable!("no page asks")
    }
}
