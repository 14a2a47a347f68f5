//! What the room on S3 is told: by its URL, and by whoever opens it.

use std::path::PathBuf;
use std::time::Duration;

use crate::open::OpenError;
use crate::s3::keys::unescape;

/// The most that a prefix may have, so that the names of results still fit into a key.
const PREFIX_BYTES: usize = 400;
const NAMES: &str = "endpoint, region, path_style, ca_file, anonymous, conditional, bulk_delete, requests, \
                     retry_ms, answer_ms";

/// A pair of keys that is given rather than found.
#[derive(Clone)]
pub struct Keys {
    /// The access key's id.
    pub id: String,
    /// The secret.
    pub secret: String,
    /// A session's token, where there is one.
    pub token: Option<String>,
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Keys").field("id", &self.id).finish_non_exhaustive()
    }
}

/// `s3://bucket/prefix?name=value&…`.
#[derive(Debug, Clone)]
pub struct S3Options {
    /// The bucket. It must exist.
    pub bucket: String,
    /// What all keys begin with, without slashes at its ends; may be empty. Two installations in one bucket need two.
    pub prefix: String,
    /// `endpoint`: where the store answers, for anything but AWS; else `AWS_ENDPOINT_URL`, else AWS itself.
    pub endpoint: Option<String>,
    /// `region`; else `AWS_REGION` or `AWS_DEFAULT_REGION`, else `us-east-1`.
    pub region: Option<String>,
    /// `path_style`: the bucket in the path rather than in the host name. Default: where an endpoint is given, or the
    /// bucket's name has a dot.
    pub path_style: Option<bool>,
    /// `ca_file`: certificates (PEM) to trust beside the system's.
    pub ca_file: Option<PathBuf>,
    /// `anonymous`: sign nothing. Default false.
    pub anonymous: bool,
    /// `conditional`: write parts with `If-None-Match`. Default true; false only for stores that refuse the header,
    /// and then a write that was thought lost may land on a later one under the same number.
    pub conditional: bool,
    /// `bulk_delete`: delete up to 1,000 objects a request. Default true; false for stores without it.
    pub bulk_delete: bool,
    /// `requests`: how many at once one call may make. Default 16. Fewer: results of many files are laid out more
    /// slowly. More: the store answers `SlowDown`, and each connection costs memory.
    pub requests: usize,
    /// `retry_ms`: how long a request is repeated, once at least. Default 60,000; 0: never. Shorter: a hiccup of the store costs an attempt.
    /// Longer: a store that is down is found out late.
    pub retry_for: Duration,
    /// `answer_ms`: how long one answer may be waited for, beside the time for the bytes sent (512 KiB/s), and how long
    /// it may pause in the middle. Default 30,000. Shorter:
    /// slow answers are asked for again. Longer: a dead connection is noticed late.
    pub answer_for: Duration,
    /// Keys to use rather than to look for. Never part of a URL, which is shown and logged.
    pub keys: Option<Keys>,
}

fn refused(field: &str, value: &str, allowed: &str) -> OpenError {
    OpenError(format!("the target's {field} is {value:?}; allowed is {allowed}"))
}

impl S3Options {
    /// A bucket and a prefix, the rest by default.
    #[must_use]
    pub fn new(bucket: impl Into<String>, prefix: &str) -> Self {
        Self {
            bucket: bucket.into(),
            prefix: prefix.trim_matches('/').to_owned(),
            endpoint: None,
            region: None,
            path_style: None,
            ca_file: None,
            anonymous: false,
            conditional: true,
            bulk_delete: true,
            requests: 16,
            retry_for: Duration::from_secs(60),
            answer_for: Duration::from_secs(30),
            keys: None,
        }
    }

    /// Reads a URL.
    ///
    /// # Errors
    /// When it is none of this form, or a name or value in it is unknown.
    pub fn parse(url: &str) -> Result<Self, OpenError> {
        let form = "s3://bucket/prefix?name=value&…";
        let rest = url.strip_prefix("s3://").ok_or_else(|| refused("URL", url, form))?;
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (bucket, prefix) = place.split_once('/').unwrap_or((place, ""));
        let safe = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | '_');
        if bucket.is_empty() || !bucket.chars().all(safe) {
            // Whatever stands before an `@` is somebody's secret.
            return Err(refused("bucket", bucket.rsplit('@').next().unwrap_or_default(), form));
        }
        let prefix = unescape(prefix).ok_or_else(|| refused("prefix", prefix, "UTF-8"))?;
        let mut options = Self::new(bucket, &prefix);
        let inside = options.prefix.split('/').all(|name| !matches!(name, "" | "." | ".."));
        if !(options.prefix.is_empty() || inside && options.prefix.len() <= PREFIX_BYTES) {
            return Err(refused("prefix", &prefix, "names with a / between them, up to 400 bytes"));
        }
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let value = unescape(value).ok_or_else(|| refused(name, value, "UTF-8"))?;
            options.set(name, value)?;
        }
        Ok(options)
    }

    fn set(&mut self, name: &str, value: String) -> Result<(), OpenError> {
        match name {
            "endpoint" if value.starts_with("http://") || value.starts_with("https://") => {
                self.endpoint = Some(value.trim_end_matches('/').to_owned());
            }
            "endpoint" => return Err(refused(name, &value, "http://host:port or https://host:port")),
            "region" => self.region = Some(value),
            "path_style" => self.path_style = Some(switch(name, &value)?),
            "ca_file" => self.ca_file = Some(value.into()),
            "anonymous" => self.anonymous = switch(name, &value)?,
            "conditional" => self.conditional = switch(name, &value)?,
            "bulk_delete" => self.bulk_delete = switch(name, &value)?,
            "requests" => self.requests = number(name, &value, 1, 256)?,
            "retry_ms" => self.retry_for = Duration::from_millis(number(name, &value, 0, 600_000)?),
            "answer_ms" => self.answer_for = Duration::from_millis(number(name, &value, 100, 600_000)?),
            // The value may be a secret that somebody put there.
            _ => return Err(OpenError(format!("the target's URL has {name:?}; known there are {NAMES}"))),
        }
        Ok(())
    }

    /// The URL without what it leaves to defaults.
    #[must_use]
    pub fn shown(&self) -> String {
        format!("s3://{}/{}", self.bucket, self.prefix)
    }

    /// The whole key of a key of the room.
    pub(super) fn whole(&self, key: &str) -> String {
        if self.prefix.is_empty() { key.to_owned() } else { format!("{}/{key}", self.prefix) }
    }
}

fn switch(name: &str, value: &str) -> Result<bool, OpenError> {
    value.parse().map_err(|_| refused(name, value, "true or false"))
}

fn number<T>(name: &str, value: &str, least: T, most: T) -> Result<T, OpenError>
where
    T: std::str::FromStr + PartialOrd + std::fmt::Display,
{
    let number = value.parse().ok().filter(|number| *number >= least && *number <= most);
    number.ok_or_else(|| refused(name, value, &format!("a number from {least} to {most}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(url: &str) -> String {
        S3Options::parse(url).unwrap_err().to_string()
    }

    #[test]
    fn a_url_says_everything_but_the_keys() {
        let url = "s3://my.bucket/a/b%20c/?endpoint=http%3A%2F%2Fhost:9000/&region=eu-1&path_style=false\
                   &conditional=false&bulk_delete=false&requests=4&retry_ms=5&answer_ms=100&anonymous=true&ca_file=/ca";
        let options = S3Options::parse(url).unwrap();
        assert_eq!((options.bucket.as_str(), options.prefix.as_str()), ("my.bucket", "a/b c"));
        assert_eq!(options.endpoint.as_deref(), Some("http://host:9000"));
        assert_eq!((options.region.as_deref(), options.path_style), (Some("eu-1"), Some(false)));
        assert_eq!((options.conditional, options.bulk_delete, options.anonymous), (false, false, true));
        assert_eq!((options.requests, options.ca_file), (4, Some("/ca".into())));
        assert_eq!(options.retry_for, Duration::from_millis(5));
        assert_eq!(options.answer_for, Duration::from_millis(100));
        let short = S3Options::parse("s3://b").unwrap();
        assert_eq!((short.whole("k").as_str(), short.shown().as_str()), ("k", "s3://b/"));
    }

    #[test]
    fn what_is_wrong_in_a_url_is_named_with_what_is_allowed() {
        assert!(text("s3:bucket").contains("s3://bucket/prefix"));
        assert!(text("s3://").contains("bucket"));
        assert!(text("s3://b?requests=0").contains("from 1 to 256"));
        assert!(text("s3://b?path_style=yes").contains("true or false"));
        assert!(text("s3://b?endpoint=host").contains("http://host:port"));
        assert!(text("s3://b/a//c").contains("prefix"));
        assert!(text("s3://b/%ff").contains("UTF-8"));
        assert!(text(&format!("s3://b/{}", "x".repeat(401))).contains("400 bytes"));
    }

    #[test]
    fn a_secret_in_a_url_is_refused_and_not_repeated() {
        for url in ["s3://id:hush@bucket/", "s3://b?secret_access_key=hush"] {
            let text = text(url);
            assert!(!text.contains("hush"), "{text}");
        }
    }
}
