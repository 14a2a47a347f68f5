//! Brings a schema up to date, and takes it away.
//!
//! Promises: ordered, each migration all or nothing in a transaction of its own, so that one killed in between goes on
//! where it was; safe twice and at once (an advisory lock in the schema's name, held for the transaction); a file that
//! was changed after it was applied is refused by its checksum. The rule for authors: a release's schema must still serve
//! the release before it.

use std::fmt::Write as _;

use tokio_postgres::Client;
use tokio_postgres::types::Type;
use tokio_postgres_rustls::MakeRustlsConnect;

use super::address::Address;
use super::error::OpenError;
use super::open::{ask, connect, identify, schema_sql};
use super::statements::{in_schema, quoted};
use super::tls;
use crate::Configure;

struct Migration {
    number: i32,
    name: &'static str,
    sql: &'static str,
}

const MIGRATIONS: &[Migration] = &[
    Migration { number: 1, name: "first", sql: include_str!("sql/migrations/0001_first.sql") },
    Migration { number: 2, name: "submit", sql: include_str!("sql/migrations/0002_submit.sql") },
    Migration { number: 3, name: "finished", sql: include_str!("sql/migrations/0003_finished.sql") },
    Migration { number: 4, name: "access", sql: include_str!("sql/migrations/0004_access.sql") },
    Migration { number: 5, name: "belonging", sql: include_str!("sql/migrations/0005_belonging.sql") },
    Migration { number: 6, name: "raiser", sql: include_str!("sql/migrations/0006_raiser.sql") },
];

/// The schema's version in this program.
pub const KNOWN: i32 = 6;

/// What a new schema's pool is made with; later it is changed by `configure`.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The pool's name: `default`.
    pub pool: String,
    /// The lease length in milliseconds: 15,000. Too small: a busy machine loses leases and attempts. Too large: a lost
    /// worker is noticed late.
    pub lease_ms: u64,
    /// Places to run: 1,000. Too small: jobs wait beside idle workers. Too large: nothing holds back what all jobs
    /// together load.
    pub global_limit: u32,
}

impl Default for Setup {
    fn default() -> Self {
        Self { pool: "default".to_owned(), lease_ms: 15_000, global_limit: 1_000 }
    }
}

/// How far a schema has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// Where, for people.
    pub place: String,
    /// The version found: 0 for none.
    pub found: i32,
    /// The version of this program.
    pub known: i32,
    /// What was applied just now, by name.
    pub applied: Vec<String>,
}

/// Applies what is missing, and writes the pool's row of a new schema.
///
/// # Errors
/// Says what is wrong with the URL, the server or the schema, by name.
pub async fn up(url: &str, setup: &Setup) -> Result<Status, OpenError> {
    let (address, tls) = read(url)?;
    let asked = Configure {
        global_limit: Some(setup.global_limit),
        lease_ms: Some(setup.lease_ms),
        ..Configure::default()
    };
    let bad_option = |source| OpenError::BadOption { place: address.place(), source };
    asked.validate().map_err(bad_option)?;
    protocol::job::check_name("pool", &setup.pool).map_err(bad_option)?;
    let mut client = connect(&address, &tls).await?;
    let mut applied = Vec::new();
    while let Some(name) = step(&mut client, &address, setup).await? {
        applied.push(name);
    }
    let found = verified(&client, &address).await?;
    Ok(Status { place: address.place(), found, known: KNOWN, applied })
}

/// Removes the schema with all jobs in it.
///
/// # Errors
/// Says what is wrong with the URL, the server or the schema, by name; one that is not ours stays.
pub async fn down(url: &str) -> Result<Status, OpenError> {
    let (address, tls) = read(url)?;
    let mut client = connect(&address, &tls).await?;
    let refused = |source| OpenError::Refused { place: address.place(), source };
    let transaction = client.transaction().await.map_err(refused)?;
    transaction.query_typed(schema_sql("lock"), &[(&address.schema, Type::TEXT)]).await.map_err(refused)?;
    identify(transaction.client(), &address).await?;
    transaction.batch_execute(&in_schema(schema_sql("drop"), &address.schema)).await.map_err(refused)?;
    transaction.commit().await.map_err(refused)?;
    Ok(Status { place: address.place(), found: 0, known: KNOWN, applied: Vec::new() })
}

/// Looks how far a schema has come.
///
/// # Errors
/// Says what is wrong with the URL, the server or the schema, by name.
pub async fn status(url: &str) -> Result<Status, OpenError> {
    let (address, tls) = read(url)?;
    let client = connect(&address, &tls).await?;
    let found =
        if identify(&client, &address).await?.has_ledger { verified(&client, &address).await? } else { 0 };
    Ok(Status { place: address.place(), found, known: KNOWN, applied: Vec::new() })
}

/// The text of all migrations for a schema that is not there yet, for those who let only their own tools change a
/// database; then the grants for a role that does the daily work.
#[must_use]
pub fn sql(schema: &str, setup: &Setup) -> String {
    let mut text = format!("BEGIN;\n\n{}", in_schema(schema_sql("make"), schema));
    for migration in MIGRATIONS {
        let hex: String = checksum(migration).iter().map(|byte| format!("{byte:02x}")).collect();
        let record = format!(
            "INSERT INTO {}.migration (number, name, checksum) VALUES ({}, '{}', '\\x{hex}');\n",
            quoted(schema),
            migration.number,
            migration.name
        );
        // Writing into a text does not fail.
        let _ = write!(text, "\n{}\n{record}", in_schema(migration.sql, schema));
    }
    let pool = setup.pool.replace('\'', "''");
    let _ = write!(
        text,
        "INSERT INTO {}.pool (name, lease_ms, global_limit) VALUES ('{pool}', {}, {});\n\nCOMMIT;\n\n{}",
        quoted(schema),
        setup.lease_ms,
        setup.global_limit,
        grants(schema, "remora_worker"),
    );
    text
}

/// What a role needs that does only the daily work.
#[must_use]
pub fn grants(schema: &str, role: &str) -> String {
    in_schema(include_str!("sql/migrations/grants.sql"), schema).replace("{role}", &quoted(role))
}

fn read(url: &str) -> Result<(Address, MakeRustlsConnect), OpenError> {
    let address: Address = url.parse()?;
    let tls = tls::connector(&address)?;
    Ok((address, tls))
}

/// Applies the next migration, if one is missing; answers its name.
async fn step(client: &mut Client, address: &Address, setup: &Setup) -> Result<Option<String>, OpenError> {
    let refused = |source| OpenError::Refused { place: address.place(), source };
    let transaction = client.transaction().await.map_err(refused)?;
    transaction.query_typed(schema_sql("lock"), &[(&address.schema, Type::TEXT)]).await.map_err(refused)?;
    let identity = identify(transaction.client(), address).await?;
    let reached = if identity.has_ledger { verified(transaction.client(), address).await? } else { 0 };
    let Some(next) = MIGRATIONS.iter().find(|migration| migration.number > reached) else {
        return Ok(None);
    };
    if !identity.has_ledger {
        let make = in_schema(schema_sql("make"), &address.schema);
        // Whoever may use a schema that is there need not be allowed to make one.
        let make = if identity.exists {
            make.replacen("CREATE SCHEMA IF NOT EXISTS", "-- there is", 1)
        } else {
            make
        };
        transaction.batch_execute(&make).await.map_err(refused)?;
    }
    transaction.batch_execute(&in_schema(next.sql, &address.schema)).await.map_err(refused)?;
    let record = in_schema(schema_sql("record"), &address.schema);
    transaction
        .query_typed(
            &record,
            &[(&next.number, Type::INT4), (&next.name, Type::TEXT), (&checksum(next).to_vec(), Type::BYTEA)],
        )
        .await
        .map_err(refused)?;
    if next.number == KNOWN {
        first_pool(transaction.client(), address, setup).await?;
    }
    transaction.commit().await.map_err(refused)?;
    Ok(Some(next.name.to_owned()))
}

async fn first_pool(client: &Client, address: &Address, setup: &Setup) -> Result<(), OpenError> {
    let text = in_schema(schema_sql("first_pool"), &address.schema);
    let lease_ms = crate::form::at_most(setup.lease_ms);
    let global_limit = super::params::small(setup.global_limit);
    let params: [(&(dyn tokio_postgres::types::ToSql + Sync), Type); 3] =
        [(&setup.pool, Type::TEXT), (&lease_ms, Type::INT8), (&global_limit, Type::INT4)];
    ask(client, address, &text, &params).await?;
    Ok(())
}

/// The version of a schema that has a ledger, whose migrations are those of this program as far as it knows them.
pub(super) async fn verified(client: &Client, address: &Address) -> Result<i32, OpenError> {
    let refused = |source| OpenError::Refused { place: address.place(), source };
    let text = in_schema(schema_sql("applied"), &address.schema);
    let mut reached = 0;
    for row in ask(client, address, &text, &[]).await? {
        let number: i32 = row.try_get("number").map_err(refused)?;
        let name: String = row.try_get("name").map_err(refused)?;
        let found: Vec<u8> = row.try_get("checksum").map_err(refused)?;
        let known = MIGRATIONS.iter().find(|migration| migration.number == number);
        if known.is_some_and(|migration| checksum(migration).as_slice() != found) {
            return Err(OpenError::Checksum { place: address.place(), number, name });
        }
        reached = number;
    }
    Ok(reached)
}

fn checksum(migration: &Migration) -> [u8; 32] {
    *blake3::hash(migration.sql.as_bytes()).as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn migrations_are_numbered_from_one_without_gaps() {
        let numbers: Vec<_> = MIGRATIONS.iter().map(|migration| migration.number).collect();
        assert_eq!(numbers, (1..=KNOWN).collect::<Vec<_>>());
    }
}
