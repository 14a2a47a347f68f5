//! Random walks: every answer must be the model's, and the limit must hold at every step.

use protocol::{Guard, Step};

use super::model::Model;
use super::pool::{LEASE, Pool, millis, usual, window};

/// Steps of one walk.
const STEPS: u32 = 1_500;
const LIMIT: u32 = 4;

/// A small generator, the same in every run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn id(&mut self, bound: u64) -> u128 {
        u128::from(self.below(bound) + 1)
    }
}

struct Walk<'a> {
    pool: &'a Pool,
    model: Model,
    chance: Chance,
    /// Ids up to this one have been used for reservations.
    reservations: u64,
    /// Revisions of the configuration used.
    configured: u64,
    epochs: u64,
}

/// A walk without losses, then one with.
pub async fn every_answer_is_the_models_and_the_limit_holds(pool: &Pool) {
    for seed in 1..=4 {
        walk(pool, seed).await;
    }
}

async fn walk(pool: &Pool, seed: u64) {
    let epochs = pool.state().await.mark.epoch.max(seed * 1_000);
    let mut walk = Walk {
        pool,
        model: Model::default(),
        chance: Chance(seed),
        reservations: seed * 1_000_000,
        configured: epochs,
        epochs,
    };
    walk.new_epoch(true).await;
    for step in 0..STEPS {
        let action = walk.chance.below(24);
        let (mine, theirs) = walk.act(action).await;
        assert_eq!(theirs, mine, "seed {seed}, step {step}, action {action}: {:?}", walk.model);
        walk.compare(seed, step).await;
    }
}

/// A step's answer, without its effect but for the ids that matter.
type Said = Result<Vec<u128>, Guard>;

fn said(step: Step<impl Sized>) -> Said {
    step.refused().map_or(Ok(Vec::new()), Err)
}

fn nothing(verdict: Result<(), Guard>) -> Said {
    verdict.map(|()| Vec::new())
}

fn list(steps: Vec<Step<u128>>) -> Said {
    steps
        .into_iter()
        .map(|step| match step {
            Step::Taken(id) => Ok(id),
            Step::Refused(guard) => Err(guard),
            Step::SetAside(reason) => panic!("set aside: {reason}"),
        })
        .collect()
}

impl Walk<'_> {
    async fn new_epoch(&mut self, open: bool) {
        self.epochs += 1;
        self.model.install(self.epochs);
        self.model.limit = usize::try_from(LIMIT).expect("a small number");
        self.pool.install(self.epochs, LIMIT).await;
        if open {
            self.open().await;
        }
    }

    async fn open(&mut self) {
        self.model.open = true;
        self.pool.open_epoch().await;
    }

    async fn act(&mut self, action: u64) -> (Said, Said) {
        match action {
            0..=14 => self.ordinary(action).await,
            15..=19 => self.rare(action).await,
            _ => self.world(action).await,
        }
    }

    async fn ordinary(&mut self, action: u64) -> (Said, Said) {
        let (pool, model, chance) = (self.pool, &mut self.model, &mut self.chance);
        let (job, attempt, worker) = (chance.id(5), chance.id(6), chance.id(2));
        let id = u128::from(self.reservations - chance.below(6));
        match action {
            0..=2 => {
                let (priority, position) = (if chance.below(2) == 0 { 1 } else { 2 }, chance.below(50));
                let queue = if priority == 1 { window("p", 1) } else { usual() };
                let mine = nothing(model.enqueue(job, priority, position));
                (mine, said(pool.enqueue_into(job, queue, position).await))
            }
            3..=5 => {
                self.reservations += chance.below(2);
                let id = u128::from(self.reservations);
                let mine = model.reserve(worker, id).map(|job| vec![job]);
                let theirs = pool.reserve_from(worker, id, &[window("p", 1), usual()]).await;
                let refused = theirs.refused();
                (mine, theirs.taken().map(|one| vec![one.job.0]).ok_or(refused.unwrap_or(Guard::JobExists)))
            }
            6..=9 => {
                // Half of the time for the job that the reservation is for, so that it often succeeds.
                let (job, worker) = self.holder_of(id).await.unwrap_or((job, worker));
                let mine = nothing(self.model.activate(job, attempt, id, worker));
                (mine, said(pool.activate(job, attempt, id, worker).await))
            }
            10 => {
                let (job, worker) = self.holder_of(id).await.unwrap_or((job, worker));
                let mine = nothing(self.model.hand_back(job, id, worker));
                (mine, said(pool.hand_back(job, id, worker).await))
            }
            11 => {
                let mine = nothing(model.release_reservation(job, id));
                (mine, said(pool.release_reservation(job, id).await))
            }
            12 => (nothing(model.renew(job, attempt, worker)), said(pool.renew(job, attempt, worker).await)),
            13 => (nothing(model.release(job, attempt)), said(pool.release(job, attempt).await)),
            _ => {
                let done = chance.below(2);
                let mine = nothing(model.report(job, attempt, worker, done));
                (mine, said(pool.report(job, attempt, worker, done).await))
            }
        }
    }

    /// Job and holder of a reservation that is held.
    async fn holder_of(&self, id: u128) -> Option<(u128, u128)> {
        let holdings = self.pool.room().holdings(None, 100).await.expect("an answer");
        holdings.jobs.iter().find_map(|held| {
            let (reservation, worker) = held.reservation?;
            (reservation.0 == id).then_some((held.job.0, worker.0))
        })
    }

    async fn rare(&mut self, action: u64) -> (Said, Said) {
        let (pool, model, chance) = (self.pool, &mut self.model, &mut self.chance);
        let (job, attempt, worker) = (chance.id(5), chance.id(6), chance.id(2));
        match action {
            15 => (nothing(model.notice(job)), said(pool.notice(job, attempt).await)),
            16 => (nothing(model.clean(job)), said(pool.clean(job).await)),
            17 => {
                let claimed = model.epoch - chance.below(2);
                let mine = nothing(model.observe(job, attempt, worker, claimed));
                (mine, said(pool.observe(job, attempt, worker, claimed).await))
            }
            18 => {
                (nothing(model.restore(job, attempt, worker)), said(pool.restore(job, attempt, worker).await))
            }
            _ => (nothing(model.settle(attempt)), said(pool.settle(attempt).await)),
        }
    }

    async fn world(&mut self, action: u64) -> (Said, Said) {
        match action {
            20 => {
                let by = LEASE / u32::try_from(2 + self.chance.below(8)).expect("a small number");
                self.pool.advance(by).await;
                self.model.pass(millis(by));
                // The walk's worker lives on.
                self.pool.register(&super::pool::serving(100)).await;
                (self.model.expire(), list(self.pool.expire(100).await))
            }
            21 => (self.model.drop_overdue(), list(self.pool.drop_overdue(100).await)),
            22 => {
                self.configured = self.configured.max(self.epochs) + 1;
                self.model.paused = !self.model.paused;
                let paused: &[&str] = if self.model.paused { &["p"] } else { &[] };
                self.pool.configure(self.configured, LIMIT, paused).await;
                (Ok(Vec::new()), Ok(Vec::new()))
            }
            _ if !self.model.open => {
                let attempt = self.chance.id(6);
                let mine = nothing(self.model.account(attempt));
                let theirs = said(self.pool.account(&[attempt]).await);
                if self.chance.below(3) == 0 {
                    self.open().await;
                }
                (mine, theirs)
            }
            _ => {
                if self.chance.below(8) == 0 {
                    self.pool.lose().await;
                    self.configured = self.epochs + 1;
                    self.new_epoch(false).await;
                }
                (Ok(Vec::new()), Ok(Vec::new()))
            }
        }
    }

    async fn compare(&self, seed: u64, step: u32) {
        let state = self.pool.state().await;
        let theirs = [state.queued, state.reservations, state.leases, state.unaccounted];
        assert_eq!(theirs, self.model.counts(), "seed {seed}, step {step}: {:?}", self.model);
        assert_eq!(state.grace_over, self.model.grace_over(), "seed {seed}, step {step}");
        // Accounting counts what runs already, whatever the limit; all else keeps it.
        assert!(self.model.in_use() <= usize::try_from(LIMIT).expect("a small number").max(6));
        assert!(state.reservations + state.leases <= self.model.in_use());
        let holdings = self.pool.room().holdings(None, 100).await.expect("an answer");
        let leases: usize = holdings.jobs.iter().map(|held| held.leases.len()).sum();
        let reservations = holdings.jobs.iter().filter(|held| held.reservation.is_some()).count();
        assert_eq!((leases, reservations), (state.leases, state.reservations), "seed {seed}, step {step}");
    }
}
