//! Connections of their own, for what is done at start or by hand.
//!
//! Promises that connecting and asking end by the address's time limit. Does not try again.

use tokio::time::timeout;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Row};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::address::Address;

/// A server that cannot be spoken to.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// No connection to the server: it is not there, does not answer, does not let this user in, or is not who it should
    /// be.
    #[error("cannot connect to {place}")]
    Connect {
        /// The place.
        place: String,
        /// Why.
        source: tokio_postgres::Error,
    },
    /// The server does not answer in time.
    #[error("no answer in time from {place}")]
    Slow {
        /// The place.
        place: String,
    },
    /// The server refuses what it was asked.
    #[error("{place}: the server refuses")]
    Refused {
        /// The place.
        place: String,
        /// What it says.
        source: tokio_postgres::Error,
    },
}

/// A connection of its own, which ends with the value.
///
/// # Errors
/// When there is no connection in time.
pub async fn connect(address: &Address, tls: &MakeRustlsConnect) -> Result<Client, ConnectError> {
    let place = address.place();
    let connected = timeout(address.call_timeout, address.config.connect(tls.clone())).await;
    let (client, connection) = match connected {
        Ok(Ok(both)) => both,
        Ok(Err(source)) => return Err(ConnectError::Connect { place, source }),
        Err(_) => return Err(ConnectError::Slow { place }),
    };
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "a connection ended");
        }
    });
    Ok(client)
}

/// Asks without preparing: also good behind a pooler.
///
/// # Errors
/// When the server refuses, or gives no answer in time.
pub async fn ask(
    client: &Client,
    address: &Address,
    text: &str,
    params: &[(&(dyn ToSql + Sync), Type)],
) -> Result<Vec<Row>, ConnectError> {
    let refused = |source| ConnectError::Refused { place: address.place(), source };
    match timeout(address.call_timeout, client.query_typed(text, params)).await {
        Ok(answer) => answer.map_err(refused),
        Err(_) => Err(ConnectError::Slow { place: address.place() }),
    }
}

/// Whether one connection may be given another session of the server with each transaction: while another connection is
/// inside one, a session that was ours is seen in its hands, or ours has become another.
///
/// # Errors
/// When the server refuses, or gives no answer in time.
pub async fn behind_a_pooler(
    client: &Client,
    mut other: Client,
    address: &Address,
) -> Result<bool, ConnectError> {
    let refused = |source| ConnectError::Refused { place: address.place(), source };
    let session = include_str!("sql/backend.sql");
    let pid =
        |rows: Vec<Row>| rows.first().map(|row| row.try_get::<_, i32>("pid")).transpose().map_err(refused);
    let first = pid(ask(client, address, session, &[]).await?)?;
    let transaction = other.transaction().await.map_err(refused)?;
    let held = pid(transaction.query_typed(session, &[]).await.map_err(refused)?)?;
    let second = pid(ask(client, address, session, &[]).await?)?;
    transaction.rollback().await.map_err(refused)?;
    Ok(first != second || first == held)
}
