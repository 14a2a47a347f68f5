//! A place of the demo's own in the rooms of an installation.

use std::collections::BTreeSet;
use std::sync::Arc;

use durable::JobView;
use durable::postgres::migrate;
use protocol::NoEvents;
use remora::{Client, DataFolder, RoomUrls};
use runtime::Runtime;
use server::{Replica, ReplicaOptions, SupervisorOptions};
use target::{StageId, Target};

use super::LEASE;
use crate::failure::Failure;

/// The place, with agents and workers.
pub(super) struct Rooms {
    replica: Replica,
    left: Left,
    pub(super) client: Client,
    pub(super) target: Arc<dyn Target>,
}

/// What is there without them.
pub(super) struct Left {
    urls: RoomUrls,
    name: String,
    target: Arc<dyn Target>,
}

impl Rooms {
    pub(super) async fn start(
        urls: &RoomUrls,
        data: &DataFolder,
        workers: SupervisorOptions,
    ) -> Result<Self, Failure> {
        let name = format!("demo_{:08x}", Runtime::system().rng.next_u64() & 0xffff_ffff);
        let urls = of_its_own(urls, &name);
        migrate::up(&urls.durable, &migrate::Setup::default()).await?;
        let replica = Replica::start(ReplicaOptions {
            rooms: urls.clone(),
            lease: Some(LEASE),
            folder: data.clone(),
            workers,
            events: true,
            scraped: false,
        })
        .await?;
        let rooms = urls.open(&NoEvents::shared()).await?;
        let target = Arc::clone(&rooms.target);
        let left = Left { urls, name, target: Arc::clone(&target) };
        Ok(Self { replica, left, client: Client::of(&rooms), target })
    }

    pub(super) async fn lose_coordination(&self) -> Result<(), Failure> {
        Ok(self.left.urls.lose_coordination().await?)
    }

    pub(super) async fn shutdown(self) -> Left {
        self.replica.shutdown().await;
        self.left
    }
}

impl Left {
    pub(super) fn place(&self) -> String {
        format!("the schema, pool and prefix `{}`", self.name)
    }

    pub(super) async fn remove(self, views: &[JobView]) -> Result<(), Failure> {
        for view in views {
            for attempt in &view.attempts {
                let stage = StageId { job: view.summary.job, token: attempt.token, attempt: attempt.attempt };
                self.target.sweep(&stage, &BTreeSet::new()).await?;
            }
        }
        self.target.discard(&BTreeSet::from([target::marker::KEY.to_owned()])).await?;
        self.urls.lose_coordination().await?;
        migrate::down(&self.urls.durable).await?;
        Ok(())
    }
}

/// The same rooms, a schema, a pool and a prefix of this name in them.
fn of_its_own(urls: &RoomUrls, name: &str) -> RoomUrls {
    let (target, options) = urls.target.split_once('?').unwrap_or((&urls.target, ""));
    let target = format!("{}/{name}", target.trim_end_matches('/'));
    RoomUrls {
        durable: with(&urls.durable, "schema", name),
        coordination: with(&urls.coordination, "pool", name),
        target: if options.is_empty() { target } else { format!("{target}?{options}") },
    }
}

/// A URL with this option, whatever it had under that name before.
fn with(url: &str, option: &str, value: &str) -> String {
    let (url, options) = url.split_once('?').unwrap_or((url, ""));
    let others = options.split('&').filter(|one| !one.is_empty() && one.split('=').next() != Some(option));
    let options: Vec<String> = others.map(str::to_owned).chain([format!("{option}={value}")]).collect();
    format!("{url}?{}", options.join("&"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_of_its_own_keeps_every_other_option() {
        let urls = RoomUrls {
            durable: "postgres://u:p@h/d?sslmode=require&schema=jobs".to_owned(),
            coordination: "redis://h".to_owned(),
            target: "s3://bucket/a/?region=x".to_owned(),
        };
        let own = of_its_own(&urls, "demo_1");
        assert_eq!(own.durable, "postgres://u:p@h/d?sslmode=require&schema=demo_1");
        assert_eq!(own.coordination, "redis://h?pool=demo_1");
        assert_eq!(own.target, "s3://bucket/a/demo_1?region=x");
    }
}
