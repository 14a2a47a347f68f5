//! Bodies and texts that have hurt others: trials G1, G3 and G4.

use serde_json::Value;

use crate::help::{Site, code, json, problem};

fn submission(args: &str) -> String {
    format!(r#"{{"kind":"k","args":{args}}}"#)
}

/// The args of the job that these args make, as they are on the wire.
async fn echo(site: &Site, args: &str) -> String {
    let done = json(site.post("/v1/jobs", submission(args)).await).await;
    let shown = site.get(&format!("/v1/jobs/{}", done["job"].as_str().unwrap())).await.text().await.unwrap();
    let from = shown.find("\"args\":").unwrap() + 7;
    shown[from..shown.find(",\"program\"").unwrap()].to_owned()
}

#[tokio::test]
async fn g1_a_nul_or_half_a_surrogate_is_refused_by_field_and_its_harmless_look_is_kept() {
    let site = Site::open().await;
    for args in [r#""\u0000""#, r#"{"\u0000":1}"#, r#""\ud800""#, r#""a\udc00""#] {
        let problem = problem(site.post("/v1/jobs", submission(args)).await).await;
        assert_eq!(
            (&problem["status"], &problem["field"]),
            (&422.into(), &"args".into()),
            "{args}: {problem}"
        );
    }
    let in_fields = [
        r#"{"kind":"a\u0000"}"#,
        r#"{"kind":"k","queue":"\u0000"}"#,
        r#"{"kind":"k","idempotency_key":"\u0000"}"#,
        r#"{"command":["a\u0000"]}"#,
        r#"{"command":["a"],"env":{"A":"\u0000"}}"#,
        r#"{"command":["a"],"cwd":"\u0000"}"#,
    ];
    for text in in_fields {
        let problem = problem(site.post("/v1/jobs", text).await).await;
        assert_eq!(problem["code"], "invalid", "{text}: {problem}");
        assert!(problem["field"].is_string(), "{problem}");
    }
    for text in [r#"{"kind":"\ud800"}"#, r#"{"kind":"k","idempotency_key":"\udc00"}"#] {
        assert_eq!(code(site.post("/v1/jobs", text).await).await, (400, "bad_body".into()), "{text}");
    }
    let broken = [b"{\"kind\":\"k\",\"args\":\"".as_slice(), b"\xff", b"\"}"].concat();
    let problem = problem(site.post("/v1/jobs", broken).await).await;
    assert!(problem["detail"].as_str().unwrap().contains("no UTF-8: byte 20"), "{problem}");
    for path in [
        "/v1/jobs?kind=%00",
        "/v1/jobs?kind=%ff",
        "/v1/queues/%00/pause",
        "/v1/queues/%ff/pause",
        "/v1/jobs/%ff",
    ] {
        let answer = if path.ends_with("pause") { site.post(path, "").await } else { site.get(path).await };
        assert!((400..500).contains(&answer.status().as_u16()), "{path}: {}", answer.status());
    }
    assert_eq!(site.place.count().await, 0, "nothing was stored");
    for args in [r#""\\u0000""#, r#""😀""#, r#""\ud83d\ude00""#] {
        assert_eq!(echo(&site, args).await, args);
    }
}

#[tokio::test]
async fn g3_numbers_and_containers_come_back_digit_for_digit() {
    let site = Site::open().await;
    let digits = api::conformance::changes::DIGITS;
    assert_eq!(echo(&site, digits).await, digits);
    assert_eq!(echo(&site, "1e400").await, "1e400");
}

#[tokio::test]
async fn g4_json_of_any_depth_is_carried_or_refused_with_the_limit() {
    let site = Site::open().await;
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    // The submission itself is one object around its args.
    for depth in [1, 64, 126] {
        assert_eq!(echo(&site, &nested(depth)).await, nested(depth), "{depth}");
    }
    for depth in [127, 128, 129, 1_000, 100_000] {
        let problem = problem(site.post("/v1/jobs", submission(&nested(depth))).await).await;
        assert_eq!(problem["code"], "bad_body");
        assert!(problem["detail"].as_str().unwrap().contains("allowed is 127"), "{problem}");
        let unclosed = submission(&"[".repeat(depth));
        assert_eq!(code(site.post("/v1/jobs", unclosed).await).await, (400, "bad_body".into()));
    }
    let keys: Vec<_> = (0..60_000).map(|key| format!("\"key{key}\":0")).collect();
    let wide = format!("{{{}}}", keys.join(","));
    assert_eq!(echo(&site, &wide).await, wide);
    let million: Vec<_> = (0..1_000_000).map(|key| format!("\"{key}\":0")).collect();
    let over = submission(&format!("{{{}}}", million.join(",")));
    assert_eq!(code(site.post("/v1/jobs", over).await).await, (413, "too_large".into()));
    assert_eq!(echo(&site, r#"{"a":1,"a":2}"#).await, r#"{"a":1,"a":2}"#);
    assert_eq!(code(site.post("/v1/jobs", r#"{"kind":"a","kind":"b"}"#).await).await.0, 400);
    assert_eq!(site.get("/healthz").await.status(), 200, "the process lives");
}

#[tokio::test]
async fn a_size_over_its_limit_is_refused_with_field_size_and_limit() {
    let site = Site::open().await;
    let args = |bytes: usize| submission(&format!("\"{}\"", "x".repeat(bytes - 2)));
    assert_eq!(site.post("/v1/jobs", args(1_048_576)).await.status(), 201);
    let problem = problem(site.post("/v1/jobs", args(1_048_577)).await).await;
    assert_eq!((&problem["field"], &problem["value"]), (&"args".into(), &"1048577 bytes long".into()));
    assert_eq!(problem["allowed"], "at most 1048576 bytes");
    assert_eq!(code(site.post("/v1/jobs", args(3 * 1_048_576)).await).await, (413, "too_large".into()));
    let batch = format!(r#"{{"jobs":[{}]}}"#, vec![r#"{"kind":"k"}"#; 10_000].join(","));
    let done = json(site.post("/v1/jobs/batch", batch).await).await;
    assert_eq!(done["items"].as_array().map(Vec::len), Some(10_000));
}

#[tokio::test]
async fn what_is_no_submission_is_refused_by_name() {
    let site = Site::open().await;
    for (text, field) in [
        (r#"{"kind":7}"#, Some("kind")),
        (r#"{"kind":"k","colour":1}"#, None),
        (r#"{"kind":"k","priority":1.5}"#, Some("priority")),
        (r#"{"kind":"k","priority":300}"#, Some("priority")),
        (r#"{"kind":"k","max_attempts":-1}"#, Some("max_attempts")),
        (r#"{"kind":"k","timeout_ms":"5"}"#, Some("timeout_ms")),
        (r#"{"kind":"k","timeout_ms":1e20}"#, Some("timeout_ms")),
        (r#"{"kind":"k","scheduled_at":"294277-01-01T00:00:00Z"}"#, Some("scheduled_at")),
        (r#"{"kind":"k","scheduled_at":"2026-12-24 18:00"}"#, Some("scheduled_at")),
        ("[]", None),
        ("", None),
        ("{", None),
        ("nul", None),
        (r#"{"kind":"k"} x"#, None),
        (r#"{"kind":"k","args":NaN}"#, None),
    ] {
        let problem = problem(site.post("/v1/jobs", text).await).await;
        assert_eq!(problem["status"], 400, "{text}: {problem}");
        if let Some(field) = field {
            assert_eq!(problem["field"], field, "{text}");
        }
    }
    let answer = site.post("/v1/jobs?x=1", r#"{"kind":"k"}"#).await;
    assert_eq!(problem(answer).await["field"], "x");
    assert_eq!(site.place.count().await, 0);
}

#[tokio::test]
async fn a_key_in_the_header_is_the_field() {
    let site = Site::open().await;
    let keyed = |key: &'static [u8], text: &'static str| {
        let key = reqwest::header::HeaderValue::from_bytes(key).unwrap();
        site.request(reqwest::Method::POST, "/v1/jobs")
            .header("content-type", "application/json")
            .header("idempotency-key", key)
            .body(text)
            .send()
    };
    let first = keyed("schlüssel".as_bytes(), r#"{"kind":"k"}"#).await.unwrap();
    let location = first.headers()["location"].to_str().unwrap().to_owned();
    assert_eq!(first.status(), 201);
    let again = keyed("schlüssel".as_bytes(), r#"{"kind":"k","idempotency_key":"schlüssel"}"#).await.unwrap();
    assert_eq!(
        (again.status().as_u16(), again.headers()["location"].to_str().unwrap()),
        (200, location.as_str())
    );
    let job: Value = json(site.get(&location).await).await;
    assert_eq!(job["idempotency_key"], "schlüssel");
    assert_eq!(
        code(keyed("schlüssel".as_bytes(), r#"{"kind":"other"}"#).await.unwrap()).await,
        (409, "key_reused".into())
    );
    assert_eq!(
        code(keyed(b"a", r#"{"kind":"k","idempotency_key":"b"}"#).await.unwrap()).await,
        (422, "invalid".into())
    );
    assert_eq!(code(keyed(b"\xff", r#"{"kind":"k"}"#).await.unwrap()).await, (422, "invalid".into()));
    assert_eq!(code(keyed(b"", r#"{"kind":"k"}"#).await.unwrap()).await, (422, "invalid".into()));
}
