//! Opens the file: as its writer, as a reader beside the writer, or as a visitor who may only look.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, named_params};

use super::clock::Clock;
use super::error::OpenError;
use super::header::{Found, examine, log_is_empty};
use super::migrate;
use super::options::Options;
use super::section::sql;
use super::trouble::Trouble;
use crate::Configure;

/// How long to wait for a lock that another process holds.
const BUSY: Duration = Duration::from_secs(5);
/// Prepared statements kept by a connection: all there are.
const STATEMENTS: usize = 128;

/// How a reading connection comes to the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// In the process that owns the file.
    Owner,
    /// Without owning it: the file itself is opened for reading only.
    Visitor,
    /// Without owning it, in a folder in which nothing can be created: there is no log and nobody writes.
    Still,
}

/// The error for what SQLite says of the file.
pub(super) fn refused(path: &Path, source: rusqlite::Error) -> OpenError {
    let path = path.to_owned();
    match source.sqlite_error_code() {
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => OpenError::Damaged { path, source },
        _ => OpenError::Refused { path, source },
    }
}

/// Opens the file for writing; makes it when it is missing, brings its schema up to date when it is old.
pub(super) fn writer(path: &Path, options: &Options, clock: &Clock) -> Result<Connection, OpenError> {
    let asked = Configure {
        global_limit: Some(options.global_limit),
        lease_ms: Some(options.lease_ms),
        ..Configure::default()
    };
    let bad_option = |source| OpenError::BadOption { path: path.to_owned(), source };
    asked.validate().map_err(bad_option)?;
    protocol::job::check_name("pool", &options.pool).map_err(bad_option)?;
    examine(path)?;
    let refused = |source| refused(path, source);
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags).map_err(refused)?;
    settle(&connection).map_err(refused)?;
    migrate::identify(&connection, path)?;
    connection.execute_batch(sql!("connection", "writer")).map_err(refused)?;
    let mode: String =
        connection.pragma_query_value(None, "journal_mode", |row| row.get(0)).map_err(refused)?;
    if mode != "wal" {
        return Err(OpenError::NoWal { path: path.to_owned(), found: mode });
    }
    migrate::migrate(&mut connection, path, options, clock.now())?;
    let found: String = connection
        .query_row(sql!("schema", "pool_name"), named_params! {}, |row| row.get(0))
        .map_err(refused)?;
    if found != options.pool {
        let wanted = options.pool.clone();
        return Err(OpenError::OtherPool { path: path.to_owned(), found, wanted });
    }
    Ok(connection)
}

/// What every connection is set to. Stable plans: else statements would be prepared anew with every parameter.
fn settle(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}

/// Finds the way in which the file can be looked at without owning it.
pub(super) fn visit(path: &Path) -> Result<Way, OpenError> {
    if examine(path)? == Found::Nothing {
        return Err(OpenError::Missing { path: path.to_owned() });
    }
    match look(path, Way::Visitor) {
        Err(OpenError::Refused { source, .. }) if log_is_empty(path) && cannot_create(&source) => {
            look(path, Way::Still)
        }
        other => other,
    }
}

fn look(path: &Path, way: Way) -> Result<Way, OpenError> {
    let connection = reader(path, way).map_err(|trouble| match trouble {
        Trouble::Sql(source) => refused(path, source),
        Trouble::BadRow(reason) => {
            OpenError::Unreadable { path: path.to_owned(), source: std::io::Error::other(reason) }
        }
    })?;
    let found = migrate::identify(&connection, path)?.user_version;
    if found < migrate::KNOWN {
        return Err(OpenError::Older { path: path.to_owned(), found, known: migrate::KNOWN });
    }
    migrate::verify(&connection, path)?;
    Ok(way)
}

/// Whether the trouble is a folder in which the files of the log cannot be made.
fn cannot_create(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied)
    )
}

/// A connection that only reads.
pub(super) fn reader(path: &Path, way: Way) -> Result<Connection, Trouble> {
    let connection = match way {
        Way::Owner => {
            let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            Connection::open_with_flags(path, flags)?
        }
        Way::Visitor => {
            let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            Connection::open_with_flags(path, flags)?
        }
        Way::Still => {
            let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
                | OpenFlags::SQLITE_OPEN_NO_MUTEX
                | OpenFlags::SQLITE_OPEN_URI;
            Connection::open_with_flags(still_uri(path)?, flags)?
        }
    };
    settle(&connection)?;
    connection.execute_batch(sql!("connection", "reader"))?;
    Ok(connection)
}

/// The address that tells SQLite that nobody changes the file.
fn still_uri(path: &Path) -> Result<String, Trouble> {
    let path = std::path::absolute(path)
        .map_err(|error| Trouble::BadRow(format!("{} has no absolute path: {error}", path.display())))?;
    let mut uri = "file:".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-_.".contains(byte) {
            uri.push(char::from(*byte));
        } else {
            write!(uri, "%{byte:02X}").map_err(|_| Trouble::BadRow("out of memory".to_owned()))?;
        }
    }
    uri.push_str("?immutable=1");
    Ok(uri)
}
