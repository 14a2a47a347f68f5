//! The suite over PostgreSQL.
#![expect(clippy::unwrap_used, reason = "these are tests")]

mod servers;

/// Statements prepared once a session.
mod named {
    remora_durable::durable_conformance!(crate::servers::postgres(
        crate::servers::fresh_url() + "&statements=named"
    ));
}

/// Statements sent whole, as behind a pooler in transaction mode.
mod unnamed {
    remora_durable::durable_conformance!(crate::servers::postgres(
        crate::servers::fresh_url() + "&statements=unnamed"
    ));
}
