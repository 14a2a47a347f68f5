//! Speaking to PostgreSQL: what the rooms that lie in it have in common.
//!
//! Promises: a URL means what libpq makes of it; TLS refuses what it was asked to verify and cannot; every call ends by
//! its time limit; what went wrong is said by whether the request may have been applied. Does not know any room, any table
//! or any statement beyond a session's settings.

pub mod address;
pub mod connect;
pub mod params;
pub mod schema;
pub mod session;
pub mod tls;
pub mod trouble;
mod unfit;

pub use tokio_postgres::Row;

use tokio_postgres::types::FromSql;
use trouble::Trouble;
pub use unfit::Unfit;

/// A column of a row.
///
/// # Errors
/// A bad row, where the column is not there or holds something else.
pub fn get<'a, T: FromSql<'a>>(row: &'a Row, column: &str) -> Result<T, Trouble> {
    row.try_get(column).map_err(|error| Trouble::BadRow(format!("column {column}: {error}")))
}
