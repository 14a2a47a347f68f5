//! Looks at server and schema before a room is opened on them, and makes what is missing.
//!
//! Promises: made by one process at a time, whole or not at all; what another release made is replaced, because all that
//! lies in it can be lost, unless that release is newer. Does not touch a schema that holds anything else.

use pg::Unfit;
use pg::address::Statements as Sending;
use pg::connect::{ConnectError, ask, behind_a_pooler, connect};
use pg::schema::in_schema;
use tokio_postgres::Client;
use tokio_postgres::types::Type;
use tokio_postgres_rustls::MakeRustlsConnect;

use super::address::Address;
use super::error::OpenError;
use super::statements::{FUNCTIONS, TABLES};

/// The version of what is made here; raised when tables or functions change.
const VERSION: i32 = 2;

const IDENTITY: &str = include_str!("sql/identity.sql");
const LOCK: &str = include_str!("sql/lock_schema.sql");
const MADE: &str = include_str!("sql/made.sql");
const MAKE_LEDGER: &str = include_str!("sql/make_ledger.sql");
const MAKE_SCHEMA: &str = include_str!("sql/make_schema.sql");
const RECORD: &str = include_str!("sql/record_made.sql");
const UNMAKE: &str = include_str!("sql/unmake.sql");

/// Finds out how statements are sent, and makes the schema ready.
pub(super) async fn make_ready(address: &mut Address, tls: &MakeRustlsConnect) -> Result<(), OpenError> {
    let mut client = connect(&address.server, tls).await?;
    if address.server.statements == Sending::Detect {
        let other = connect(&address.server, tls).await?;
        let pooled = behind_a_pooler(&client, other, &address.server).await?;
        address.server.statements = if pooled { Sending::Unnamed } else { Sending::Named };
    }
    let found = identify(&client, address).await?;
    if address.server.statements == Sending::Unnamed {
        Unfit::check_isolation(&address.to_string(), &found.isolation)?;
    }
    if found.made && is_current(&client, address).await? {
        return Ok(());
    }
    make(&mut client, address).await
}

/// What is there.
struct Identity {
    exists: bool,
    made: bool,
    isolation: String,
}

fn refused(address: &Address) -> impl Fn(tokio_postgres::Error) -> ConnectError + '_ {
    |source| ConnectError::Refused { place: address.server.place(), source }
}

async fn identify(client: &Client, address: &Address) -> Result<Identity, OpenError> {
    let rows = ask(client, &address.server, IDENTITY, &[(&address.server.schema, Type::TEXT)]).await?;
    let [row] = rows.as_slice() else { unreachable!("a select over one row answers one") };
    let place = || address.server.place();
    let server: i32 = row.try_get("server").map_err(refused(address))?;
    let encoding: String = row.try_get("encoding").map_err(refused(address))?;
    Unfit::check(&place(), server, &encoding)?;
    let made: bool = row.try_get("made").map_err(refused(address))?;
    let objects: i64 = row.try_get("objects").map_err(refused(address))?;
    if !made && objects > 0 {
        return Err(OpenError::Foreign { place: place(), objects });
    }
    let isolation = row.try_get("isolation").map_err(refused(address))?;
    Ok(Identity { exists: row.try_get("exists").map_err(refused(address))?, made, isolation })
}

/// What this program would make, in one word.
fn digest() -> String {
    let mut all = blake3::Hasher::new();
    all.update(TABLES.as_bytes());
    for (_, text) in FUNCTIONS {
        all.update(text.as_bytes());
    }
    all.finalize().to_hex().to_string()
}

/// Whether what is there is what this program makes.
async fn is_current(client: &Client, address: &Address) -> Result<bool, OpenError> {
    let text = in_schema(MADE, &address.server.schema);
    let rows = ask(client, &address.server, &text, &[]).await?;
    let Some(row) = rows.first() else { return Ok(false) };
    let found: i32 = row.try_get("version").map_err(refused(address))?;
    if found > VERSION {
        return Err(OpenError::Newer { place: address.server.place(), found, known: VERSION });
    }
    let made: String = row.try_get("digest").map_err(refused(address))?;
    Ok(found == VERSION && made == digest())
}

async fn make(client: &mut Client, address: &Address) -> Result<(), OpenError> {
    let schema = &address.server.schema;
    let cannot = |source| OpenError::Make { place: address.server.place(), source };
    let transaction = client.transaction().await.map_err(cannot)?;
    transaction.query_typed(LOCK, &[(schema, Type::TEXT)]).await.map_err(cannot)?;
    // Another process may have been faster.
    let found = identify(transaction.client(), address).await?;
    if found.made && is_current(transaction.client(), address).await? {
        return Ok(());
    }
    // Whoever may use a schema that is there need not be allowed to make one.
    if !found.exists {
        transaction.batch_execute(&in_schema(MAKE_SCHEMA, schema)).await.map_err(cannot)?;
    }
    for text in [MAKE_LEDGER, UNMAKE, TABLES].into_iter().chain(FUNCTIONS.iter().map(|(_, text)| *text)) {
        transaction.batch_execute(&in_schema(text, schema)).await.map_err(cannot)?;
    }
    let record = in_schema(RECORD, schema);
    let made =
        [(&VERSION as &(dyn tokio_postgres::types::ToSql + Sync), Type::INT4), (&digest(), Type::TEXT)];
    transaction.query_typed(&record, &made).await.map_err(cannot)?;
    transaction.commit().await.map_err(cannot)
}
