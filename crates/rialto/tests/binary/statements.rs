//! Statements in the real binary: made by the operator's command, read by the member over HTTP.

use crate::asking::{Client, Credentials, secret};
use crate::running::{Running, command, configure, text};
use serde_json::{Value, json};
use std::process::Output;
use std::time::{Duration, Instant};

const SECTIONS: &str = "[depot]\nenabled = true\n[statements]\nenabled = true\nat = \"00:05\"\n";

fn statements(venue: &Running, key: &str, action: &str) -> Output {
    let url = venue.url();
    command(&["admin", "statements", action, "--url", &url])
        .env("RIALTO_ADMIN_KEY", key)
        .output()
        .unwrap()
}

/// What `run` prints. While the venue makes the statements of the day, it refuses another run.
fn once_free(venue: &Running, key: &str) -> String {
    let began = Instant::now();
    loop {
        let run = statements(venue, key, "run");
        let refusal = text(&run.stderr);
        if run.status.success() {
            return text(&run.stdout);
        }
        assert!(refusal.contains("Statements are being made"), "{refusal}");
        assert!(began.elapsed() < Duration::from_secs(60), "the run of the day does not end");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn an_operator_makes_statements_and_a_member_reads_them() {
    let dir = tempfile::tempdir().unwrap();
    configure(dir.path(), SECTIONS);
    let mut venue = Running::serve(dir.path(), "buffered");
    let admin_key = venue.admin_key();
    let url = venue.url();
    let admin = Client::new(&url, Credentials::Admin(admin_key.clone()));
    let post = |what: &str, body: Value| {
        admin.call("POST", &format!("/v1/admin/{what}"), Some(&body)).expect(what)
    };
    post("currencies", json!({ "code": "USD", "scale": 2 }));
    post("members", json!({ "member": 3, "name": "<acme>" }));
    post("accounts", json!({ "account": 7, "member": 3, "name": "main" }));
    let deposit = json!({ "account": 7, "currency": "USD", "amount": "12.5", "reference": "wire" });
    post("deposits", deposit);
    let key = post(
        "keys",
        json!({
            "member": 3, "scopes": ["read"],
            "depot": [{ "tenants": "member-3", "rights": ["read"] }],
        }),
    );
    let part = |name: &str| key[name].as_str().unwrap().to_owned();
    let credentials = Credentials::Key { id: part("id"), secret: secret(&part("secret")).unwrap() };
    let member = Client::new(&url, credentials);

    let made = statements(&venue, &admin_key, "run");
    let told = text(&made.stdout);
    assert!(made.status.success(), "{told}{}", text(&made.stderr));
    assert!(told.contains("commands 1 to 4, statements of 1 members, 0 refused"), "{told}");
    let again = once_free(&venue, &admin_key);
    assert!(again.contains("statements of 0 members, 0 refused"), "{again}");

    let listed = member.get("/v1/depot/member-3/files?kind=shelf&prefix=out/statements/").unwrap();
    let files = listed["files"].as_array().unwrap();
    assert_eq!(files.len(), 2, "{listed}");
    let read = |ending: &str| {
        let file = files.iter().find(|it| it["name"].as_str().unwrap().ends_with(ending)).unwrap();
        let id = file["id"].as_str().unwrap();
        member.text(&format!("/v1/depot/member-3/files/{id}"))
    };
    let csv = read(".csv");
    assert!(csv.starts_with("record,member,seq,time,account,currency,"), "{csv}");
    assert!(csv.lines().any(|line| line.starts_with("deposit,3,4,") && line.ends_with(",wire")));
    assert!(csv.lines().last().unwrap().contains(",7,USD,12.50,0.00,"), "{csv}");
    assert!(read(".html").contains("Statement of &lt;acme&gt;"));

    // After a kill, the next start knows both runs, and that nothing is new. It may make that of the day.
    venue.kill();
    let venue = Running::serve(dir.path(), "buffered");
    let runs = text(&statements(&venue, &admin_key, "ls").stdout);
    let demanded =
        runs.lines().filter(|run| run.starts_with("demand-") && run.contains("completed"));
    assert_eq!(demanded.count(), 2, "{runs}");
    let after = once_free(&venue, &admin_key);
    assert!(after.contains("statements of 0 members"), "{after}");
}

#[test]
fn a_venue_without_a_depot_makes_no_statements() {
    let dir = tempfile::tempdir().unwrap();
    configure(dir.path(), "[statements]\nenabled = true\n");
    let config = dir.path().join("rialto.toml");
    let refused = command(&["serve", "--config", config.to_str().unwrap()]).output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("statements.enabled needs depot.enabled"));
}

#[test]
fn a_venue_that_makes_no_statements_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let venue = Running::serve(dir.path(), "buffered");
    let answer = statements(&venue, &venue.admin_key(), "run");
    assert!(!answer.status.success());
    assert!(text(&answer.stderr).contains("This venue makes no statements."));
}
