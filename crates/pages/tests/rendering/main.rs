//! Every page over a port with fixed answers: what is on it, and that nothing of it is anything but text.

#![expect(clippy::unwrap_used, reason = "these are tests")]

mod fake;

use std::net::IpAddr;
use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode, header};
use axum::{Extension, Router};
use durable::Scope;
use fake::{EVIL, Fake, JOB, Rooms, WORKER};
use http_body_util::BodyExt as _;
use protocol::JobId;
use tower::ServiceExt as _;
use web::Caller;

struct Shown {
    status: StatusCode,
    headers: HeaderMap,
    text: String,
}

impl Shown {
    #[track_caller]
    fn has(&self, what: &str) -> &Self {
        assert!(self.text.contains(what), "`{what}` is not in: {}", self.text);
        self
    }

    #[track_caller]
    fn lacks(&self, what: &str) -> &Self {
        assert!(!self.text.contains(what), "`{what}` is in: {}", self.text);
        self
    }
}

fn pages(rooms: Rooms, scope: Scope) -> Router {
    let caller = Caller {
        token: Some("t".to_owned()),
        name: EVIL.to_owned(),
        scopes: vec![scope],
        address: IpAddr::from([127, 0, 0, 1]),
        by_cookie: true,
    };
    remora_pages::router(Arc::new(Fake(rooms))).layer(Extension(caller))
}

async fn send(pages: Router, request: Request<Body>) -> Shown {
    let response = pages.oneshot(request).await.unwrap();
    let (status, headers) = (response.status(), response.headers().clone());
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    Shown { status, headers, text: String::from_utf8_lossy(&bytes).into_owned() }
}

async fn get(rooms: Rooms, path: &str) -> Shown {
    send(pages(rooms, Scope::Admin), Request::get(path).body(Body::empty()).unwrap()).await
}

async fn post(scope: Scope, path: &str, form: &str) -> Shown {
    let request = Request::post(path).header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
    send(pages(Rooms::Full, scope), request.body(Body::from(form.to_owned())).unwrap()).await
}

/// Every path that shows a page.
fn paths() -> Vec<String> {
    let fixed = ["/", "/jobs", "/jobs?phase=queued&kind=a", "/workers", "/queues", "/limits", "/login"];
    let evil = remora_pages_url(EVIL);
    let mut paths: Vec<_> = fixed.map(str::to_owned).into();
    paths.push(format!("/jobs?text={evil}&kind={evil}&queue={evil}&worker={evil}&cursor={evil}"));
    paths.push(format!("/login?next={evil}&failed=1"));
    paths.push(format!("/jobs/{JOB}"));
    paths.push(format!("/jobs/{JOB}?did={evil}&files_after={evil}"));
    paths.push(format!("/jobs/{JOB}/files/{evil}"));
    paths.push(format!("/jobs/{evil}"));
    paths.push(format!("/assets/{evil}"));
    paths
}

fn remora_pages_url(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02x}")).collect()
}

/// The tags of a page, quotes respected.
fn tags(html: &str) -> Vec<&str> {
    let mut tags = Vec::new();
    let mut rest = html;
    while let Some(from) = rest.find('<') {
        rest = &rest[from..];
        let mut quoted = false;
        let end = rest.find(|letter| {
            quoted ^= letter == '"';
            letter == '>' && !quoted
        });
        let end = end.expect("a tag ends");
        tags.push(&rest[..=end]);
        rest = &rest[end + 1..];
    }
    tags
}

#[tokio::test]
async fn whatever_a_job_says_is_text() {
    for rooms in [Rooms::Full, Rooms::CoordinationAway, Rooms::Away] {
        for path in paths() {
            let shown = get(rooms, &path).await;
            for tag in tags(&shown.text) {
                let harmless = !tag.contains("onerror=alert") || tag.contains("&#34;&#62;&#60;img");
                assert!(harmless, "{path}: {tag}");
                assert!(
                    !tag.starts_with("<img src=x") && !tag.contains("href=\"javascript:"),
                    "{path}: {tag}"
                );
                let script = tag.starts_with("<script") && !tag.starts_with("<script src=\"/assets/live-");
                assert!(!script && !tag.contains(" style=") && !tag.starts_with("<style"), "{path}: {tag}");
            }
        }
    }
}

#[tokio::test]
async fn every_page_has_a_strict_policy_and_says_what_it_is() {
    for path in paths() {
        let shown = get(Rooms::Full, &path).await;
        let policy = shown.headers[header::CONTENT_SECURITY_POLICY].to_str().unwrap();
        assert!(policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self';"), "{path}");
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(shown.headers[header::CONTENT_TYPE], "text/html; charset=utf-8", "{path}");
        shown.has("<html lang=\"en\">").has("<main id=\"main\"").has("href=\"#main\"").has("<h1");
    }
}

#[tokio::test]
async fn parts_that_change_have_a_name_each_of_its_own() {
    for path in paths() {
        let shown = get(Rooms::Full, &path).await;
        let live = tags(&shown.text).into_iter().filter(|tag| tag.contains(" data-live"));
        assert!(live.clone().all(|tag| tag.contains(" id=\"")), "{path}");
        if path.starts_with("/jobs?") || path == "/jobs" {
            // The fixed list has the same job in it more than once.
            continue;
        }
        let all = tags(&shown.text);
        let mut ids: Vec<_> =
            all.iter().filter_map(|tag| tag.split(" id=\"").nth(1)?.split('"').next()).collect();
        let before = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), before, "{path}");
    }
}

#[tokio::test]
async fn the_overview_answers_what_runs_and_what_waits() {
    let shown = get(Rooms::Full, "/").await;
    assert_eq!(shown.status, StatusCode::OK);
    shown
        .has("Ends in the last hour")
        .has("30 succeeded")
        .has("4 of 8 permits in use: 2 leases, 1 reservation, 1 not accounted for yet")
        .has("Waits longest")
        .has("Coordination is being rebuilt")
        .has("href=\"/jobs?phase=retry_wait\"")
        .has("12,345")
        .has(&format!("href=\"/jobs/{JOB}#why\""))
        .has("data-events=\"/v1/events\"")
        .lacks("No job yet");
}

#[tokio::test]
async fn an_empty_installation_says_how_to_begin() {
    get(Rooms::Empty, "/")
        .await
        .has("No job yet")
        .has("remora submit --")
        .has("remora worker")
        .has("all free");
    get(Rooms::Empty, "/jobs").await.has("No job yet").has("remora submit --");
    get(Rooms::Empty, "/jobs?phase=failed").await.has("No job is like that");
    get(Rooms::Empty, "/workers").await.has("No worker").has("remora worker");
    get(Rooms::Empty, "/queues").await.has("No queue yet");
}

#[tokio::test]
async fn a_room_that_is_away_is_named_and_the_rest_is_shown() {
    let shown = get(Rooms::CoordinationAway, "/").await;
    assert_eq!(shown.status, StatusCode::OK);
    shown.has("A room gives no answer").has("coordination:").has("Not known: coordination gives no answer");
    let shown = get(Rooms::CoordinationAway, "/workers").await;
    assert_eq!(shown.status, StatusCode::SERVICE_UNAVAILABLE);
    shown.has("A room gives no answer").has("coordination gives no answer").has("While coordination is away");
    get(Rooms::CoordinationAway, "/limits").await.has("how many are in use is not known");
    for path in ["/", "/jobs", "/queues", "/limits", &format!("/jobs/{JOB}")] {
        let shown = get(Rooms::Away, path).await;
        assert_eq!(shown.status, StatusCode::SERVICE_UNAVAILABLE, "{path}");
        shown.has("the durable store gives no answer").has("href=\"/jobs\"");
    }
}

#[tokio::test]
async fn a_job_shows_why_its_attempts_and_its_files() {
    let shown = get(Rooms::Full, &format!("/jobs/{JOB}")).await;
    assert_eq!(shown.status, StatusCode::OK);
    shown
        .has("id=\"why\"")
        .has("fenced by attempt 2")
        .has("aria-label=\"attempt 1 on ")
        .has("class=\"fence\"")
        .has("class=\"mark\"")
        .has("renewed 1 s ago")
        .has("3 of 10 (30 %)")
        .has("checkpoint 2")
        .has("code 3")
        .has(&format!("href=\"/v1/jobs/{JOB}/result/files/%22%3E%3Cimg"))
        .has(&format!("data-events=\"/v1/jobs/{JOB}/events\""))
        .has(&format!("action=\"/jobs/{JOB}/cancel\""));
}

#[tokio::test]
async fn who_may_only_look_sees_no_buttons_and_is_told_so() {
    for path in
        [format!("/jobs/{JOB}"), "/workers".into(), "/queues".into(), "/limits".into(), "/jobs".into()]
    {
        let request = Request::get(&path).body(Body::empty()).unwrap();
        let shown = send(pages(Rooms::Full, Scope::Read), request).await;
        assert_eq!(shown.status, StatusCode::OK);
        let forms: Vec<_> = tags(&shown.text)
            .into_iter()
            .filter(|tag| tag.contains("action=\""))
            .map(str::to_owned)
            .collect();
        let harmless = |tag: &String| tag.contains("action=\"/logout\"") || tag.contains("method=\"get\"");
        assert!(forms.iter().all(harmless), "{path}: {forms:?}");
    }
    let shown = post(Scope::Operate, "/limits", "global=5").await;
    assert_eq!(shown.status, StatusCode::FORBIDDEN);
    shown.has("Not yours to do").has("limits need the scope `admin`");
}

#[tokio::test]
async fn nothing_is_there_and_that_is_a_page() {
    for path in [format!("/jobs/{}", JobId(5)), "/jobs/nonsense".into(), "/assets/nonsense".into()] {
        let shown = get(Rooms::Full, &path).await;
        assert_eq!(shown.status, StatusCode::NOT_FOUND, "{path}");
        shown.has("Nothing here").has("404");
    }
}

#[tokio::test]
async fn a_list_goes_on_where_it_ended_and_says_how_far_it_looked() {
    let shown = get(Rooms::Full, "/jobs?phase=queued&phase=failed&text=abc").await;
    shown
        .has("Searched back to")
        .has(&format!("href=\"/jobs?phase=queued&#38;phase=failed&#38;text=abc&#38;cursor={JOB}\""));
    shown.has("value=\"queued\" checked").has("value=\"failed\" checked").has("2026-11-");
    get(Rooms::Full, &format!("/jobs?cursor={JOB}")).await.has("Newest");
    for path in ["/jobs?text=ab", "/jobs?phase=tired", "/jobs?created_from=monday"] {
        let shown = get(Rooms::Full, path).await;
        assert_eq!(shown.status, StatusCode::UNPROCESSABLE_ENTITY, "{path}");
        shown.has("role=\"alert\"");
    }
}

#[tokio::test]
async fn many_jobs_are_changed_at_once_and_each_is_answered() {
    let two = format!("job={JOB}&job={}", JobId(JOB.0 + 1));
    let shown = post(Scope::Operate, "/jobs/cancel", &two).await;
    assert_eq!(shown.status, StatusCode::OK);
    shown.has("1 of 2 jobs; 1 could not.").has("cancelling: nothing of it will be published").has("not done");
    post(Scope::Operate, "/jobs/retry", &two).await.has("a new job repeats it").has("not done");
    post(Scope::Operate, "/jobs/cancel", "").await.has("No job was chosen.");
    let shown = post(Scope::Operate, "/jobs/cancel", "job=x").await;
    assert_eq!(shown.status, StatusCode::UNPROCESSABLE_ENTITY);
}

#[tokio::test]
async fn a_change_leads_to_the_page_that_shows_it() {
    let next = JobId(JOB.0 + 1);
    for (path, form, to) in [
        (format!("/jobs/{JOB}/cancel"), "", format!("/jobs/{JOB}?did=cancel")),
        (format!("/jobs/{JOB}/retry"), "", format!("/jobs/{next}?did=repeated")),
        (format!("/workers/{WORKER}/drain"), "", format!("/workers?drain={WORKER}")),
        ("/queues/pause".into(), "queue=default", "/queues".into()),
        ("/queues/resume".into(), "queue=default", "/queues".into()),
        ("/limits".into(), "global=5&lease_ms=", "/limits?saved=1".into()),
    ] {
        let shown = post(Scope::Admin, &path, form).await;
        assert_eq!(shown.status, StatusCode::SEE_OTHER, "{path}");
        assert_eq!(shown.headers[header::LOCATION], to.as_str(), "{path}");
        let by_get = get(Rooms::Full, &path).await.status;
        assert!(by_get == StatusCode::METHOD_NOT_ALLOWED || path == "/limits", "{path}: {by_get}");
    }
    get(Rooms::Full, &format!("/jobs/{JOB}?did=repeated")).await.has("This new job repeats the other one.");
    // A link cannot claim what was not done.
    get(Rooms::Full, &format!("/jobs/{JOB}?did=cancel")).await.lacks("The cancel was taken.");
    get(Rooms::Full, &format!("/workers?drain={WORKER}")).await.has("was asked to drain");
    get(Rooms::Full, "/limits?saved=1").await.has("Saved.");
}

#[tokio::test]
async fn a_limit_out_of_range_is_said_beside_what_was_entered() {
    for (form, said) in [("global=0", "global is `0`"), ("global=many&lease_ms=9", "global is `many`")] {
        let shown = post(Scope::Admin, "/limits", form).await;
        assert_eq!(shown.status, StatusCode::UNPROCESSABLE_ENTITY);
        shown.has(said).has("role=\"alert\"");
    }
    post(Scope::Admin, "/limits", "global=many&lease_ms=9").await.has("value=\"many\"").has("value=\"9\"");
}

#[tokio::test]
async fn a_file_is_text_or_a_picture_or_nothing() {
    let file = |name: &str| format!("/jobs/{JOB}/files/{name}");
    get(Rooms::Full, &file("notes.txt")).await.has("&#60;script&#62;alert(2)").has("Download");
    get(Rooms::Full, &file("program")).await.has("No preview");
    get(Rooms::Full, &file("drawing.svg")).await.has("&#60;svg").lacks("/images/");
    get(Rooms::Full, &file("picture.png")).await.has(&format!("src=\"/jobs/{JOB}/images/picture.png\""));
    let picture = get(Rooms::Full, &format!("/jobs/{JOB}/images/picture.png")).await;
    assert_eq!(picture.headers[header::CONTENT_TYPE], "image/png");
    assert!(picture.headers[header::CONTENT_SECURITY_POLICY].to_str().unwrap().contains("sandbox"));
    for name in ["drawing.svg", "notes.txt", "program"] {
        let shown = get(Rooms::Full, &format!("/jobs/{JOB}/images/{name}")).await;
        assert_eq!(shown.status, StatusCode::NOT_FOUND, "{name}");
    }
}

#[tokio::test]
async fn files_of_pages_are_kept_for_ever_and_small() {
    let shown = get(Rooms::Full, "/").await;
    let named = shown.text.split('"').filter(|part| part.starts_with("/assets/"));
    let mut paths: Vec<_> = named.map(str::to_owned).collect();
    paths.sort();
    paths.dedup();
    assert_eq!(paths.len(), 3);
    let mut total = shown.text.len();
    for path in paths {
        let asset = get(Rooms::Full, &path).await;
        assert_eq!(asset.status, StatusCode::OK);
        assert!(asset.headers[header::CACHE_CONTROL].to_str().unwrap().contains("immutable"), "{path}");
        assert!(!path.ends_with(".js") || asset.text.len() < 10_000);
        total += asset.text.len();
    }
    assert!(total < 100_000, "the first view has {total} bytes");
}
