//! Hostile texts and requests: trial J3.

use reqwest::Method;

use crate::help::{Site, code, json, problem};

const SCRIPT: &str = "\"><img src=x onerror=alert(1)>";

#[tokio::test]
async fn j3_a_script_in_any_text_comes_back_as_json_that_no_browser_runs() {
    let site = Site::open().await;
    let text = serde_json::json!({
        "command": [SCRIPT, "javascript:alert(1)"], "args": {SCRIPT: SCRIPT}, "idempotency_key": SCRIPT,
    });
    let done = json(site.post("/v1/jobs", text.to_string()).await).await;
    let job = done["job"].as_str().unwrap();
    let stage = site.place.claim(job.parse().unwrap()).await;
    site.place.write_log(&stage, SCRIPT).await;
    site.place.fail(&stage, SCRIPT).await;
    for (path, kind) in [
        (format!("/v1/jobs/{job}"), "application/json"),
        ("/v1/jobs".to_owned(), "application/json"),
        ("/v1/overview".to_owned(), "application/json"),
        (format!("/v1/jobs/{job}/log"), "text/plain; charset=utf-8"),
        (format!("/v1/jobs/{job}/events"), "text/event-stream"),
        ("/v1/jobs?kind=%22%3E%3Cimg".to_owned(), "application/problem+json"),
        ("/v1/jobs/%22%3E%3Cscript%3E".to_owned(), "application/problem+json"),
        ("/%3Cscript%3Ealert(1)%3C%2Fscript%3E".to_owned(), "application/problem+json"),
        ("/errors/%3Cscript%3E".to_owned(), "application/problem+json"),
    ] {
        let answer = site.request(Method::GET, &path).header("accept", "text/html").send().await.unwrap();
        let headers = answer.headers();
        assert_eq!(headers["content-type"], kind, "{path}");
        assert_eq!(headers["x-content-type-options"], "nosniff", "{path}");
        // Without any referrer a browser says `Origin: null` of its own page's forms, and they would be refused.
        assert_eq!(headers["referrer-policy"], "same-origin");
        let policy = headers["content-security-policy"].to_str().unwrap();
        assert!(
            policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"),
            "{path}: {policy}"
        );
        assert!(!headers.contains_key("access-control-allow-origin"), "no other site reads it");
    }
    for text in [format!(r#"{{"kind":{SCRIPT:?}}}"#), format!(r#"{{"kind":"k","queue":{SCRIPT:?}}}"#)] {
        assert_eq!(code(site.post("/v1/jobs", text).await).await, (422, "invalid".into()));
    }
}

#[tokio::test]
async fn what_is_nowhere_or_not_so_is_a_problem() {
    let site = Site::open().await;
    for (method, path, status, code_) in [
        (Method::GET, "/", 404, "not_found"),
        (Method::GET, "/v1", 404, "not_found"),
        (Method::GET, "/v1/jobs/", 404, "not_found"),
        (Method::GET, "/v2/jobs", 404, "not_found"),
        (Method::GET, "/v1/jobs/job_x", 404, "not_found"),
        (Method::GET, "/../../etc/passwd", 404, "not_found"),
        (Method::DELETE, "/v1/jobs", 405, "unsupported"),
        (Method::PUT, "/v1/pool", 405, "unsupported"),
        (Method::OPTIONS, "/v1/jobs", 405, "unsupported"),
        (Method::TRACE, "/v1/jobs", 405, "unsupported"),
        (Method::GET, "/v1/jobs?limit=0", 422, "invalid"),
        (Method::GET, "/v1/jobs?phase=done", 422, "invalid"),
        (Method::GET, "/v1/jobs?created_from=yesterday", 422, "invalid"),
        (Method::GET, "/v1/jobs?limit=5&limit=6", 422, "invalid"),
        (Method::GET, "/v1/jobs?colour=red", 422, "invalid"),
        (Method::GET, "/v1/workers?x", 422, "invalid"),
    ] {
        let answer = site.request(method.clone(), path).send().await.unwrap();
        if status == 405 {
            assert!(answer.headers().contains_key("allow"), "{method} {path}");
        }
        assert_eq!(code(answer).await, (status, code_.to_owned()), "{method} {path}");
    }
    let phases = json(site.get("/v1/jobs?phase=queued,running&phase=failed").await).await;
    assert!(phases["items"].as_array().unwrap().is_empty());
    let named = problem(site.get("/v1/jobs?colour=red").await).await;
    assert_eq!((&named["field"], &named["value"]), (&"colour".into(), &"red".into()));
}

#[tokio::test]
async fn a_client_that_does_not_speak_http_is_let_go_and_others_are_served() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    let site = Site::open().await;
    for bytes in [
        &b"\x16\x03\x01\x02\x00"[..],
        b"GET / HTTP/9.9\r\n\r\n",
        b"\0\0\0\0\r\n\r\n",
        b"GET /v1/jobs HTTP/1.1\r\n\r\n",
    ] {
        let mut stream = tokio::net::TcpStream::connect(site.handle.address()).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut answer = Vec::new();
        // A reset is an end, too.
        let _ = stream.read_to_end(&mut answer).await;
        assert!(!answer.starts_with(b"HTTP/1.1 2"), "{}", String::from_utf8_lossy(&answer));
    }
    let long = "x".repeat(1_000_000);
    let answer = site.request(Method::GET, "/v1/jobs").header("x-long", long).send().await;
    // It may be cut off while it still sends.
    assert!(answer.as_ref().map_or(true, |answer| answer.status() == 431), "{answer:?}");
    assert_eq!(site.get("/healthz").await.status(), 200);
}
