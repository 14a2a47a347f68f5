//! `dev` serves the API; `token` makes who may use it.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

const REMORA: &str = env!("CARGO_BIN_EXE_remora");

/// An owner that ends with its test.
struct Dev(Child);

impl Drop for Dev {
    fn drop(&mut self) {
        // SIGTERM drains; whoever does not want to wait ends it.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn dev(dir: &std::path::Path, listen: &str) -> (Dev, Vec<String>) {
    let mut child = Command::new(REMORA)
        .arg("--dir")
        .arg(dir)
        .args(["dev", "--workers", "0", "--listen", listen])
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let mut said = Vec::new();
    for line in lines {
        let is_last = line.contains("the API is at");
        said.push(line);
        if is_last {
            break;
        }
    }
    (Dev(child), said)
}

fn url(said: &[String]) -> String {
    let line = said.iter().find(|line| line.contains("the API is at")).unwrap_or_else(|| panic!("{said:?}"));
    line.split_whitespace().last().unwrap().to_owned()
}

fn remora(dir: &std::path::Path, words: &[&str]) -> (i32, String, String) {
    let output = Command::new(REMORA).arg("--dir").arg(dir).args(words).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// The status of a GET by hand: the command line needs no HTTP client of its own.
fn status(url: &str, path: &str, token: Option<&str>) -> u16 {
    use std::io::{Read as _, Write as _};

    let address = url.strip_prefix("http://").unwrap();
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    let bearer = token.map(|token| format!("Authorization: Bearer {token}\r\n")).unwrap_or_default();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{bearer}\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn dev_serves_the_api_and_takes_another_port_where_its_own_is_in_use() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (_first, said) = dev(one.path(), "127.0.0.1:0");
    let first = url(&said);
    assert_eq!(status(&first, "/healthz", None), 200);
    assert_eq!(status(&first, "/v1/overview", None), 200);
    let address = first.strip_prefix("http://").unwrap();
    let (_second, said) = dev(two.path(), address);
    let port = address.rsplit(':').next().unwrap();
    assert!(said.iter().any(|line| line.contains(&format!("port {port} is in use"))), "{said:?}");
    let second = url(&said);
    assert_ne!(first, second);
    assert_eq!(status(&second, "/healthz", None), 200);
}

#[test]
fn a_token_is_made_shown_once_asked_for_and_revoked() {
    let place = tempfile::tempdir().unwrap();
    let (_dev, said) = dev(place.path(), "127.0.0.1:0");
    let url = url(&said);
    let (code, token, told) =
        remora(place.path(), &["token", "create", "ci", "--scope", "submit,operate", "--expires", "1h"]);
    let token = token.trim();
    assert_eq!(code, 0, "{told}");
    assert!(token.starts_with("remora_") && !told.contains(token), "{told}");
    let (_, list, _) = remora(place.path(), &["--output", "json", "token", "list"]);
    assert!(!list.contains(token));
    let list: Value = serde_json::from_str(&list).unwrap();
    assert_eq!(
        (&list[0]["name"], &list[0]["scopes"]),
        (&"ci".into(), &serde_json::json!(["submit", "operate"]))
    );
    // Another process made it: this one sees it within a second.
    let began = std::time::Instant::now();
    while status(&url, "/v1/jobs", None) != 401 {
        assert!(began.elapsed().as_secs() < 10);
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert_eq!(status(&url, "/v1/jobs", Some(token)), 200);
    assert_eq!(status(&url, "/v1/trail", Some(token)), 403);
    let id = list[0]["id"].as_str().unwrap();
    assert_eq!(remora(place.path(), &["token", "revoke", id]).0, 0);
    assert_eq!(remora(place.path(), &["token", "revoke", id]).0, 4);
    let (code, _, told) = remora(place.path(), &["token", "create", "a b"]);
    assert!(code == 2 && told.contains("name"), "{told}");
    let (code, _, told) = remora(place.path(), &["token", "create", "x", "--scope", "all"]);
    assert!(code == 2 && told.contains("read, submit, operate, admin"), "{told}");
}

#[test]
fn tokens_are_made_and_revoked_by_the_api_as_in_the_store() {
    let place = tempfile::tempdir().unwrap();
    let (_dev, said) = dev(place.path(), "127.0.0.1:0");
    let url = url(&said);
    let ask = |token: &str, words: &[&str]| {
        let output = Command::new(REMORA)
            .args(["--output", "json", "--url", &url])
            .args(words)
            .env("REMORA_API_TOKEN", token)
            .output()
            .unwrap();
        let json = serde_json::from_slice::<Value>(&output.stdout).unwrap_or_default();
        (output.status.code().unwrap(), json, String::from_utf8(output.stderr).unwrap())
    };
    let (code, first, told) = ask("", &["token", "create", "first", "--scope", "admin"]);
    assert_eq!(code, 0, "{told}");
    let admin = first["token"].as_str().unwrap();
    let (code, reader, told) = ask(admin, &["token", "create", "reader", "--expires", "1h"]);
    assert_eq!(code, 0, "{told}");
    let (code, _, told) = ask(admin, &["token", "create", "a b"]);
    assert!(code == 2 && told.contains("name"), "{told}");
    let (code, seen, told) = ask(admin, &["token", "list"]);
    assert_eq!(code, 0, "{told}");
    let (_, local, _) = remora(place.path(), &["--output", "json", "token", "list"]);
    let local: Value = serde_json::from_str(&local).unwrap();
    let names =
        |list: &Value| [list[0]["name"].clone(), list[1]["name"].clone(), list[1]["expires_at"].clone()];
    assert_eq!(names(&seen), names(&local), "one document both ways");
    assert_eq!(ask("", &["token", "list"]).0, 1, "there is a token now");
    assert_eq!(ask(reader["token"].as_str().unwrap(), &["token", "list"]).0, 1, "a reader may not");
    let id = reader["id"].as_str().unwrap();
    assert_eq!(ask(admin, &["token", "revoke", id]).0, 0);
    assert_eq!(ask(admin, &["token", "revoke", id]).0, 4);
}

#[test]
fn without_an_owner_tokens_are_made_in_the_folder_and_beyond_loopback_they_are_needed() {
    let place = tempfile::tempdir().unwrap();
    let refused = |dir: &std::path::Path| {
        let (code, _, told) = remora(dir, &["dev", "--workers", "0", "--listen", "0.0.0.0:0"]);
        assert_eq!(code, 1, "{told}");
        told
    };
    assert!(refused(place.path()).contains("there is no token yet"));
    assert_eq!(remora(place.path(), &["token", "create", "first", "--scope", "admin"]).0, 0);
    assert!(refused(place.path()).contains("--tls-cert"));
    let (code, _, told) = remora(place.path(), &["dev", "--listen", "nowhere"]);
    assert!(code == 2 && told.contains("is no address to listen at"), "{told}");
}
