//! The depot over S3 in the real binary, with unmodified clients: boto3 and the command aws, as they
//! come from PyPI (`scripts/fetch-s3-clients.sh`). Without them the tests say that they skip.

use crate::running::{Running, configure, rialto, text};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

const DEPOT: &str = "[depot]\nenabled = true\n[s3]\nenabled = true\nlisten = \"127.0.0.1:0\"\n";

/// The directory of the clients' programs.
#[allow(clippy::print_stderr, reason = "a test that skips says so")]
fn clients() -> Option<PathBuf> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let usual = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target");
    let bin = target.unwrap_or(usual).join("s3-clients/bin");
    let is_there = bin.join("aws").exists() && bin.join("python").exists();
    if !is_there {
        eprintln!(
            "SKIPPED: {} has no clients; scripts/fetch-s3-clients.sh fetches them",
            bin.display()
        );
    }
    is_there.then_some(bin)
}

/// A venue with S3, and a key.
struct Served {
    dir: tempfile::TempDir,
    running: Running,
    bin: PathBuf,
    key: (String, String),
}

impl Served {
    fn start(level: &str) -> Option<Served> {
        let bin = clients()?;
        let dir = tempfile::tempdir().unwrap();
        configure(dir.path(), DEPOT);
        let running = Running::serve(dir.path(), level);
        let (url, admin) = (running.url(), running.admin_key());
        let ask = |words: &[&str]| {
            let asked =
                rialto(&[&["admin"], words, &["--url", &url, "--admin-key", &admin]].concat());
            assert!(asked.status.success(), "{}", text(&asked.stderr));
            text(&asked.stdout)
        };
        ask(&["member", "m"]);
        let made = ask(&["key", "create", "1", "--scopes", "admin", "--json"]);
        let made: Value = serde_json::from_str(&made).unwrap();
        let word = |name: &str| made[name].as_str().unwrap_or_else(|| panic!("{made}")).to_owned();
        let key = (word("id"), word("secret"));
        Some(Served { dir, running, bin, key })
    }

    fn endpoint(&self) -> String {
        let line = self.running.line("S3 on ");
        line.split("S3 on ").nth(1).unwrap().to_owned()
    }

    /// Kills the venue, and starts it again.
    fn kill(&mut self, level: &str) {
        self.running.kill();
        self.running = Running::serve(self.dir.path(), level);
    }

    fn client(&self, program: &str) -> Command {
        let mut command = Command::new(self.bin.join(program));
        command.env_clear().current_dir(self.dir.path());
        command.env("HOME", self.dir.path()).env("AWS_DEFAULT_REGION", "us-east-1");
        command.env("AWS_ACCESS_KEY_ID", &self.key.0).env("AWS_SECRET_ACCESS_KEY", &self.key.1);
        command
    }

    fn boto(&self, phase: &str) {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/s3/boto.py");
        let mut command = self.client("python");
        let done = command.arg(script).args([phase, &self.endpoint()]).output().unwrap();
        assert!(done.status.success(), "{phase}: {}", text(&done.stderr));
    }

    fn aws(&self, words: &[&str]) -> String {
        let mut command = self.client("python");
        command.arg(self.bin.join("aws")).args(["--endpoint-url", &self.endpoint(), "s3"]);
        let done = command.args(words).output().unwrap();
        assert!(done.status.success(), "{words:?}: {}{}", text(&done.stdout), text(&done.stderr));
        text(&done.stdout)
    }
}

#[test]
fn boto3_works_with_its_default_settings() {
    let Some(served) = Served::start("buffered") else { return };
    for phase in ["objects", "lists", "parts", "end"] {
        served.boto(phase);
    }
}

#[test]
fn an_upload_in_parts_goes_on_after_the_venue_was_killed() {
    let Some(mut served) = Served::start("synced") else { return };
    let make = "import boto3, sys; boto3.client('s3', endpoint_url=sys.argv[1]).create_bucket(Bucket='acme')";
    let made = served.client("python").args(["-c", make, &served.endpoint()]).output().unwrap();
    assert!(made.status.success(), "{}", text(&made.stderr));
    served.boto("begin");
    served.kill("synced");
    served.boto("resume");
}

#[test]
fn the_command_aws_copies_lists_synchronises_and_removes() {
    let Some(served) = Served::start("buffered") else { return };
    let dir = served.dir.path();
    served.aws(&["mb", "s3://acme"]);
    assert!(served.aws(&["ls"]).contains("acme"));

    let large: Vec<u8> = (0..21_u32 << 20).map(|nth| (nth % 251) as u8).collect();
    std::fs::create_dir_all(dir.join("tree/deep")).unwrap();
    std::fs::write(dir.join("tree/large.bin"), &large).unwrap();
    std::fs::write(dir.join("tree/deep/small.txt"), "small").unwrap();
    // Lists tell seconds, so that a file of this second could seem newer than what was sent.
    for file in ["tree/large.bin", "tree/deep/small.txt"] {
        let file = std::fs::File::options().write(true).open(dir.join(file)).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(60)).unwrap();
    }
    served.aws(&["sync", "tree", "s3://acme/tree"]);
    // What is there already is not sent again.
    assert_eq!(served.aws(&["sync", "tree", "s3://acme/tree"]), "");
    let listed = served.aws(&["ls", "--recursive", "s3://acme"]);
    assert!(listed.contains("22020096 tree/large.bin"), "{listed}");
    let top = served.aws(&["ls", "s3://acme/tree/"]);
    assert!(top.contains("PRE deep/") && !top.contains("small.txt"), "{top}");

    served.aws(&["cp", "s3://acme/tree/large.bin", "back.bin"]);
    assert!(std::fs::read(dir.join("back.bin")).unwrap() == large);
    served.aws(&["cp", "s3://acme/tree/large.bin", "s3://acme/copy.bin"]);
    served.aws(&["mv", "s3://acme/tree/deep/small.txt", "s3://acme/moved.txt"]);
    served.aws(&["sync", "s3://acme/tree", "down"]);
    assert!(!dir.join("down/deep").exists() && dir.join("down/large.bin").exists());
    served.aws(&["rm", "--recursive", "s3://acme"]);
    served.aws(&["rb", "s3://acme"]);
    assert!(!served.aws(&["ls"]).contains("acme"));
}
