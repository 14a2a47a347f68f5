//! The handlers: each turns a request into one call of the port, and its answer into a document.

pub(crate) mod access;
pub(crate) mod changes;
pub(crate) mod explain;
pub(crate) mod jobs;
pub(crate) mod login;
pub(crate) mod pool;
pub(crate) mod results;
pub(crate) mod state;

use std::str::FromStr;

use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::request::Parts;
use protocol::{Incarnation, JobId};

use crate::problem::{Refused, Reply};

/// What stands in the path's places, decoded.
pub(crate) struct Places(Vec<(String, String)>);

impl<S: Send + Sync> FromRequestParts<S> for Places {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Reply<Self> {
        let strange = |_| Refused::from(api::Problem::not_found("such path: it is no UTF-8"));
        let places = RawPathParams::from_request_parts(parts, state).await.map_err(strange)?;
        Ok(Self(places.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()))
    }
}

impl Places {
    pub(crate) fn text(&self, name: &str) -> &str {
        self.0.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    fn id<T: FromStr>(&self, name: &str) -> Reply<T> {
        let text = self.text(name);
        let shown: String = text.chars().take(64).collect();
        text.parse().map_err(|_| api::Problem::not_found(format_args!("{name} `{shown}`")).into())
    }

    pub(crate) fn job(&self) -> Reply<JobId> {
        self.id("job")
    }

    pub(crate) fn worker(&self) -> Reply<Incarnation> {
        self.id("incarnation").map_err(|_| {
            let shown: String = self.text("incarnation").chars().take(64).collect();
            api::Problem::not_found(format_args!("worker `{shown}`")).into()
        })
    }
}
