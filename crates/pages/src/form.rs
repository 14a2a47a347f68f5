//! What a person chose, in a query or a form: names and values, any of them more than once.
//!
//! Promises that a field left empty is as one left out: that is how browsers send forms.

use std::str::FromStr;

use api::Problem;
use api::v1::Code;

/// Names and values.
#[derive(Debug, Default)]
pub(crate) struct Fields(Vec<(String, String)>);

impl Fields {
    /// From the text of a query or of a form.
    pub(crate) fn read(text: &str) -> Self {
        let pairs = form_urlencoded::parse(text.as_bytes());
        let trimmed = pairs.map(|(name, value)| (name.into_owned(), value.trim().to_owned()));
        Self(trimmed.filter(|(_, value)| !value.is_empty()).collect())
    }

    /// All values of a name.
    pub(crate) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.0.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The first value of a name.
    pub(crate) fn one(&self, name: &str) -> Option<&str> {
        self.all(name).next()
    }

    /// The first value of a name, as an owned text.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        self.one(name).map(str::to_owned)
    }

    /// The first value of a name, read.
    pub(crate) fn read_as<T: FromStr>(&self, name: &str, allowed: &str) -> Result<Option<T>, Problem> {
        self.one(name).map(|text| text.parse().map_err(|_| wrong(name, text, allowed))).transpose()
    }
}

/// A field is wrong.
pub(crate) fn wrong(field: &str, value: &str, allowed: &str) -> Problem {
    let shown: String = value.chars().take(64).collect();
    Problem {
        field: Some(field.into()),
        allowed: Some(allowed.into()),
        value: Some(shown.as_str().into()),
        ..Problem::new(Code::Invalid, format!("{field} is `{shown}`; allowed is {allowed}"))
    }
}

/// A link's query of these names and values.
pub(crate) fn query<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let mut text = form_urlencoded::Serializer::new(String::new());
    for (name, value) in pairs {
        text.append_pair(name, value);
    }
    text.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_left_empty_is_left_out_and_one_given_twice_has_two_values() {
        let fields = Fields::read("phase=queued&kind=&phase=failed&text=+a%20b+&x");
        assert_eq!(fields.all("phase").collect::<Vec<_>>(), ["queued", "failed"]);
        assert_eq!(fields.one("kind"), None);
        assert_eq!(fields.one("text"), Some("a b"));
        assert!(fields.read_as::<u32>("text", "a number").unwrap_err().detail.contains("`a b`"));
        assert_eq!(query([("text", "a&b=c")]), "text=a%26b%3Dc");
    }
}
