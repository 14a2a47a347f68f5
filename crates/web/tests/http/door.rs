//! Who comes in, and who does what.

use std::time::Duration;

use durable::Scope;
use remora_web::{Limits, Options, Refusal, ServeError, serve};
use reqwest::{Method, StatusCode};
use serde_json::json;

use crate::help::{Site, access, code, json as body, loopback, problem, served, token};

#[tokio::test]
async fn beyond_loopback_nothing_is_served_without_tokens_or_in_plain_text() {
    let site = Site::open().await;
    let everywhere = || async { tokio::net::TcpListener::bind("0.0.0.0:0").await.unwrap() };
    let refused = serve(everywhere().await, served(&site.place), Options::default()).await.unwrap_err();
    assert!(matches!(refused, ServeError::Refused(Refusal::NoTokens { .. })), "{refused}");
    site.token(&[Scope::Admin]).await;
    let refused = serve(everywhere().await, served(&site.place), Options::default()).await.unwrap_err();
    assert!(matches!(refused, ServeError::Refused(Refusal::PlainText { .. })), "{refused}");
    let said = Options { insecure_http: true, ..Options::default() };
    let handle = serve(everywhere().await, served(&site.place), said).await.unwrap();
    let url = format!("http://127.0.0.1:{}/v1/jobs", handle.address().port());
    assert_eq!(code(site.client.get(&url).send().await.unwrap()).await, (401, "unauthenticated".into()));
    handle.shutdown().await;
}

#[tokio::test]
async fn without_tokens_a_desk_is_open_and_with_one_it_is_not() {
    let site = Site::open().await;
    assert_eq!(site.get("/v1/jobs").await.status(), 200);
    assert_eq!(site.post("/v1/jobs", r#"{"kind":"k"}"#).await.status(), 201);
    let asked = json!({"name": "first", "scopes": ["admin"]}).to_string();
    let made = body(site.post("/v1/tokens", asked).await).await;
    let secret = made["token"].as_str().unwrap();
    assert_eq!(code(site.get("/v1/jobs").await).await, (401, "unauthenticated".into()));
    let entered = site.request(Method::GET, "/v1/tokens").bearer_auth(secret).send().await.unwrap();
    let known = entered.text().await.unwrap();
    assert!(!known.contains(secret) && known.contains("\"first\""));
    let id = made["id"].as_str().unwrap();
    let revoked = site.request(Method::DELETE, &format!("/v1/tokens/{id}")).bearer_auth(secret);
    assert_eq!(revoked.send().await.unwrap().status(), 204);
    assert_eq!(site.get("/v1/jobs").await.status(), 200, "the last token is gone: a desk again");
}

/// Every operation, with something in its places.
fn operations() -> Vec<(Method, String)> {
    let document: serde_json::Value =
        serde_json::from_str(&remora_web::openapi().to_json().unwrap()).unwrap();
    let mut all = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for method in item.as_object().unwrap().keys() {
            let path = ["{job}", "{path}", "{queue}", "{incarnation}", "{id}"]
                .iter()
                .fold(path.clone(), |path, place| path.replace(place, "x"));
            all.push((method.to_uppercase().parse().unwrap(), path.replace("{code}", "invalid")));
        }
    }
    all
}

#[tokio::test]
async fn j3_every_path_but_the_stated_ones_needs_a_token_that_is_good() {
    let site = Site::open().await;
    let (_, good) = site.token(&[Scope::Read]).await;
    let (_, expired) = token(&access(&site.place), &[Scope::Admin], Some(1)).await;
    tokio::time::sleep(Duration::from_millis(20)).await;
    let other_prefix = good.replace("remora_", "rmr_");
    let cut = &good[..good.len() - 1];
    let lengthened = format!("{good}a");
    let wrong = ["", "x", &expired, &other_prefix, cut, &lengthened];
    let mut paths = operations();
    paths.extend([
        (Method::GET, "/".to_owned()),
        (Method::GET, "/metrics".to_owned()),
        (Method::POST, "/x".to_owned()),
    ]);
    for (method, path) in paths {
        let public = ["/healthz", "/readyz", "/login"].contains(&path.as_str());
        let without = site.request(method.clone(), &path).send().await.unwrap();
        assert_eq!(without.status() == StatusCode::UNAUTHORIZED, !public, "{method} {path}");
        for secret in wrong.iter().filter(|_| !public) {
            let answer = site.request(method.clone(), &path).bearer_auth(secret).send().await.unwrap();
            assert!(answer.headers().contains_key("www-authenticate"));
            assert_eq!(code(answer).await, (401, "unauthenticated".into()), "{method} {path} {secret}");
        }
    }
    let basic = site.request(Method::GET, "/v1/jobs").basic_auth("x", Some(&good)).send().await.unwrap();
    assert_eq!(basic.status(), 401);
    let by_query = site.get(&format!("/v1/jobs?token={good}")).await;
    assert_eq!(by_query.status(), 401);
    assert_eq!(site.request(Method::GET, "/v1/jobs").bearer_auth(&good).send().await.unwrap().status(), 200);
}

#[tokio::test]
async fn each_scope_allows_what_is_written_and_nothing_more() {
    let site = Site::open().await;
    let document: serde_json::Value =
        serde_json::from_str(&remora_web::openapi().to_json().unwrap()).unwrap();
    let mut secrets = Vec::new();
    for scope in Scope::ALL {
        secrets.push((scope, site.token(&[scope]).await.1));
    }
    for (scope, secret) in secrets {
        for (template, item) in document["paths"].as_object().unwrap() {
            for (method, operation) in item.as_object().unwrap() {
                let Some(needed) = operation["security"][0]["token"][0].as_str() else { continue };
                let allowed = scope.allows(needed.parse().unwrap());
                let path = template.replace(['{', '}'], "");
                let method: Method = method.to_uppercase().parse().unwrap();
                if template.contains("events") {
                    continue;
                }
                let answer = site.request(method.clone(), &path).bearer_auth(&secret).send().await.unwrap();
                assert_ne!(answer.status(), 401, "{method} {path}");
                assert_eq!(answer.status() != 403, allowed, "{scope}: {method} {path}");
            }
        }
    }
}

#[tokio::test]
async fn a_change_by_a_form_or_by_a_page_of_another_site_is_refused_and_nothing_changes() {
    let site = Site::open().await;
    let job = site.place.submit("k").await;
    let path = format!("/v1/jobs/{job}/cancel");
    for kind in ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain"] {
        let form = site.request(Method::POST, &path).header("content-type", kind).body("a=1");
        assert_eq!(code(form.send().await.unwrap()).await, (415, "unsupported".into()), "{kind}");
        let empty = site.request(Method::POST, &path).header("content-type", kind);
        assert_eq!(code(empty.send().await.unwrap()).await, (415, "unsupported".into()), "{kind}");
    }
    for (name, value) in [
        ("origin", "http://evil.example"),
        ("origin", "null"),
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
    ] {
        let foreign = site.request(Method::POST, &path).header(name, value);
        assert_eq!(code(foreign.send().await.unwrap()).await, (403, "forbidden".into()), "{name}: {value}");
    }
    for host in ["evil.example", "evil.example:7373", "localhost.evil.example"] {
        let rebound = site.request(Method::GET, "/v1/jobs").header("host", host).send().await.unwrap();
        assert_eq!(code(rebound).await, (403, "forbidden".into()), "{host}");
    }
    let proxied =
        site.request(Method::GET, "/v1/jobs").header("x-forwarded-for", "10.0.0.1").send().await.unwrap();
    assert_eq!(code(proxied).await, (403, "forbidden".into()));
    for method in [Method::GET, Method::HEAD] {
        assert_eq!(site.request(method, &path).send().await.unwrap().status(), 405, "no change by looking");
    }
    let shown = body(site.get(&format!("/v1/jobs/{job}")).await).await;
    assert_eq!(shown["phase"], "queued");
    let own = site.url.clone();
    let from_own_page =
        site.request(Method::POST, &path).header("origin", own).header("sec-fetch-site", "same-origin");
    assert_eq!(from_own_page.send().await.unwrap().status(), 200);
}

#[tokio::test]
async fn a_page_logs_in_with_a_token_and_its_session_ends_with_it() {
    let site = Site::open().await;
    let (id, secret) = site.token(&[Scope::Operate]).await;
    let form = |text: String| {
        site.request(Method::POST, "/login")
            .header("content-type", "application/x-www-form-urlencoded")
            .body(text)
            .send()
    };
    let failed = form("token=remora_x&next=/jobs".into()).await.unwrap();
    assert_eq!(
        (failed.status().as_u16(), &failed.headers()["location"]),
        (303, &"/login?failed=1".parse().unwrap())
    );
    assert!(!failed.headers().contains_key("set-cookie"));
    let answer = form(format!("token={secret}&next=%2Fjobs%3Fphase%3Dfailed")).await.unwrap();
    assert_eq!(answer.headers()["location"], "/jobs?phase=failed");
    let cookie = answer.headers()["set-cookie"].to_str().unwrap().to_owned();
    assert!(
        cookie.contains("; HttpOnly; SameSite=Strict")
            && !cookie.contains("Secure")
            && !cookie.contains(&secret),
        "{cookie}"
    );
    let away = form(format!("token={secret}&next=%2F%2Fevil.example")).await.unwrap();
    assert_eq!(away.headers()["location"], "/");
    let cookie = cookie.split(';').next().unwrap().to_owned();
    let with = |method: Method, path: &str| site.request(method, path).header("cookie", &cookie);
    assert_eq!(with(Method::GET, "/v1/jobs").send().await.unwrap().status(), 200);
    let pause = "/v1/queues/a/pause";
    assert_eq!(
        code(with(Method::POST, pause).send().await.unwrap()).await,
        (403, "forbidden".into()),
        "from which page?"
    );
    let own = with(Method::POST, pause).header("sec-fetch-site", "same-origin").send().await.unwrap();
    assert_eq!(own.status(), 200);
    let foreign = with(Method::POST, pause).header("origin", "http://evil.example").send().await.unwrap();
    assert_eq!(foreign.status(), 403);
    access(&site.place).revoke_token(&id).await.unwrap();
    site.token(&[Scope::Read]).await;
    let mut status = 200;
    for _ in 0..40 {
        status = with(Method::GET, "/v1/jobs").send().await.unwrap().status().as_u16();
        if status == 401 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(status, 401, "the session is worth what its token is worth");
    let page = site.request(Method::GET, "/jobs?x=1").header("accept", "text/html,*/*").send().await.unwrap();
    assert_eq!(
        (page.status().as_u16(), &page.headers()["location"]),
        (303, &"/login?next=%2Fjobs%3Fx%3D1".parse().unwrap())
    );
}

#[tokio::test]
async fn the_button_of_a_page_ends_its_session_and_leads_to_the_login() {
    let site = Site::open().await;
    let (_, secret) = site.token(&[Scope::Read]).await;
    let form = |path: &str| {
        site.request(Method::POST, path)
            .header("content-type", "application/x-www-form-urlencoded")
            .header("accept", "text/html,*/*")
            .header("sec-fetch-site", "same-origin")
    };
    let login = form("/login").body(format!("token={secret}")).send().await.unwrap();
    let cookie = login.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    let look = || site.request(Method::GET, "/v1/jobs").header("cookie", &cookie).send();
    assert_eq!(look().await.unwrap().status(), 200);
    let foreign = form("/logout").header("cookie", &cookie).header("origin", "http://evil.example");
    assert_eq!(foreign.send().await.unwrap().status(), 403);
    assert_eq!(look().await.unwrap().status(), 200);
    // A form without fields is sent with its type and a length of 0.
    let left = form("/logout").header("cookie", &cookie).header("content-length", "0").send().await.unwrap();
    assert_eq!(left.status().as_u16(), 303);
    assert_eq!(left.headers()["location"], "/login");
    assert!(left.headers()["set-cookie"].to_str().unwrap().contains("Max-Age=0"));
    assert_eq!(look().await.unwrap().status(), 401);
}

#[tokio::test]
async fn the_trail_says_who_did_what_and_holds_no_secret() {
    let site = Site::open().await;
    let (admin_id, admin) = site.token(&[Scope::Admin]).await;
    let (reader_id, reader) = site.token(&[Scope::Read]).await;
    let (_, operator) = site.token(&[Scope::Operate, Scope::Submit]).await;
    let job = site.place.submit("k").await;
    let cancel = |secret: &str| {
        site.request(Method::POST, &format!("/v1/jobs/{job}/cancel")).bearer_auth(secret).send()
    };
    assert_eq!(cancel(&reader).await.unwrap().status(), 403);
    assert_eq!(cancel(&admin).await.unwrap().status(), 200);
    let made = site
        .request(Method::POST, "/v1/tokens")
        .bearer_auth(&admin)
        .header("content-type", "application/json");
    let made = body(made.body(r#"{"name":"ci","scopes":["submit"]}"#).send().await.unwrap()).await;
    let secret_args = r#"{"kind":"k","args":"hunter2","env":{"A":"hunter2"},"command":["hunter2"]}"#;
    let submitted =
        site.request(Method::POST, "/v1/jobs").bearer_auth(&admin).header("content-type", "application/json");
    assert_eq!(submitted.body(secret_args).send().await.unwrap().status(), 201);
    let login = |token: &str| {
        let form = site.request(Method::POST, "/login").header("content-type", "application/json");
        form.body(serde_json::json!({ "token": token }).to_string()).send()
    };
    assert_eq!(login("remora_x").await.unwrap().status(), 401, "a stranger leaves no trail");
    assert_eq!(login(&reader).await.unwrap().status(), 204);
    let read = site.request(Method::GET, "/v1/trail?limit=10").bearer_auth(&admin).send().await.unwrap();
    let text = read.text().await.unwrap();
    for secret in [&admin, &reader, made["token"].as_str().unwrap(), "hunter2"] {
        assert!(!text.contains(secret), "{secret}");
    }
    let trail: serde_json::Value = serde_json::from_str(&text).unwrap();
    let told: Vec<_> = trail["items"]
        .as_array()
        .unwrap()
        .iter()
        .rev()
        .map(|row| {
            let word = |name: &str| row[name].as_str().unwrap().to_owned();
            (row["token"].as_str().unwrap_or("nobody").to_owned(), word("action"), word("outcome"))
        })
        .collect();
    let row = |id: &str, action: &str, outcome: &str| (id.to_owned(), action.to_owned(), outcome.to_owned());
    assert_eq!(
        told,
        [
            row(&reader_id, "cancel", "forbidden"),
            row(&admin_id, "cancel", "done"),
            row(&admin_id, "make_token", "done"),
            row(&admin_id, "submit", "done"),
            row("nobody", "login", "done"),
        ]
    );
    let page = site.request(Method::GET, "/v1/trail?limit=3").bearer_auth(&admin).send().await.unwrap();
    let page = body(page).await;
    let rest = site.request(Method::GET, &format!("/v1/trail?cursor={}", page["next"].as_str().unwrap()));
    assert_eq!(
        body(rest.bearer_auth(&admin).send().await.unwrap()).await["items"].as_array().unwrap().len(),
        2
    );
    let looked = site.request(Method::GET, "/v1/trail").bearer_auth(&operator).send().await.unwrap();
    let refused = problem(looked).await;
    assert!(refused["detail"].as_str().unwrap().contains("needs the scope `admin`"), "{refused}");
}

#[tokio::test]
async fn who_asks_too_much_is_told_to_wait_and_others_are_not() {
    let limits = Limits { requests_per_second: 5, streams: 2, ..Limits::default() };
    let site = Site::with(Options { limits, ..Options::default() }).await;
    let (_, one) = site.token(&[Scope::Read]).await;
    let (_, two) = site.token(&[Scope::Read]).await;
    let ask = |secret: &str| site.request(Method::GET, "/v1/queues").bearer_auth(secret).send();
    let mut refused = None;
    for _ in 0..50 {
        let answer = ask(&one).await.unwrap();
        if answer.status() == 429 {
            refused = Some(answer);
            break;
        }
    }
    let refused = refused.unwrap();
    assert_eq!(refused.headers()["retry-after"], "1");
    assert_eq!(code(refused).await, (429, "too_many".into()));
    assert_eq!(ask(&two).await.unwrap().status(), 200);
    let stream = || site.request(Method::GET, "/v1/events").bearer_auth(&two).send();
    let (first, _second) = (stream().await.unwrap(), stream().await.unwrap());
    assert_eq!(code(stream().await.unwrap()).await, (429, "too_many".into()));
    drop(first);
    let mut status = 429;
    for _ in 0..50 {
        tokio::time::sleep(Duration::from_millis(100)).await;
        let answer = stream().await.unwrap();
        status = answer.status().as_u16();
        if status == 200 {
            break;
        }
    }
    assert_eq!(status, 200, "a stream that has ended gives its place back");
}

#[tokio::test]
async fn a_token_is_asked_for_by_the_store_and_its_use_is_written_down() {
    let site = Site::open().await;
    let (id, secret) = site.token(&[Scope::Admin]).await;
    let tokens = || async {
        let answer = site.request(Method::GET, "/v1/tokens").bearer_auth(&secret).send().await.unwrap();
        body(answer).await
    };
    let mut used = false;
    for _ in 0..50 {
        let known = tokens().await;
        let own = known.as_array().unwrap().iter().find(|token| token["id"] == *id).unwrap().clone();
        used = own["last_used_at"].is_string();
        if used {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(used);
    drop(loopback().await);
}
