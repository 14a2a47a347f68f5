//! Brings the schema of a file up to date.
//!
//! Promises: ordered, forward only, all or nothing; a file that was changed after it was applied is refused by its
//! checksum. The rule for authors: a release's schema must still serve the release before it.

use std::path::Path;

use protocol::Timestamp;
use rusqlite::{Connection, named_params};

use super::error::OpenError;
use super::options::Options;
use super::section::sql;

/// `RMRA`: whose file it is.
pub(super) const APPLICATION_ID: i32 = 0x524d_5241;

struct Migration {
    number: i32,
    name: &'static str,
    sql: &'static str,
}

const MIGRATIONS: &[Migration] = &[
    Migration { number: 1, name: "first", sql: sql!("migrations/0001_first") },
    Migration { number: 2, name: "finished", sql: sql!("migrations/0002_finished") },
    Migration { number: 3, name: "access", sql: sql!("migrations/0003_access") },
    Migration { number: 4, name: "belonging", sql: sql!("migrations/0004_belonging") },
    Migration { number: 5, name: "raiser", sql: sql!("migrations/0005_raiser") },
];

/// The schema's version in this program.
pub(super) const KNOWN: i32 = 5;

/// What a file says of itself.
#[derive(Debug, Clone, Copy)]
pub(super) struct Identity {
    application_id: i32,
    pub(super) user_version: i32,
    objects: i64,
}

/// Reads whose file it is, and refuses one of another program or of a newer release.
pub(super) fn identify(connection: &Connection, path: &Path) -> Result<Identity, OpenError> {
    let identity = connection
        .query_row(sql!("schema", "identity"), [], |row| {
            Ok(Identity {
                application_id: row.get("application_id")?,
                user_version: row.get("user_version")?,
                objects: row.get("objects")?,
            })
        })
        .map_err(|source| super::open::refused(path, source))?;
    let Identity { application_id, user_version, objects } = identity;
    let is_new = application_id == 0 && user_version == 0 && objects == 0;
    if !is_new && application_id != APPLICATION_ID {
        return Err(OpenError::Foreign { path: path.to_owned(), application_id, user_version });
    }
    if user_version > KNOWN {
        return Err(OpenError::Newer { path: path.to_owned(), found: user_version, known: KNOWN });
    }
    Ok(identity)
}

/// Applies what is missing, in one transaction, and writes the pool's row of a new file.
pub(super) fn migrate(
    connection: &mut Connection,
    path: &Path,
    options: &Options,
    now: Timestamp,
) -> Result<(), OpenError> {
    let refused = |source| super::open::refused(path, source);
    if identify(connection, path)?.user_version < KNOWN {
        connection.execute_batch(sql!("connection", "begin_exclusive")).map_err(refused)?;
        // Another process may have been here while this one waited for the lock.
        let reached = identify(connection, path)?.user_version;
        connection.execute_batch(sql!("schema", "ledger")).map_err(refused)?;
        for migration in MIGRATIONS.iter().filter(|migration| migration.number > reached) {
            apply(connection, migration, now).map_err(refused)?;
        }
        let lease_ms = super::column::at_most(options.lease_ms);
        connection
            .execute(
                sql!("schema", "first_pool"),
                named_params! {":name": options.pool, ":lease_ms": lease_ms, ":global_limit": options.global_limit},
            )
            .map_err(refused)?;
        connection.pragma_update(None, "application_id", APPLICATION_ID).map_err(refused)?;
        connection.pragma_update(None, "user_version", KNOWN).map_err(refused)?;
        connection.execute_batch(sql!("connection", "commit")).map_err(refused)?;
    }
    verify(connection, path)
}

fn apply(connection: &Connection, migration: &Migration, now: Timestamp) -> rusqlite::Result<()> {
    connection.execute_batch(migration.sql)?;
    connection.execute(
        sql!("schema", "record"),
        named_params! {
            ":number": migration.number,
            ":name": migration.name,
            ":checksum": checksum(migration),
            ":at": now.0,
        },
    )?;
    Ok(())
}

/// Compares what was applied with what this program would apply.
pub(super) fn verify(connection: &Connection, path: &Path) -> Result<(), OpenError> {
    let read = || -> rusqlite::Result<Vec<(i32, String, Vec<u8>)>> {
        let mut statement = connection.prepare(sql!("schema", "applied"))?;
        statement
            .query_map([], |row| Ok((row.get("number")?, row.get("name")?, row.get("checksum")?)))?
            .collect()
    };
    let applied = read().map_err(|source| super::open::refused(path, source))?;
    for (number, name, found) in applied {
        let known = MIGRATIONS.iter().find(|migration| migration.number == number);
        if known.is_none_or(|migration| checksum(migration).as_slice() != found) {
            return Err(OpenError::Checksum { path: path.to_owned(), number, name });
        }
    }
    Ok(())
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
