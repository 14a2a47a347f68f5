//! Broken connections, time limits, cut links: what a client says of its requests.

use std::error::Error;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use coordination::{Coordination, CoordinationReads, Wake};
use durable::{Durable, DurableReads};
use protocol::{FaultKind, JobId};

use super::fake::{Owner, at, soon};
use crate::client::{ClientOptions, ConnectError, DurableClient};
use crate::server::ServerOptions;

#[tokio::test]
async fn a_fault_of_the_room_arrives_with_its_kind_text_and_causes() {
    let owner = Owner::start().await;
    let fault = owner.durable().await.pool().await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Unreachable);
    assert_eq!(fault.doing, "pool");
    assert_eq!(fault.source().unwrap().to_string(), "fake");
}

#[tokio::test]
async fn a_request_that_was_written_is_ambiguous_when_the_owner_dies_and_the_next_is_unreachable() {
    let mut owner = Owner::start().await;
    let client = owner.durable().await;
    owner.durable.held.send_replace(true);
    let asking = tokio::spawn({
        let client = client.clone();
        async move { client.submit(&at(1).origin, &[]).await }
    });
    owner.called(1).await;
    drop(owner.server.take());
    assert_eq!(asking.await.unwrap().unwrap_err().kind, FaultKind::Ambiguous);
    tokio::time::timeout(Duration::from_secs(5), client.closed()).await.expect("the loss is told");
    assert!(!client.is_connected());
    assert_eq!(client.pool().await.unwrap_err().kind, FaultKind::Unreachable);
}

#[tokio::test]
async fn a_client_finds_the_next_owner_by_itself_and_wakes_everybody() {
    let mut owner = Owner::start().await;
    let client = owner.coordination().await;
    let mut wakes = client.wakes();
    owner.server.take().unwrap().shutdown().await;
    soon(|| !client.is_connected()).await;
    assert!(!owner.path().join(crate::SOCKET).exists(), "a shutdown removes the socket");
    owner.serve(ServerOptions::default());
    soon(|| client.is_connected()).await;
    assert_eq!(wakes.recv().await.unwrap(), Wake::Epoch);
    assert!(client.pool().await.unwrap().open);
}

#[tokio::test]
async fn a_request_whose_time_is_up_is_ambiguous_and_the_limit_can_change() {
    let owner = Owner::start().await;
    let limit = Arc::new(AtomicU64::new(50));
    let client = DurableClient::connect(owner.options().with_time_limit(limit.clone())).await.unwrap();
    owner.durable.held.send_replace(true);
    assert_eq!(client.pool().await.unwrap_err().kind, FaultKind::Ambiguous);
    limit.store(60_000, std::sync::atomic::Ordering::Relaxed);
    let asking = client.pool();
    owner.durable.held.send_replace(false);
    assert_eq!(asking.await.unwrap_err().kind, FaultKind::Unreachable, "the fake's own answer");
}

#[tokio::test]
async fn one_link_is_cut_and_restored_while_the_other_stays_and_nobody_calls_it_the_owners_end() {
    let owner = Owner::start().await;
    let (durable, coordination) = (owner.durable().await, owner.coordination().await);
    let switch = coordination.switch();
    switch.cut();
    soon(|| !coordination.is_connected()).await;
    assert_eq!(coordination.pool().await.unwrap_err().kind, FaultKind::Unreachable);
    assert!(durable.is_connected());
    switch.restore();
    soon(|| coordination.is_connected()).await;
    assert!(coordination.pool().await.is_ok());
    assert!(tokio::time::timeout(Duration::from_millis(20), coordination.closed()).await.is_err());
}

#[tokio::test]
async fn a_shutdown_lets_requests_under_way_end() {
    let mut owner = Owner::start().await;
    let client = owner.durable().await;
    owner.durable.held.send_replace(true);
    let asking = tokio::spawn(async move { client.pool().await });
    owner.called(1).await;
    let stopping = tokio::spawn(owner.server.take().unwrap().shutdown());
    soon(|| !owner.path().join(crate::SOCKET).exists()).await;
    owner.durable.held.send_replace(false);
    assert_eq!(asking.await.unwrap().unwrap_err().doing, "pool", "the room's own answer");
    stopping.await.unwrap();
}

#[tokio::test]
async fn a_caller_that_stops_waiting_leaves_nothing_behind() {
    let owner = Owner::start().await;
    let client = owner.durable().await;
    owner.durable.held.send_replace(true);
    assert!(tokio::time::timeout(Duration::from_millis(20), client.pool()).await.is_err());
    owner.durable.held.send_replace(false);
    assert_eq!(client.pool().await.unwrap_err().doing, "pool");
}

#[tokio::test]
async fn a_folder_without_an_owner_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let error = DurableClient::connect(ClientOptions::new(folder.path(), "test")).await.unwrap_err();
    assert!(matches!(error, ConnectError::NoOwner { .. }));
    assert!(error.to_string().contains(folder.path().to_str().unwrap()));
}

#[tokio::test]
async fn a_folder_whose_path_is_longer_than_a_sockets_address_is_served() {
    let mut owner = Owner::start().await;
    let long = owner.path().join("d".repeat(100)).join("e".repeat(100));
    std::fs::create_dir_all(&long).unwrap();
    let listener = crate::server::Listener::bind(&long).unwrap();
    drop(owner.server.take());
    let rooms = crate::server::Rooms {
        durable: owner.durable.clone(),
        coordination: owner.coordination.clone(),
        control: Arc::new(super::fake::Echo),
    };
    let _server = crate::server::serve(listener, rooms, ServerOptions::default());
    let client = DurableClient::connect(ClientOptions::new(&long, "test")).await.unwrap();
    assert_eq!(client.pool().await.unwrap_err().doing, "pool");
}

#[tokio::test]
async fn only_the_owners_user_may_connect_and_an_old_socket_is_replaced() {
    let mut owner = Owner::start().await;
    let mode = std::fs::metadata(owner.path().join(crate::SOCKET)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    drop(owner.server.take());
    assert!(owner.path().join(crate::SOCKET).exists(), "left behind, as by a killed owner");
    owner.serve(ServerOptions::default());
    assert!(owner.control().await.ask("hello").await.unwrap().is_ok());
}

#[tokio::test]
async fn wake_ups_are_pushed() {
    let owner = Owner::start().await;
    let client = owner.coordination().await;
    client.pool().await.unwrap();
    let mut wakes = client.wakes();
    owner.coordination.nudge(&[JobId(3)]).await.unwrap();
    assert_eq!(wakes.recv().await.unwrap(), Wake::Nudged(vec![JobId(3)]));
}
