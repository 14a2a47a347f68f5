//! Many requests at once.

use coordination::{Coordination, CoordinationReads};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use protocol::Incarnation;

use super::fake::{Owner, at};

#[tokio::test]
async fn ten_thousand_requests_may_be_under_way_on_one_connection() {
    let owner = Owner::start().await;
    let client = owner.coordination().await;
    let mut under_way: FuturesUnordered<_> = (0..10_000)
        .map(|number| {
            let client = client.clone();
            async move { client.deregister(&at(number), Incarnation(number.into())).await }
        })
        .collect();
    let mut answered = 0;
    while let Some(answer) = under_way.next().await {
        answer.unwrap();
        answered += 1;
    }
    assert_eq!(answered, 10_000);
}

#[tokio::test]
async fn a_request_that_takes_long_holds_no_other_up() {
    let owner = Owner::start().await;
    let (durable, coordination) = (owner.durable().await, owner.coordination().await);
    owner.durable.held.send_replace(true);
    let held: Vec<_> = (0..100)
        .map(|_| {
            let durable = durable.clone();
            tokio::spawn(async move { durable::DurableReads::pool(&durable).await })
        })
        .collect();
    owner.called(100).await;
    assert!(coordination.pool().await.is_ok());
    owner.durable.held.send_replace(false);
    for answer in held {
        assert!(answer.await.unwrap().is_err());
    }
}
