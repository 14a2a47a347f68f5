//! The files of SQL of this adapter.

pub(super) use crate::section::section;

/// A file of SQL, one after another, or one statement of it.
macro_rules! sql {
    ($file:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/sqlite/sql/", $file, ".sql"))
    };
    ($first:literal + $second:literal) => {
        concat!(sql!($first), sql!($second))
    };
    ($file:literal, $name:literal) => {
        const { $crate::sqlite::section::section(sql!($file), $name) }
    };
}
pub(super) use sql;
