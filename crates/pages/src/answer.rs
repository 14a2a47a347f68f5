//! A page as a response, and a problem as a page.

use api::Problem;
use api::v1::Code;
use askama::Template;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use web::{Caller, Outcome};

use crate::assets::{Assets, assets};

/// What a page may load, and where it may send forms.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// A page, or the page of a problem.
pub(crate) type Reply = Result<Response, Trouble>;

/// What stands around every page.
pub(crate) struct Frame {
    pub(crate) title: String,
    /// The first part of the path: which tab is open.
    pub(crate) here: &'static str,
    /// Who looks; empty where that is not known.
    pub(crate) who: String,
    pub(crate) may_operate: bool,
    pub(crate) may_admin: bool,
    /// Whether there is a session that can be ended.
    pub(crate) has_session: bool,
    /// The stream that says when to look again.
    pub(crate) events: Option<String>,
    pub(crate) assets: Assets,
}

impl Frame {
    /// The frame of a page for somebody.
    pub(crate) fn of(caller: &Caller, here: &'static str, title: impl Into<String>) -> Self {
        Self {
            who: caller.name.clone(),
            may_operate: caller.may(durable::Scope::Operate),
            may_admin: caller.may(durable::Scope::Admin),
            has_session: caller.by_cookie,
            ..Self::nobodys(here, title)
        }
    }

    /// The frame of a page for whoever it may be.
    pub(crate) fn nobodys(here: &'static str, title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            here,
            who: String::new(),
            may_operate: false,
            may_admin: false,
            has_session: false,
            events: None,
            assets: assets(),
        }
    }

    /// With the stream that says when to look again.
    pub(crate) fn live(mut self, events: impl Into<String>) -> Self {
        self.events = Some(events.into());
        self
    }
}

/// A page as a response.
pub(crate) fn page(status: StatusCode, template: &impl Template) -> Response {
    match template.render() {
        Ok(text) => {
            let mut response = (status, Html(text)).into_response();
            let policy = HeaderValue::from_static(POLICY);
            response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
            response
        }
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, format!("this page cannot be written: {error}"))
            .into_response(),
    }
}

/// To a page of this server, after a change.
pub(crate) fn go(path: &str) -> Response {
    Redirect::to(path).into_response()
}

/// Why there is no such page, or why nothing was done.
#[derive(Debug)]
pub(crate) struct Trouble(Box<Problem>);

impl From<Problem> for Trouble {
    fn from(problem: Problem) -> Self {
        Self(Box::new(problem))
    }
}

impl IntoResponse for Trouble {
    fn into_response(self) -> Response {
        problem_page(&self.0)
    }
}

#[derive(Template)]
#[template(path = "problem.html")]
struct ProblemPage<'a> {
    frame: Frame,
    heading: &'static str,
    problem: &'a Problem,
    /// What still works, or what to do.
    advice: &'static [&'static str],
}

/// What a problem is called, and what to do about it.
fn words(code: Code) -> (&'static str, &'static [&'static str]) {
    match code {
        Code::NotFound => (
            "Nothing here",
            &[
                "Ended jobs and old results are kept as long as your installation keeps them.",
                "The list of jobs finds a job by a part of its id.",
            ],
        ),
        Code::Forbidden => (
            "Not yours to do",
            &[
                "Looking around still works.",
                "Whoever runs this installation can make a token with more scopes: remora token create NAME --scope operate",
            ],
        ),
        Code::Unauthenticated => ("Who are you?", &["Log in with a token."]),
        Code::Unavailable => (
            "A room gives no answer",
            &[
                "While coordination is away: jobs, results and queues can be looked at, running attempts go on within their trust window, and nothing new is started.",
                "While the durable store is away: running attempts go on, and nothing is accepted or published until it answers.",
                "While the target is away: jobs can be looked at and cancelled; results, logs and checkpoints wait for it.",
                "remora doctor examines each room.",
            ],
        ),
        Code::Ambiguous => (
            "It may have been done, or not",
            &[
                "The answer was lost on its way. Look at the page again: asking for the same change twice does no harm.",
            ],
        ),
        Code::TooMany => ("Too many requests", &["Wait a second, then load the page again."]),
        Code::Refused => ("It cannot be done now", &["Look at the page again: things have moved on."]),
        Code::Damaged => ("Something is damaged", &["remora inspect JOB shows what each room holds."]),
        Code::Invalid | Code::BadBody | Code::TooLarge | Code::KeyReused | Code::Unsupported => {
            ("That was not understood", &["Go back, and look at what was entered."])
        }
    }
}

/// A problem as a page, for people.
#[must_use]
pub fn problem_page(problem: &Problem) -> Response {
    let (heading, advice) = words(problem.code);
    let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let frame = Frame::nobodys("", heading);
    let mut response = page(status, &ProblemPage { frame, heading, problem, advice });
    response.extensions_mut().insert(Outcome(problem.code));
    response
}
