//! The suite over SQLite.
#![expect(clippy::unwrap_used, reason = "these are tests")]

mod stores;

use remora_durable::conformance::CASES;

remora_durable::durable_conformance!(crate::stores::sqlite());

#[test]
fn every_case_in_the_suites_is_listed() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/conformance");
    for (suite, names) in CASES {
        let source = std::fs::read_to_string(format!("{folder}/{suite}.rs")).unwrap();
        let mut written: Vec<_> = source
            .lines()
            .filter_map(|line| line.strip_prefix("pub async fn ")?.strip_suffix("(world: World) {"))
            .collect();
        let mut listed = names.to_vec();
        written.sort_unstable();
        listed.sort_unstable();
        assert_eq!(written, listed, "{suite}");
    }
    let files = std::fs::read_dir(folder).unwrap().count();
    assert_eq!(files, CASES.len() + 4, "suites, and beside them: cases, mod, walk, world");
}
