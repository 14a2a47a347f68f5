//! The query of a URL.
//!
//! Promises: a name that is not known is refused by name, a value that cannot be read by name and value; what is not
//! UTF-8, holds a NUL or stands there twice, too.

use std::fmt::Display;
use std::str::FromStr;

use api::v1::Code;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use percent_encoding::percent_decode_str;

use crate::problem::{Refused, Reply};

/// The pairs that were not taken yet.
pub(crate) struct Query(Vec<(String, String)>);

impl<S: Sync> FromRequestParts<S> for Query {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Reply<Self> {
        Self::parse(parts.uri.query().unwrap_or_default())
    }
}

fn wrong(name: &str, value: &str, why: impl Display) -> Refused {
    let shown: String = value.chars().take(64).collect();
    let mut refused = Refused::new(Code::Invalid, format!("the query's `{name}` is {why}")).field(name);
    refused.0.value = Some(shown.into());
    refused
}

fn decoded(text: &str) -> Reply<String> {
    let spaced = text.replace('+', " ");
    let decoded = percent_decode_str(&spaced).decode_utf8();
    let decoded = decoded.map_err(|_| Refused::new(Code::Invalid, "the query is no UTF-8"))?;
    if decoded.contains('\0') {
        return Err(Refused::new(Code::Invalid, "the query holds a NUL").allowed("text without NUL"));
    }
    Ok(decoded.into_owned())
}

impl Query {
    pub(crate) fn parse(query: &str) -> Reply<Self> {
        let pairs = query.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Ok((decoded(name)?, decoded(value)?))
        });
        pairs.collect::<Reply<Vec<_>>>().map(Self)
    }

    /// Every value of a name; values may be joined by commas.
    pub(crate) fn all<T: FromStr<Err: Display>>(&mut self, name: &str) -> Reply<Vec<T>> {
        let mut found = Vec::new();
        let mut rest = Vec::new();
        for (known, value) in std::mem::take(&mut self.0) {
            if known == name {
                for one in value.split(',') {
                    found
                        .push(one.parse().map_err(|error| wrong(name, one, format_args!("wrong: {error}")))?);
                }
            } else {
                rest.push((known, value));
            }
        }
        self.0 = rest;
        Ok(found)
    }

    /// The text of a name.
    pub(crate) fn text(&mut self, name: &str) -> Reply<Option<String>> {
        let Some(place) = self.0.iter().position(|(known, _)| known == name) else { return Ok(None) };
        let (_, value) = self.0.remove(place);
        if self.0.iter().any(|(known, _)| known == name) {
            return Err(wrong(name, &value, "there twice"));
        }
        Ok(Some(value))
    }

    /// The value of a name.
    pub(crate) fn one<T: FromStr<Err: Display>>(&mut self, name: &str) -> Reply<Option<T>> {
        let read =
            |text: String| text.parse().map_err(|error| wrong(name, &text, format_args!("wrong: {error}")));
        self.text(name)?.map(read).transpose()
    }

    /// A number between two others.
    pub(crate) fn number(&mut self, name: &str, (least, most): (u32, u32)) -> Reply<Option<u32>> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        let allowed = format!("{least} to {most}");
        match text.parse::<u32>() {
            // A sign or leading zeros are no number of JSON's.
            Ok(number) if (least..=most).contains(&number) && number.to_string() == text => Ok(Some(number)),
            _ => Err(wrong(name, &text, format_args!("not a number of {allowed}")).allowed(&allowed)),
        }
    }

    /// Nothing may be left.
    pub(crate) fn end(self) -> Reply<()> {
        match self.0.first() {
            None => Ok(()),
            Some((name, value)) => Err(wrong(name, value, "not known here")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(reply: Reply<impl Sized>) -> String {
        reply.err().unwrap().0.detail.to_string()
    }

    #[test]
    fn values_are_taken_by_name_and_nothing_may_be_left() {
        let mut query = Query::parse("a=1,2&b=x%20y+z&a=3").unwrap();
        assert_eq!(query.all::<u32>("a").unwrap(), [1, 2, 3]);
        assert_eq!(query.text("b").unwrap().as_deref(), Some("x y z"));
        query.end().unwrap();
        assert!(refused(Query::parse("zeal=1").unwrap().end()).contains("`zeal` is not known here"));
        assert!(refused(Query::parse("a=1&a=2").unwrap().text("a")).contains("there twice"));
        assert!(refused(Query::parse("a=%ff")).contains("no UTF-8"));
        assert!(refused(Query::parse("a=%00")).contains("NUL"));
        for text in ["0", "1001", "-1", "+1", "01", "x", "1.0", ""] {
            let text = text.replace('+', "%2B");
            let mut query = Query::parse(&format!("limit={text}")).unwrap();
            assert!(refused(query.number("limit", (1, 1_000))).contains("not a number of 1 to 1000"));
        }
    }
}
