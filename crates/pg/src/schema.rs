//! The one thing that is put into a statement: the name of the schema it lies in.
//!
//! Promises that the name is quoted whatever it is, and that nothing else is ever put into a statement.

/// What stands for the schema's name in files of SQL.
pub const PLACEHOLDER: &str = "{schema}";

/// The name as an identifier of SQL.
#[must_use]
pub fn quoted(schema: &str) -> String {
    format!("\"{}\"", schema.replace('"', "\"\""))
}

/// The text with the schema's name in it.
#[must_use]
pub fn in_schema(text: &str, schema: &str) -> String {
    text.replace(PLACEHOLDER, &quoted(schema))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_is_quoted_whatever_its_name() {
        assert_eq!(in_schema("FROM {schema}.job", "a\"b"), "FROM \"a\"\"b\".job");
    }
}
