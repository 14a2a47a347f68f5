//! What is shown equals what SQL counts: after jobs through every path, in bad weather, once it is calm.
//!
//! Small: 120 jobs on 3 workers. `REMORA_FULL=1`: 5,000 jobs on 8 workers. `REMORA_JOBS` changes the number, `REMORA_SEED` repeats
//! a run.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use api::Api as _;
use api::http::{Http, HttpOptions};
use api::v1::JobQuery;
use chaos::fleet::{Fleet, FleetOptions, Weather};
use chaos::{Scale, Seed, count, send, shell};
use durable::Configure;
use protocol::{JobSpec, Phase, RetryPolicy, Timestamp};
use rustix::process::Signal;
use testbed::s3::{ACCESS_KEY, SECRET_KEY};

/// Of each worker.
const SLOTS: u32 = 4;

type Counts = BTreeMap<String, u64>;

/// A server that is asked: one more of the installation's.
struct Asked {
    child: Child,
    url: String,
}

impl Asked {
    fn start(fleet: &Fleet) -> Self {
        let urls = fleet.urls();
        let mut child = Command::new(env!("CARGO_BIN_EXE_remora"))
            .arg("--dir")
            .arg(fleet.data().root())
            .args(["server", "--listen", "127.0.0.1:0"])
            .envs(urls.variables())
            .envs([("AWS_ACCESS_KEY_ID", ACCESS_KEY), ("AWS_SECRET_ACCESS_KEY", SECRET_KEY)])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
        let line = lines.find(|line| line.contains("the API is at")).unwrap();
        // What it says later must not fill the pipe.
        std::thread::spawn(move || lines.for_each(drop));
        let url = line.split_whitespace().find(|word| word.contains("http://")).unwrap();
        Self { child, url: url.trim_end_matches(['.', ',', ')']).to_owned() }
    }

    fn http(&self) -> Http {
        Http::new(HttpOptions::new(&self.url)).unwrap()
    }

    /// The metrics of one name, by the values of their labels.
    fn metrics(&self, name: &str) -> Counts {
        let address = self.url.strip_prefix("http://").unwrap();
        let mut stream = TcpStream::connect(address).unwrap();
        write!(stream, "GET /metrics HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let of_name = |line: &str| line.strip_prefix(name)?.strip_prefix('{').map(str::to_owned);
        let told = text.lines().filter_map(of_name).map(|line| {
            let (labels, value) = line.split_once("} ").unwrap();
            let values: Vec<_> = labels.split('"').skip(1).step_by(2).collect();
            (values.join(" "), value.parse().unwrap())
        });
        told.collect()
    }

    fn stop(mut self) {
        send(self.child.id(), Signal::TERM);
        self.child.wait().unwrap();
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        // After `stop` there is nobody left.
        let _ = self.child.kill();
    }
}

fn in_ms(ms: u64) -> Timestamp {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
    Timestamp(i64::try_from(now).unwrap()).plus_ms(ms)
}

/// A job of each path in turn, over three queues.
fn fate(number: usize) -> JobSpec {
    let retry = RetryPolicy { base_ms: 100, cap_ms: 400 };
    let spec = match number % 9 {
        0 => shell("exit 7"),
        1 => shell("[ $REMORA_ATTEMPT -gt 1 ]"),
        2 => JobSpec { scheduled_at: Some(in_ms(2_000)), ..shell("echo late > $REMORA_OUTPUT/late") },
        3 => JobSpec { timeout_ms: Some(500), max_attempts: 1, ..shell("sleep 60") },
        // Such a job is cancelled, queued or running.
        4 => count(400, Duration::from_millis(50), None),
        _ => shell("echo done > $REMORA_OUTPUT/done"),
    };
    let max_attempts = if number.is_multiple_of(9) { 2 } else { spec.max_attempts };
    JobSpec { queue: format!("q{}", number % 3), max_attempts, retry, ..spec }
}

/// Everything that SQL counts, by what it is.
fn counted(fleet: &mut Fleet) -> BTreeMap<String, Counts> {
    let answer = fleet.stores().postgres.say(include_str!("numbers.sql")).unwrap();
    let mut counted: BTreeMap<String, Counts> = BTreeMap::new();
    for line in answer.lines() {
        let [what, key, count] = line.split('|').collect::<Vec<_>>().try_into().unwrap();
        counted.entry(what.to_owned()).or_default().insert(key.to_owned(), count.parse().unwrap());
    }
    counted
}

/// What was compared, and where the two differ.
#[derive(Default)]
struct Compared {
    numbers: usize,
    differences: Vec<String>,
}

impl Compared {
    fn equal<T: PartialEq + std::fmt::Debug>(
        &mut self,
        what: &str,
        (shown, counted): (T, T),
        numbers: usize,
    ) {
        self.numbers += numbers;
        if shown != counted {
            self.differences.push(format!("{what}: shown {shown:?}, counted {counted:?}"));
        }
    }

    fn counts(&mut self, what: &str, shown: Counts, counted: &Counts) {
        let shown: Counts = shown.into_iter().filter(|(_, count)| *count > 0).collect();
        let numbers = counted.len();
        self.equal(what, (&shown, counted), numbers);
    }
}

async fn jobs_in_list(http: &Http, phase: Phase) -> (u64, u64) {
    let mut query = JobQuery { phase: vec![phase], limit: Some(500), ..JobQuery::default() };
    let (mut jobs, mut tokens) = (0, 0);
    loop {
        let page = http.jobs(&query).await.unwrap();
        for job in &page.items {
            jobs += 1;
            tokens += u64::from(job.attempt);
        }
        let Some(next) = page.next else { return (jobs, tokens) };
        query.cursor = Some(next);
    }
}

async fn compare(fleet: &mut Fleet, asked: &Asked, fleet_workers: u64) -> Compared {
    let http = asked.http();
    let mut compared = Compared::default();
    let counted = counted(fleet);
    let overview = http.overview().await.unwrap();
    let named = |jobs: &BTreeMap<Phase, u64>| -> Counts {
        jobs.iter().map(|(phase, count)| (phase.name().to_owned(), *count)).collect()
    };
    compared.counts("overview, jobs", named(&overview.jobs), &counted["jobs"]);
    let queues = http.queues().await.unwrap();
    let one = |queue: &api::v1::Queue| {
        let jobs = named(&queue.jobs).into_iter();
        jobs.map(|(phase, count)| (format!("{} {phase}", queue.queue), count)).collect::<Vec<_>>()
    };
    compared.counts("queues", queues.iter().flat_map(one).collect(), &counted["queues"]);
    compared.counts("metrics, jobs", asked.metrics("remora_jobs"), &counted["jobs"]);
    compared.counts("metrics, queues", asked.metrics("remora_queue_jobs"), &counted["unfinished"]);
    let mut shown = Counts::new();
    for minute in &overview.ends {
        let parts =
            [("succeeded", minute.succeeded), ("failed", minute.failed), ("cancelled", minute.cancelled)];
        for (phase, count) in parts {
            *shown.entry(phase.to_owned()).or_default() += count;
        }
    }
    compared.counts("overview, ends of the last hour", shown, &counted["ends"]);
    let running = counted["running"]["attempts"];
    compared.equal("permits in use", (overview.pool.in_use, Some(running)), 1);
    let workers = http.workers().await.unwrap();
    let holds: usize = workers.iter().map(|worker| worker.attempts.len()).sum();
    compared.equal("attempts of workers", (u64::try_from(holds).unwrap(), running), 1);
    compared.equal("workers", (overview.workers, Some(fleet_workers)), 1);
    compared.equal("workers in their list", (u64::try_from(workers.len()).unwrap(), fleet_workers), 1);
    compared.equal("slots", (overview.slots, Some(fleet_workers * u64::from(SLOTS))), 1);
    for phase in Phase::ALL {
        let of = |what: &str| counted[what].get(phase.name()).copied().unwrap_or(0);
        let shown = jobs_in_list(&http, phase).await;
        compared.equal(phase.name(), (shown, (of("jobs"), of("tokens"))), 2);
    }
    compared
}

/// Jobs that are still there when everything is calm: waiting, running, between two attempts.
async fn leave_some(fleet: &mut Fleet) {
    let pause = Configure { pause: Some("held".to_owned()), ..Configure::default() };
    fleet.client().configure(&pause).await.unwrap();
    let on = |queue: &str, spec| JobSpec { queue: queue.to_owned(), ..spec };
    let later = RetryPolicy { base_ms: 10_000_000_000, cap_ms: 10_000_000_000 };
    let staying = (0..5)
        .map(|_| on("held", shell("true")))
        .chain((0..3).map(|_| on("long", shell("sleep 600"))))
        .chain((0..2).map(|_| JobSpec { retry: later, ..on("later", shell("exit 7")) }));
    fleet.submit(staying).await.unwrap();
    let want = [("held queued", 5), ("later retry_wait", 2), ("long running", 3)];
    let want: Counts = want.map(|(key, count)| (key.to_owned(), count)).into();
    for _ in 0..600 {
        if counted(fleet).get("unfinished") == Some(&want) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("{:?}", counted(fleet));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_number_that_is_shown_is_what_sql_counts() {
    let mut seed = Seed::announce("fleet numbers");
    let scale = Scale::of(120, 5_000);
    let lease = Duration::from_secs(3);
    let workers = scale.either(3, 8);
    let options = FleetOptions { servers: 2, workers, slots: SLOTS, lease };
    let mut fleet = Fleet::start(env!("CARGO_BIN_EXE_remora"), options).await.unwrap();
    let jobs = fleet.submit((0..scale.jobs).map(fate)).await.unwrap();
    for job in jobs.iter().skip(4).step_by(9) {
        fleet.client().cancel(*job).await.unwrap();
    }
    let weather =
        Weather { every: lease, lasts: lease * 2, limit: Duration::from_secs(scale.either(240, 3_600)) };
    let blown = weather.blow(&mut fleet, &mut seed, &jobs).await.unwrap();
    leave_some(&mut fleet).await;
    let asked = Asked::start(&fleet);
    let mut compared = compare(&mut fleet, &asked, workers.into()).await;
    // Workers that died are told of for two lease lengths, and their places for one.
    let began = std::time::Instant::now();
    while !compared.differences.is_empty() && began.elapsed() < lease * 12 {
        tokio::time::sleep(Duration::from_millis(250)).await;
        compared = compare(&mut fleet, &asked, workers.into()).await;
    }
    println!("{seed}: {} jobs, {blown}; {} numbers compared", jobs.len(), compared.numbers);
    assert!(compared.numbers > 40, "{}", compared.numbers);
    assert_eq!(compared.differences, [""; 0], "{seed}");
    asked.stop();
}
