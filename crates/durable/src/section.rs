//! Finds one statement in a file of SQL, at compile time.
//!
//! A file is one action or one kind of read: a contract, then statements, each headed by `--: name`. Promises that
//! a name that is not there does not compile. Does not look inside statements.

/// The statement under `--: name`, up to the next heading.
pub(crate) const fn section(file: &'static str, name: &str) -> &'static str {
    let mut at = 0;
    while at < file.len() {
        if let Some(start) = heading(file, at, Some(name)) {
            let mut end = start;
            while end < file.len() && heading(file, end, None).is_none() {
                end += 1;
            }
            return file.split_at(end).0.split_at(start).1;
        }
        at += 1;
    }
    panic!("no statement of that name in the file");
}

/// Where the text after a heading at `at` begins, if there is one (of that name).
const fn heading(file: &str, at: usize, name: Option<&str>) -> Option<usize> {
    let text = file.as_bytes();
    if at > 0 && text[at - 1] != b'\n' || !matches(text, at, b"--: ") {
        return None;
    }
    let Some(name) = name else { return Some(at) };
    let end = at + 4 + name.len();
    if matches(text, at + 4, name.as_bytes()) && end < text.len() && text[end] == b'\n' {
        return Some(end + 1);
    }
    None
}

const fn matches(text: &[u8], at: usize, wanted: &[u8]) -> bool {
    if text.len() < at + wanted.len() {
        return false;
    }
    let mut index = 0;
    while index < wanted.len() {
        if text[at + index] != wanted[index] {
            return false;
        }
        index += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::section;

    #[test]
    fn a_statement_ends_where_the_next_one_begins() {
        const FILE: &str = "-- contract\n--: one\nSELECT 1\n--: one_more\nSELECT 2\n";
        assert_eq!(section(FILE, "one"), "SELECT 1\n");
        assert_eq!(section(FILE, "one_more"), "SELECT 2\n");
    }
}
