//! One request to S3 and its repetition.
//!
//! Promises that a request is repeated for a bounded time while the store is out of reach, busy or answers half, each
//! time signed anew; that no answer is taken into memory beyond [`REPLY_BYTES`]; that neither errors nor logs show a
//! credential. Every request here may be carried out twice: whoever asks reads back where that matters. Of
//! `object_store` come credentials, signatures and connections.

use std::io;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use http::{HeaderMap, Method};
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey, AwsAuthorizer, AwsCredentialProvider};
use object_store::client::{HttpClient, HttpConnector, HttpRequest, HttpRequestBody, HttpResponse};
use object_store::{Certificate, ClientOptions, RetryConfig};
use thiserror::Error;

use super::keys::escape;
use super::options::S3Options;
use super::xml::{self, Reason};
use crate::open::OpenError;
use crate::port::TargetFault;

/// More than any answer here needs: a range of an object, a page of a listing.
const REPLY_BYTES: usize = 16 << 20;
/// What is granted a request for the bytes that it sends, or has the store copy, beside `answer_for`.
const BYTES_A_SECOND: u64 = 512 << 10;
/// What is granted an answer from its first byte to its last.
const BODY: Duration = Duration::from_secs(300);
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(3);
/// Where there are no credentials a little while brings none; an instance's role may be a moment late.
const SIGNING_TRIES: u32 = 2;
/// How long each source of credentials is asked.
const CREDENTIALS: Duration = Duration::from_secs(5);
const CONNECT: Duration = Duration::from_secs(5);

/// What is asked.
#[derive(Debug, Clone)]
pub(super) struct Request {
    pub method: Method,
    /// A key of the room; empty for the bucket itself.
    pub key: String,
    pub query: Vec<(&'static str, String)>,
    pub headers: Vec<(&'static str, String)>,
    pub body: Bytes,
    /// Bytes that the store handles for it, beside its body.
    pub bytes: u64,
    /// Whether the answer is XML, which may be a refusal under a status of success.
    pub xml: bool,
}

impl Request {
    pub(super) fn new(method: Method, key: &str) -> Self {
        let (query, headers) = (Vec::new(), Vec::new());
        Self { method, key: key.to_owned(), query, headers, body: Bytes::new(), bytes: 0, xml: false }
    }

    pub(super) fn query(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.query.push((name, value.into()));
        self
    }

    pub(super) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub(super) fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    pub(super) fn handling(mut self, bytes: u64) -> Self {
        self.bytes = bytes;
        self
    }

    pub(super) fn xml(mut self) -> Self {
        self.xml = true;
        self
    }
}

/// What was answered, with a status of success.
#[derive(Debug)]
pub(super) struct Reply {
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Reply {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Of the object, not of this answer, where the answer is a range.
    pub(super) fn object_length(&self) -> Option<u64> {
        let range = self.header("content-range").and_then(|range| range.rsplit('/').next());
        range.or_else(|| self.header("content-length"))?.parse().ok()
    }
}

/// Why there is no such answer.
#[derive(Debug, Error)]
pub(super) enum Refusal {
    #[error("the store answered {status} {code}: {message}{after}", after = after(*tries))]
    Answer { status: u16, code: String, message: String, tries: u32 },
    #[error("the store gave no answer{after}", after = after(*tries))]
    Silence { tries: u32, source: Box<dyn std::error::Error + Send + Sync> },
    #[error("no credentials were found to sign with{after}", after = after(*tries))]
    Unsigned { tries: u32, source: Box<dyn std::error::Error + Send + Sync> },
}

fn after(tries: u32) -> String {
    if tries > 1 { format!(" (asked {tries} times)") } else { String::new() }
}

impl Refusal {
    fn silence(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Silence { tries: 1, source: source.into() }
    }

    pub(super) fn status(&self) -> u16 {
        if let Self::Answer { status, .. } = self { *status } else { 0 }
    }

    pub(super) fn code(&self) -> &str {
        if let Self::Answer { code, .. } = self { code } else { "" }
    }

    /// Whether the object is not there, which is another thing than that its bucket is not.
    pub(super) fn is_missing(&self) -> bool {
        self.status() == 404 && self.code() != "NoSuchBucket"
    }

    /// Whether asking again may help. 409 says that another write was under way.
    fn is_passing(&self) -> bool {
        const CODES: [&str; 8] = [
            "SlowDown",
            "InternalError",
            "ServiceUnavailable",
            "RequestTimeout",
            "ThrottlingException",
            "OperationAborted",
            "ConditionalRequestConflict",
            "ExpiredToken",
        ];
        let Self::Answer { status, code, .. } = self else { return true };
        let passing = matches!(status, 408 | 409 | 425 | 429 | 500 | 502 | 503 | 504);
        CODES.contains(&code.as_str()) || passing && code != "BucketAlreadyExists"
    }

    fn tried(mut self, count: u32) -> Self {
        match &mut self {
            Self::Answer { tries, .. } | Self::Silence { tries, .. } | Self::Unsigned { tries, .. } => {
                *tries = count
            }
        }
        self
    }

    fn kind(&self) -> io::ErrorKind {
        const FULL: [&str; 3] = ["XMinioStorageFull", "InsufficientStorage", "EntityTooLargeForQuota"];
        match self {
            Self::Silence { .. } => io::ErrorKind::TimedOut,
            Self::Unsigned { .. } => io::ErrorKind::PermissionDenied,
            Self::Answer { code, .. } if FULL.contains(&code.as_str()) => io::ErrorKind::StorageFull,
            Self::Answer { code, .. } if code.contains("Quota") => io::ErrorKind::QuotaExceeded,
            Self::Answer { status: 507, .. } => io::ErrorKind::StorageFull,
            Self::Answer { status: 401 | 403, .. } => io::ErrorKind::PermissionDenied,
            Self::Answer { status: 404, .. } => io::ErrorKind::NotFound,
            Self::Answer { .. } => io::ErrorKind::Other,
        }
    }
}

/// Speaks to one bucket.
#[derive(Debug)]
pub(super) struct Client {
    pub options: S3Options,
    http: HttpClient,
    credentials: Option<AwsCredentialProvider>,
    region: String,
    /// Scheme, host and, in path style, the bucket.
    base: String,
}

fn refused(error: &object_store::Error) -> OpenError {
    OpenError(format!("the target on S3 cannot be opened: {error}"))
}

impl Client {
    pub(super) fn open(options: S3Options, connector: &dyn HttpConnector) -> Result<Self, OpenError> {
        // Two providers may be compiled in through others; the first that is installed stays.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = AmazonS3Builder::from_env().with_bucket_name(&options.bucket);
        if let Some(keys) = &options.keys {
            builder = builder.with_access_key_id(&keys.id).with_secret_access_key(&keys.secret);
            builder = if let Some(token) = &keys.token { builder.with_token(token) } else { builder };
        }
        let known = |key| builder.get_config_value(&key).filter(|value| !value.is_empty());
        let region = options.region.clone().or_else(|| known(AmazonS3ConfigKey::Region));
        let region = region.or_else(|| known(AmazonS3ConfigKey::DefaultRegion));
        let region = region.unwrap_or_else(|| "us-east-1".to_owned());
        let endpoint = options.endpoint.clone().or_else(|| known(AmazonS3ConfigKey::Endpoint));
        let base = base(&options, endpoint.as_deref(), &region);
        let connection = connection(&options)?;
        let http = connector.connect(&connection).map_err(|error| refused(&error))?;
        let retry = RetryConfig { max_retries: 2, retry_timeout: CREDENTIALS, ..RetryConfig::default() };
        let builder = builder.with_region(&region).with_client_options(connection).with_retry(retry);
        let store = builder.build();
        let credentials = store.map_err(|error| refused(&error))?.credentials().clone();
        let credentials = (!options.anonymous).then_some(credentials);
        Ok(Self { options, http, credentials, region, base })
    }

    pub(super) fn fault(&self, doing: &str, key: &str, refusal: Refusal) -> TargetFault {
        let object = format!("s3://{}/{}", self.options.bucket, self.options.whole(key));
        TargetFault::new(format!("{doing} {object}"), io::Error::new(refusal.kind(), refusal))
    }

    /// Asks until there is an answer that asking again would not change, or time is up.
    pub(super) async fn ask(&self, request: &Request) -> Result<Reply, Refusal> {
        let begun = Instant::now();
        let (mut pause, mut tries) = (FIRST_PAUSE, 1);
        loop {
            let refusal = match self.ask_once(request).await {
                Ok(reply) => return Ok(reply),
                Err(refusal) => refusal,
            };
            // One request may take longer than that alone; a connection that died is no reason to give up.
            let over = tries > 1 || self.options.retry_for.is_zero();
            let unsigned = matches!(refusal, Refusal::Unsigned { .. }) && tries >= SIGNING_TRIES;
            if unsigned || !refusal.is_passing() || over && begun.elapsed() + pause >= self.options.retry_for
            {
                return Err(refusal.tried(tries));
            }
            tokio::time::sleep(jittered(pause)).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
            tries += 1;
        }
    }

    pub(super) async fn ask_once(&self, request: &Request) -> Result<Reply, Refusal> {
        let sent = u64::try_from(request.body.len()).unwrap_or(u64::MAX);
        let seconds = sent.saturating_add(request.bytes) / BYTES_A_SECOND;
        let limit = self.options.answer_for.saturating_add(Duration::from_secs(seconds));
        let signed = self.signed(request);
        let answer = async { self.http.execute(signed.await?).await.map_err(Refusal::silence) };
        let answer = tokio::time::timeout(limit, answer).await.map_err(Refusal::silence)??;
        tokio::time::timeout(BODY, self.taken(request, answer)).await.map_err(Refusal::silence)?
    }

    async fn taken(&self, request: &Request, answer: HttpResponse) -> Result<Reply, Refusal> {
        let (parts, body) = answer.into_parts();
        // At once in full: growing it would take twice the memory, and a copy.
        let sends = request.method != Method::HEAD;
        let length = parts
            .headers
            .get("content-length")
            .filter(|_| sends)
            .and_then(|length| length.to_str().ok()?.parse().ok());
        let mut taken = BytesMut::with_capacity(length.unwrap_or(0).min(REPLY_BYTES));
        let mut pieces = body.bytes_stream();
        let idle = self.options.answer_for;
        while let Some(piece) = tokio::time::timeout(idle, pieces.next()).await.map_err(Refusal::silence)? {
            let piece = piece.map_err(Refusal::silence)?;
            if taken.len() + piece.len() > REPLY_BYTES {
                return Err(Refusal::silence("the answer is larger than what was asked for"));
            }
            taken.extend_from_slice(&piece);
        }
        let body = taken.freeze();
        let hidden = if request.xml { xml::hidden_reason(&body) } else { None };
        if parts.status.is_success() && hidden.is_none() {
            return Ok(Reply { headers: parts.headers, body });
        }
        let Reason { code, message } = hidden.or_else(|| xml::read(&body)).unwrap_or_default();
        let message = match parts.headers.get("x-amz-bucket-region").and_then(|region| region.to_str().ok()) {
            Some(region) if parts.status.is_redirection() || code == "AuthorizationHeaderMalformed" => {
                format!("the bucket is in the region {region}; this room was opened with {}", self.region)
            }
            _ => message,
        };
        Err(Refusal::Answer { status: parts.status.as_u16(), code, message, tries: 1 })
    }

    async fn signed(&self, request: &Request) -> Result<HttpRequest, Refusal> {
        let mut url = self.base.clone();
        url.push('/');
        if !request.key.is_empty() {
            url.push_str(&escape(&self.options.whole(&request.key), b"/~"));
        }
        for (place, (name, value)) in request.query.iter().enumerate() {
            url.push(if place == 0 { '?' } else { '&' });
            url.push_str(&format!("{name}={}", escape(value, b"~")));
        }
        let mut built = http::Request::builder().method(request.method.clone()).uri(url);
        for (name, value) in &request.headers {
            built = built.header(*name, value);
        }
        let body = HttpRequestBody::from(request.body.clone());
        let mut built = built.body(body).map_err(Refusal::silence)?;
        if let Some(credentials) = &self.credentials {
            let credential = credentials.get_credential().await;
            let credential =
                credential.map_err(|source| Refusal::Unsigned { tries: 1, source: source.into() })?;
            let authorizer = AwsAuthorizer::new(&credential, "s3", &self.region);
            authorizer.try_authorize(&mut built, None).map_err(Refusal::silence)?;
        }
        Ok(built)
    }
}

fn base(options: &S3Options, endpoint: Option<&str>, region: &str) -> String {
    let bucket = &options.bucket;
    let in_path = options.path_style.unwrap_or(endpoint.is_some() || bucket.contains('.'));
    let endpoint = endpoint.map_or_else(|| format!("https://s3.{region}.amazonaws.com"), str::to_owned);
    let endpoint = endpoint.trim_end_matches('/');
    match endpoint.split_once("://") {
        Some((scheme, host)) if !in_path => format!("{scheme}://{bucket}.{host}"),
        _ => format!("{endpoint}/{bucket}"),
    }
}

fn connection(options: &S3Options) -> Result<ClientOptions, OpenError> {
    let idle = options.requests.max(8);
    let mut connection = ClientOptions::new()
        .with_allow_http(true)
        .with_connect_timeout(CONNECT)
        .with_timeout_disabled()
        .with_pool_max_idle_per_host(idle);
    if let Some(path) = &options.ca_file {
        let unread = |error: &dyn std::fmt::Display| {
            OpenError(format!("the certificates in {} cannot be read: {error}", path.display()))
        };
        let pem = std::fs::read(path).map_err(|error| unread(&error))?;
        for certificate in Certificate::from_pem_bundle(&pem).map_err(|error| unread(&error))? {
            connection = connection.with_root_certificate(certificate);
        }
    }
    Ok(connection)
}

/// Between half of it and all of it, so that many who were refused together do not come back together.
fn jittered(pause: Duration) -> Duration {
    let share = random()[0];
    pause.mul_f64(0.5 + f64::from(share) / 512.0)
}

/// Bytes from the system; no secret.
pub(super) fn random() -> [u8; 16] {
    use rand::TryRng as _;
    let mut bytes = [0; 16];
    // Without them retries come evenly and writes are told apart by their counter alone.
    let _ = rand::rngs::SysRng.try_fill_bytes(&mut bytes);
    bytes
}
