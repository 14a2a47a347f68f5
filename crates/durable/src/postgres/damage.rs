//! Damages a row, for the conformance suite: also those who must not know SQL can bring PostgreSQL as its fixture.

use protocol::JobId;
use tokio_postgres::types::Type;

use super::address::Address;
use super::params::Id;
use super::statements::in_schema;
use super::{open, tls};

/// Leaves half of what a job asks for, so that the row cannot be decoded.
///
/// # Panics
/// When there is no such job in the schema that the URL names, or no such schema.
pub async fn damage(url: &str, job: JobId) {
    let address: Address = url.parse().expect("the fixture's URL can be read");
    let tls = tls::connector(&address).expect("the fixture's server needs no certificate");
    let client = open::connect(&address, &tls).await.expect("the fixture's server is there");
    let text = in_schema(include_str!("sql/damage.sql"), &address.schema);
    let damaged = client.execute_typed(&text, &[(&Id(job.to_bytes()), Type::UUID)]).await;
    assert_eq!(damaged.expect("the statement runs"), 1, "{job} is in {}", address.place());
}
