//! The files of SQL, without a server: each is used, and begins with its contract.

use super::statements::{FUNCTIONS, Statements};

/// Files that are no function and no read of the port.
const OTHERS: [&str; 10] = [
    "tables",
    "unmake",
    "made",
    "record_made",
    "make_ledger",
    "make_schema",
    "lock_schema",
    "identity",
    "tell",
    "listen",
];

#[test]
fn every_file_begins_with_its_contract_and_is_used() {
    let statements = Statements::new("s");
    let named: Vec<&str> = statements.all().iter().map(|(name, _)| *name).collect();
    let parts: Vec<&str> = FUNCTIONS.iter().map(|(name, _)| *name).collect();
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src/postgres/sql")).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_str().unwrap();
        assert!(std::fs::read_to_string(&path).unwrap().starts_with("-- "), "{}", path.display());
        let used = named.contains(&stem) || parts.contains(&stem) || OTHERS.contains(&stem);
        assert!(used, "{} is used", path.display());
    }
    assert!(statements.all().iter().all(|(_, text)| !text.contains(pg::schema::PLACEHOLDER)));
}

#[test]
fn every_function_of_the_port_locks_the_pools_row_first() {
    let parts = [
        "forget",
        "in_use",
        "arrive",
        "leave",
        "end_reservation",
        "end_stay",
        "add_lease",
        "renew",
        "drop_entry",
    ];
    for (name, text) in FUNCTIONS.iter().filter(|(name, _)| !parts.contains(name)) {
        let first =
            text.split("DECLARE").nth(1).unwrap().lines().find(|line| line.contains(":= ")).unwrap_or("");
        let locks = first.contains("{schema}.arrive(pool_name, believed, clock_ms)")
            || ["install_epoch", "lose"].contains(name) && text.contains("FOR UPDATE");
        assert!(locks, "{name}");
    }
}
