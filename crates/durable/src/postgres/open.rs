//! Looks at server and schema before a room is opened on them.

use pg::Unfit;
use tokio_postgres::Client;
use tokio_postgres::types::Type;
use tokio_postgres_rustls::MakeRustlsConnect;

pub(super) use pg::connect::{ask, connect};

use super::address::{Address, Statements};
use super::error::OpenError;
use super::migrate;
use super::options::Options;
use super::statements::in_schema;
use crate::section::section;

/// What a statement of `schema.sql` says.
pub(super) const fn schema_sql(name: &str) -> &'static str {
    section(include_str!("sql/schema.sql"), name)
}

/// What is there.
pub(super) struct Identity {
    pub(super) exists: bool,
    pub(super) has_ledger: bool,
    isolation: String,
}

/// Looks at server and schema, and refuses what can never be used.
pub(super) async fn identify(client: &Client, address: &Address) -> Result<Identity, OpenError> {
    let refused = |source| OpenError::Refused { place: address.place(), source };
    let params: [(&(dyn tokio_postgres::types::ToSql + Sync), Type); 1] = [(&address.schema, Type::TEXT)];
    let rows = ask(client, address, schema_sql("identity"), &params).await?;
    let row = rows.first().ok_or_else(|| OpenError::Missing { place: address.place() })?;
    let server: i32 = row.try_get("server").map_err(refused)?;
    let encoding: String = row.try_get("encoding").map_err(refused)?;
    Unfit::check(&address.place(), server, &encoding)?;
    let has_ledger = row.try_get::<_, i64>("ledger").map_err(refused)? > 0;
    let objects: i64 = row.try_get("objects").map_err(refused)?;
    if !has_ledger && objects > 0 {
        return Err(OpenError::Foreign { place: address.place(), objects });
    }
    Ok(Identity {
        exists: row.try_get("exists").map_err(refused)?,
        has_ledger,
        isolation: row.try_get("isolation").map_err(refused)?,
    })
}

/// Whether a room can be opened here; finds out how statements are sent.
pub(super) async fn look(
    address: &mut Address,
    tls: &MakeRustlsConnect,
    options: &Options,
) -> Result<(), OpenError> {
    let client = connect(address, tls).await?;
    if address.statements == Statements::Detect {
        let other = connect(address, tls).await?;
        let pooled = pg::connect::behind_a_pooler(&client, other, address).await?;
        address.statements = if pooled { Statements::Unnamed } else { Statements::Named };
    }
    let identity = identify(&client, address).await?;
    if address.statements == Statements::Unnamed {
        Unfit::check_isolation(&address.place(), &identity.isolation)?;
    }
    if !identity.has_ledger {
        return Err(OpenError::Missing { place: address.place() });
    }
    let place = address.place();
    let found = migrate::verified(&client, address).await?;
    let known = migrate::KNOWN;
    match found {
        0 => return Err(OpenError::Missing { place }),
        found if found < known => return Err(OpenError::Older { place, found, known }),
        found if found > known => return Err(OpenError::Newer { place, found, known }),
        _ => {}
    }
    let text = in_schema(schema_sql("pool_name"), &address.schema);
    let rows = ask(&client, address, &text, &[]).await?;
    let row = rows.first().ok_or_else(|| OpenError::Missing { place: address.place() })?;
    let name: String =
        row.try_get("name").map_err(|source| OpenError::Refused { place: address.place(), source })?;
    if name != options.pool {
        return Err(OpenError::OtherPool { place, found: name, wanted: options.pool.clone() });
    }
    Ok(())
}
