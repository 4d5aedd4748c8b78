//! `rialto depot` in the real binary: files, tenants and volumes, in a directory and with a venue.

use crate::pool::{Pool, on_both};
use crate::running::{command, text};
use rialto_depot::{
    ClaimOptions, Depot, DepotOptions, Directory, DirectoryKind, FileName, Level, NewFile,
    PAGE_FILES_MAX, Quota, TenantName,
};
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt;

const SHA256_OF_ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

/// Content of three blocks.
fn large() -> Vec<u8> {
    (0..2_500_000_u32).map(|nth| (nth % 251) as u8).collect()
}

#[test]
fn files_are_stored_shown_read_and_deleted() {
    on_both(|pool| {
        let small = pool.put("a.csv", "abc", &["--directory", "in/orders"]);
        let big = pool.put("b.bin", large(), &[]);
        let file = pool.object(&["show", &small, "--tenant", "acme"]);
        assert_eq!(file["path"], "in/orders/a.csv");
        assert_eq!((&file["bytes"], &file["state"]), (&json!("3"), &json!("waiting")));
        assert_eq!(file["sha256"], SHA256_OF_ABC);
        assert!(pool.done(&["show", &small, "--tenant", "acme"]).contains("in/orders/a.csv"));

        assert_eq!(pool.done(&["get", &small, "--tenant", "acme"]), "abc");
        let read = pool.run(b"", &["get", &big, "--tenant", "acme"]).stdout;
        assert!(read == large());
        let part = ["--offset", "1048570", "--length", "20"];
        let read = pool.run(b"", &[&["get", &big, "--tenant", "acme"], &part[..]].concat()).stdout;
        assert_eq!(read, large()[1_048_570..1_048_590]);
        let copy = pool.write("copy", "old");
        pool.done(&["get", &big, "--tenant", "acme", "--into", &copy]);
        assert!(fs::read(&copy).unwrap() == large());

        assert_eq!(pool.paths(&[]), ["in/orders/a.csv", "b.bin"]);
        pool.done(&["rm", &small, &big, "--tenant", "acme"]);
        assert_eq!(pool.paths(&[]), [""; 0]);
        pool.has_stored_files(0);
        let (code, told) = pool.refused(&["get", &small, "--tenant", "acme"]);
        assert_eq!(code, 2);
        assert!(told.contains(&format!("has no file {small}")), "{told}");
    });
}

#[test]
fn standard_input_is_stored_under_its_id_or_a_name() {
    on_both(|pool| {
        let output = pool.run(b"abc", &["put", "-", "--tenant", "acme"]);
        let id = text(&output.stdout).trim().to_owned();
        assert_eq!(pool.object(&["show", &id, "--tenant", "acme"])["path"], id);
        let named = ["put", "-", "--tenant", "acme", "--directory", "in", "--name", "a"];
        assert!(pool.run(b"abc", &named).status.success());
        assert_eq!(pool.paths(&["--prefix", "in/"]), ["in/a"]);
    });
}

#[test]
fn everything_that_is_given_with_a_file_is_kept() {
    on_both(|pool| {
        let more = [
            "--content-type",
            "text/csv",
            "--meta",
            "desk=fx",
            "--expires-after",
            "1h",
            "--priority",
            "3",
            "--sha256",
            SHA256_OF_ABC,
        ];
        let id = pool.put("late", "abc", &["--delay", "1h"]);
        let id_of_urgent = pool.put("a", "abc", &more);
        let file = pool.object(&["show", &id_of_urgent, "--tenant", "acme"]);
        assert_eq!(file["content_type"], "text/csv");
        assert_eq!(file["metadata"], json!({"desk": "fx"}));
        let [created, expires] = ["created_at", "expires_at"]
            .map(|field| file[field].as_str().unwrap().parse::<u64>().unwrap());
        let lasts = (expires - created) / 1_000_000_000;
        assert!((3_500..=3_600).contains(&lasts), "{lasts} s");
        // The delayed one is not handed out.
        assert_eq!(pool.work("true", &[]), (0, "1 completed\n".to_owned()));
        assert_eq!(pool.object(&["show", &id, "--tenant", "acme"])["state"], "waiting");
    });
}

#[test]
fn another_content_than_declared_is_refused_and_leaves_nothing() {
    on_both(|pool| {
        let file = pool.write("b", large());
        let (code, told) =
            pool.refused(&["put", &file, "--tenant", "acme", "--sha256", SHA256_OF_ABC]);
        assert_eq!(code, 1);
        assert!(told.contains("the SHA-256 of the file should be ba7816bf"), "{told}");
        // Not even the tenant.
        let (_, told) = pool.refused(&["ls", "--tenant", "acme"]);
        assert!(told.contains("there is no tenant \"acme\""), "{told}");
        pool.has_stored_files(0);
    });
}

#[test]
fn a_repeat_under_a_submit_key_stores_nothing() {
    on_both(|pool| {
        let file = pool.write("a", "abc");
        let put = ["put", &file, "--tenant", "acme", "--submit-key", "k1"];
        let first = pool.done(&put);
        let repeat = pool.run(b"", &put);
        assert_eq!(text(&repeat.stdout), first);
        assert!(text(&repeat.stderr).contains("accepted earlier"), "{repeat:?}");
        assert_eq!(pool.paths(&[]).len(), 1);
        pool.write("a", "another");
        let (code, told) = pool.refused(&put);
        assert_eq!(code, 1);
        assert!(told.contains("another file was submitted under the key"), "{told}");
        let (code, told) = pool.refused(&[&put[..], &[&file]].concat());
        assert_eq!((code, told.contains("--submit-key belongs to one file")), (2, true), "{told}");
    });
}

#[test]
fn a_shelf_keeps_one_file_under_a_path() {
    on_both(|pool| {
        pool.done(&["tenant", "create", "acme"]);
        pool.done(&["tenant", "directory", "acme", "out", "--kind", "shelf"]);
        pool.put("day.csv", "one", &["--directory", "out"]);
        pool.put("day.csv", "two", &["--directory", "out"]);
        let by_path = ["--path", "out/day.csv", "--tenant", "acme"];
        assert_eq!(pool.done(&[&["get"], &by_path[..]].concat()), "two");
        assert_eq!(pool.object(&[&["show"], &by_path[..]].concat())["state"], "kept");
        let file = pool.word("day.csv");
        let again = ["put", &file, "--tenant", "acme", "--directory", "out", "--if-absent"];
        let (code, told) = pool.refused(&again);
        assert_eq!(code, 2);
        assert!(told.contains("keeps a file \"out/day.csv\" already"), "{told}");
        assert_eq!(pool.work("true", &[]), (0, "0 completed\n".to_owned()));
    });
}

#[test]
fn a_listing_has_pages_and_kinds() {
    on_both(|pool| {
        pool.done(&["tenant", "create", "acme"]);
        pool.done(&["tenant", "directory", "acme", "out", "--kind", "shelf"]);
        let first = pool.put("a", "1", &["--directory", "in"]);
        for (name, directory) in [("b", "in"), ("c", "other"), ("z", "out"), ("y", "out")] {
            pool.put(name, "1", &["--directory", directory]);
        }
        assert_eq!(pool.paths(&[]), ["in/a", "in/b", "other/c", "out/y", "out/z"]);
        assert_eq!(pool.paths(&["--work", "--prefix", "in/"]), ["in/a", "in/b"]);
        assert_eq!(pool.paths(&["--work", "--after", &first, "--limit", "1"]), ["in/b"]);
        assert_eq!(pool.paths(&["--shelf", "--after", "out/y"]), ["out/z"]);
        assert_eq!(pool.paths(&["--limit", "4"]), ["in/a", "in/b", "other/c", "out/y"]);
        let long = pool.done(&["ls", "--tenant", "acme", "--long"]);
        assert!(long.starts_with("ID ") && long.contains("SHA-256"), "{long}");
        assert_eq!(pool.refused(&["ls", "--tenant", "acme", "--after", "x"]).0, 2);
        assert_eq!(pool.refused(&["ls", "--tenant", "acme", "--work", "--after", "x"]).0, 2);
        assert_eq!(pool.refused(&["ls", "--tenant", "nobody"]).0, 2);
    });
}

#[test]
fn a_listing_goes_on_behind_its_first_page() {
    let pool = Pool::new();
    let acme = TenantName::new("acme").unwrap();
    let options = DepotOptions::at(pool.path("pool")).level(Level::Buffered);
    let depot = Depot::open(options).unwrap();
    depot.create_tenant(&acme, Quota::default()).unwrap();
    let out = Directory::new("out").unwrap();
    depot.set_directory(&acme, &out, Some(DirectoryKind::Shelf), Quota::default()).unwrap();
    for directory in [Directory::root(), out] {
        for nth in 0..=PAGE_FILES_MAX {
            let name = FileName::new(&format!("{nth:04}")).unwrap();
            depot.put_bytes(&acme, NewFile::new(directory.clone(), name), b"x").unwrap();
        }
    }
    depot.close().unwrap();
    drop(depot);
    for kind in ["--work", "--shelf"] {
        let paths = pool.paths(&[kind]);
        assert_eq!(paths.len(), 1_001);
        assert!(paths[1_000].ends_with("1000"), "{kind}: {paths:?}");
    }
    assert!(pool.done(&["verify"]).starts_with("2002 files and 2002 bytes read"));
}

#[test]
fn invalid_names_are_refused_and_leave_nothing() {
    on_both(|pool| {
        pool.done(&["tenant", "create", "acme"]);
        let file = pool.write("a", "abc");
        // No argument of a process holds a NUL.
        let (long, path) = ("n".repeat(4_096), "d/".repeat(2_048));
        for name in ["", "..", ".", "a/b", "a\\b", "a\u{1}b", "a\nb", &long] {
            let (code, told) = pool.refused(&["put", &file, "--tenant", "acme", "--name", name]);
            assert_eq!(code, 2, "{told}");
            assert!(told.contains("is not the name of a file"), "{told}");
        }
        for directory in ["..", "in/..", "/etc", "in//a", "in/", "a\u{1}b", &long, &path] {
            let (code, told) =
                pool.refused(&["put", &file, "--tenant", "acme", "--directory", directory]);
            assert_eq!(code, 2, "{told}");
            assert!(told.contains("is not a directory"), "{told}");
        }
        for tenant in ["", "..", "Acme", "a.b", "a/b", &long] {
            let (code, told) = pool.refused(&["put", &file, "--tenant", tenant]);
            assert_eq!(code, 2, "{told}");
            assert!(told.contains("is not the name of a tenant"), "{told}");
        }
        for id in ["..", "../../../../../../etc/passwd", &"G".repeat(32)] {
            let (code, told) = pool.refused(&["get", id, "--tenant", "acme"]);
            assert_eq!(code, 2, "{told}");
            assert!(told.contains("is not a file id"), "{told}");
        }
        let odd = pool.write("a\u{1}b", "abc");
        let (code, told) = pool.refused(&["put", &odd, "--tenant", "acme"]);
        assert_eq!((code, told.contains("give one with --name")), (2, true), "{told}");
        assert_eq!(pool.paths(&[]).len(), 0);
        assert_eq!(pool.objects(&["tenant", "ls"]).len(), 1);
    });
}

#[test]
fn a_file_beyond_a_quota_is_refused_and_leaves_nothing() {
    on_both(|pool| {
        pool.done(&["tenant", "create", "acme", "--bytes-max", "2000000"]);
        let file = pool.write("big", large());
        let (code, told) = pool.refused(&["put", &file, "--tenant", "acme"]);
        assert_eq!(code, 1);
        assert!(told.contains("the quota of the tenant \"acme\" is reached"), "{told}");
        // Of unknown length, so that the quota is reached in the middle.
        let output = pool.run(&large(), &["put", "-", "--tenant", "acme"]);
        assert!(text(&output.stderr).contains("quota"), "{output:?}");
        assert_eq!(pool.paths(&[]).len(), 0);
        pool.has_stored_files(0);

        pool.done(&["tenant", "directory", "acme", "in", "--files-max", "1"]);
        pool.put("a", "1", &["--directory", "in"]);
        let second = pool.write("b", "2");
        let (_, told) = pool.refused(&["put", &second, "--tenant", "acme", "--directory", "in"]);
        assert!(told.contains("the directory \"in\""), "{told}");
        pool.done(&["tenant", "quota", "acme", "--bytes-max", "0"]);
        pool.put("big", large(), &[]);
        let tenant = pool.object(&["tenant", "show", "acme"]);
        assert_eq!((&tenant["files"], &tenant["bytes"]), (&json!("2"), &json!("2500001")));
    });
}

#[test]
fn damaged_bytes_are_named_with_their_block_and_file() {
    let pool = Pool::new();
    let id = pool.put("big", large(), &[]);
    pool.put("small", "abc", &[]);
    assert!(pool.done(&["verify"]).contains("2 files and 2500003 bytes read, 0 files damaged"));
    let stored = pool.flip_bit((1 << 20) + 5);
    let place = format!("block 1 of {}", stored.display());
    let copy = pool.word("copy");
    for arguments in
        [&["get", &id, "--tenant", "acme"][..], &["get", &id, "--tenant", "acme", "--into", &copy]]
    {
        let (code, told) = pool.refused(arguments);
        assert_eq!(code, 1);
        assert!(told.contains(&id) && told.contains(&place), "{told}");
    }
    assert!(!pool.path("copy").exists());
    // The block before it is not damaged.
    let first = pool.run(b"", &["get", &id, "--tenant", "acme", "--length", "1048576"]);
    assert!(first.stdout == large()[..1 << 20]);

    let output = pool.run(b"", &["verify"]);
    assert_eq!(output.status.code(), Some(1));
    let told = text(&output.stdout);
    assert!(told.contains(&format!("acme {id} big: DAMAGED")) && told.contains(&place), "{told}");
    assert!(text(&output.stderr).contains("1 files are damaged"), "{output:?}");
    let told = text(&pool.run(b"", &["verify", "--json"]).stdout);
    let whole: serde_json::Value = serde_json::from_str(told.lines().last().unwrap()).unwrap();
    assert_eq!((&whole["ok"], &whole["damaged"]), (&json!(false), &json!("1")));

    // A worker does not get damaged bytes; the reason says so.
    let (code, told) = pool.work("true", &["--keep-going"]);
    assert_eq!(code, 1);
    assert!(told.contains(&place) && told.contains("1 completed, 1 failed"), "{told}");
}

#[test]
fn an_absent_volume_fails_the_check() {
    let pool = Pool::new();
    let id = pool.put("big", large(), &[]);
    fs::rename(pool.path("pool/volume"), pool.path("moved")).unwrap();
    let (code, told) = pool.refused(&["get", &id, "--tenant", "acme"]);
    assert_eq!(code, 1);
    assert!(told.contains("the files of an absent volume cannot be read: main"), "{told}");
    assert_eq!(pool.refused(&["verify"]).0, 1);
}

#[test]
fn a_pool_is_made_by_its_first_file_and_by_nothing_else() {
    let pool = Pool::new();
    for arguments in [&["ls", "--tenant", "acme"][..], &["verify"], &["tenant", "ls"], &["top"]] {
        let (code, told) = pool.refused(arguments);
        assert_eq!(code, 2, "{told}");
        assert!(told.contains("has no pool; make one with the first file"), "{told}");
    }
    assert!(!pool.path("pool").exists());
    // The directory is remembered as a whole, so that the pool is the same from everywhere.
    let file = pool.write("a", large());
    let mut put = command(&["depot", "put", &file, "--tenant", "acme", "--dir", "pool"]);
    let put = put.current_dir(pool.path("")).output().unwrap();
    assert!(put.status.success(), "{put:?}");
    assert!(pool.done(&["verify"]).contains("1 files"));
}

#[test]
fn tenants_are_created_listed_changed_and_deleted() {
    on_both(|pool| {
        pool.done(&["tenant", "create", "acme", "--files-max", "10"]);
        assert_eq!(pool.refused(&["tenant", "create", "acme"]).0, 2);
        pool.done(&["tenant", "quota", "acme", "--bytes-max", "1000"]);
        assert_eq!(pool.refused(&["tenant", "quota", "acme"]).0, 2);
        pool.put("b", "1", &["--directory", "in"]);
        let tenant = pool.object(&["tenant", "ls"]);
        assert_eq!((&tenant["files_max"], &tenant["bytes_max"]), (&json!("10"), &json!("1000")));
        assert_eq!(tenant["waiting"], "1");
        let top = pool.done(&["top", "--once"]);
        assert!(top.contains("WAITING") && top.contains("acme"), "{top}");

        pool.done(&["tenant", "disable", "acme"]);
        let file = pool.word("b");
        let (code, told) = pool.refused(&["put", &file, "--tenant", "acme"]);
        assert_eq!(code, 1);
        assert!(told.contains("the tenant \"acme\" is disabled: it accepts no files"), "{told}");
        assert_eq!(pool.work("true", &["--tenant", "acme"]).0, 1);
        pool.done(&["tenant", "drain", "acme"]);
        assert_eq!(pool.refused(&["put", &file, "--tenant", "acme"]).0, 1);
        assert_eq!(pool.work("true", &["--tenant", "acme"]), (0, "1 completed\n".to_owned()));
        pool.done(&["tenant", "enable", "acme"]);
        pool.done(&["tenant", "quota", "acme", "--bytes-max", "0"]);
        pool.put("c", large(), &["--directory", "in"]);

        pool.done(&["tenant", "directory", "acme", "out", "--kind", "shelf", "--files-max", "3"]);
        pool.done(&["tenant", "directory", "acme", "out", "--files-max", "4"]);
        let directory = &pool.object(&["tenant", "show", "acme"])["directories"][0];
        assert_eq!((&directory["kind"], &directory["files_max"]), (&json!("shelf"), &json!("4")));
        pool.done(&[
            "tenant",
            "directory",
            "acme",
            "out",
            "--kind",
            "inherited",
            "--files-max",
            "0",
        ]);
        assert_eq!(pool.object(&["tenant", "show", "acme"])["directories"], json!([]));
        assert!(pool.done(&["tenant", "show", "acme"]).contains("files_max      10"));

        pool.done(&["tenant", "rm", "acme"]);
        assert_eq!(pool.objects(&["tenant", "ls"]).len(), 0);
        pool.has_stored_files(0);
        assert_eq!(pool.refused(&["tenant", "show", "acme"]).0, 2);
    });
}

#[test]
fn volumes_are_mounted_drained_and_unmounted() {
    on_both(|pool| {
        let second = pool.word("second");
        pool.done(&["volume", "mount", "second", &second, "--weight", "3"]);
        let volumes = pool.objects(&["volume", "ls"]);
        let names: Vec<_> = volumes.iter().map(|it| it["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["main", "second"]);
        assert_eq!((&volumes[1]["weight"], &volumes[1]["state"]), (&json!(3), &json!("up")));
        pool.done(&["volume", "drain", "main"]);
        let id = pool.put("big", large(), &[]);
        pool.has_stored_files(0);
        assert!(pool.done(&["volume", "ls"]).contains("draining"));
        // No other volume takes its file.
        let (code, told) = pool.refused(&["volume", "unmount", "second"]);
        assert_eq!(code, 1);
        assert!(told.contains("holds 1 files of the pool"), "{told}");
        pool.done(&["volume", "drain", "main", "--undo"]);
        pool.done(&["rm", &id, "--tenant", "acme"]);
        pool.done(&["volume", "unmount", "second"]);
        assert_eq!(pool.objects(&["volume", "ls"]).len(), 1);
        let (code, _) = pool.refused(&["volume", "unmount", "second"]);
        assert_eq!(code, 2);
        assert_eq!(pool.refused(&["volume", "mount", "Bad name", &second]).0, 2);
    });
}

#[test]
fn dead_letters_are_listed_and_handed_out_again() {
    let pool = Pool::new();
    let id = pool.put("a", "abc", &[]);
    let acme = TenantName::new("acme").unwrap();
    let depot = Depot::open(DepotOptions::at(pool.path("pool"))).unwrap();
    let claim = depot.claim(&acme, &ClaimOptions::default()).unwrap().remove(0);
    depot.refuse(claim.token(), "no such column").unwrap();
    depot.close().unwrap();
    drop(depot);

    let dead = pool.dead_letter();
    assert_eq!((&dead["file"]["id"], &dead["detail"]), (&json!(id), &json!("no such column")));
    assert!(pool.done(&["dead-letters", "--tenant", "acme"]).contains("no such column"));
    assert_eq!(pool.object(&["show", &id, "--tenant", "acme"])["state"], "dead");
    assert!(pool.done(&["verify"]).contains("1 files"));
    assert_eq!(pool.work("true", &[]), (0, "0 completed\n".to_owned()));
    let redriven = pool.run(b"", &["redrive", "--tenant", "acme"]);
    assert_eq!(text(&redriven.stderr), "1 redriven\n");
    assert_eq!(pool.work("true", &[]), (0, "1 completed\n".to_owned()));
    assert_eq!(pool.objects(&["dead-letters", "--tenant", "acme"]).len(), 0);
}

#[test]
fn tokens_of_claims_make_no_sense_in_a_directory() {
    let pool = Pool::new();
    pool.put("a", "abc", &[]);
    let token = format!("acme.{}.0.1.1.{}", "0".repeat(32), "0".repeat(32));
    for arguments in [
        &["claim"][..],
        &["claim", "--tenant", "acme", "--json"],
        &["renew", &token],
        &["complete", &token],
        &["fail", &token, "--reason", "y"],
        &["refuse", &token],
        &["return", &token],
    ] {
        let (code, told) = pool.refused(arguments);
        assert_eq!(code, 2, "{told}");
        assert!(told.contains("a claim on a directory ends with the process"), "{told}");
        assert!(told.contains("claim --exec COMMAND"), "{told}");
    }
}

#[test]
fn an_api_key_signs_contents_and_reaches_the_tenants_of_its_grant() {
    let mut pool = Pool::there("").with_key("acme:read,write,work");
    // Of unknown length, so that it is copied before it is signed.
    let output = pool.run(&large(), &["put", "-", "--tenant", "acme", "--name", "big"]);
    assert!(output.status.success(), "{output:?}");
    let big = text(&output.stdout).trim().to_owned();
    let small = pool.put("a.csv", "abc", &["--directory", "in", "--sha256", SHA256_OF_ABC]);
    assert!(pool.run(b"", &["get", &big, "--tenant", "acme"]).stdout == large());
    let file = pool.word("a.csv");
    let other = "0".repeat(64);
    let (code, told) = pool.refused(&["put", &file, "--tenant", "acme", "--sha256", &other]);
    assert_eq!((code, told.contains("the SHA-256 of the file should be 00")), (1, true), "{told}");
    // What the key has no right to is a refusal of the venue.
    let (code, told) = pool.refused(&["put", &file, "--tenant", "other"]);
    assert_eq!((code, told.contains("(forbidden)")), (6, true), "{told}");
    assert_eq!(pool.refused(&["tenant", "disable", "acme"]).0, 6);
    assert_eq!(pool.refused(&["watch", "ls"]).0, 6);

    let claimed = pool.object(&["claim", "--tenant", "acme"]);
    let token = claimed["token"].as_str().unwrap();
    assert_eq!(claimed["file"]["id"], big);
    let with = ["complete", token, "--with", &file, "--directory", "made"];
    pool.done(&with);
    assert_eq!(pool.paths(&[]), ["in/a.csv", "made/a.csv"]);
    let (code, told) = pool.refused(&with);
    assert_eq!((code, told.contains("has ended")), (1, true), "{told}");
    assert_eq!(pool.paths(&[]).len(), 2);
    pool.done(&["rm", &small, "--tenant", "acme"]);

    pool.venue().running.terminate();
    let (code, told) = pool.refused(&["ls", "--tenant", "acme"]);
    assert_eq!(code, 7, "{told}");
}

#[test]
fn tokens_of_claims_live_as_long_as_the_venue() {
    let pool = Pool::there("");
    for name in ["a", "b", "c", "d"] {
        pool.put(name, name, &[]);
    }
    let printed = pool.done(&["claim", "--tenant", "acme", "--limit", "4"]);
    let tokens: Vec<_> = printed.lines().collect();
    assert_eq!(tokens.len(), 4);
    pool.done(&["renew", tokens[0], tokens[1], "--for", "5m"]);
    // Nothing is done if one of them is no token.
    for call in ["complete", "fail", "refuse", "return", "renew"] {
        assert_eq!(pool.refused(&[call, tokens[0], "x"]).0, 2);
    }
    pool.done(&["complete", tokens[0]]);
    pool.done(&["refuse", tokens[1], "--reason", "no such column"]);
    pool.done(&["return", tokens[2]]);
    pool.done(&["fail", tokens[3], "--reason", "later", "--delay", "1h"]);
    assert_eq!(pool.paths(&[]).len(), 3);
    let dead = pool.dead_letter();
    assert_eq!((&dead["file"]["name"], &dead["detail"]), (&json!("b"), &json!("no such column")));
    let redriven = pool.run(b"", &["redrive", "--tenant", "acme"]);
    assert_eq!(text(&redriven.stderr), "1 redriven\n");
    let (code, told) = pool.refused(&["complete", tokens[0]]);
    assert_eq!((code, told.contains("has ended")), (1, true), "{told}");
    assert_eq!(pool.refused(&["complete", "x"]).0, 2);
    assert_eq!(pool.refused(&["complete", "x", "y", "--with", "z"]).0, 2);
    assert_eq!(pool.objects(&["claim", "--limit", "9", "--wait", "1s"]).len(), 2);
}

#[test]
fn a_content_is_streamed_and_a_refusal_in_the_middle_is_told() {
    let pool = Pool::there("");
    pool.done(&["tenant", "create", "acme", "--bytes-max", "10000000"]);
    // More than sockets hold, so that the refusal comes while the content is sent.
    let content: Vec<u8> = (0..64_000_000_u32).map(|nth| (nth % 251) as u8).collect();
    let output = pool.run(&content, &["put", "-", "--tenant", "acme"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(text(&output.stderr).contains("the quota of the tenant"), "{output:?}");
    pool.has_stored_files(0);
    pool.done(&["tenant", "quota", "acme", "--bytes-max", "0"]);
    let id = pool.put("big", &content, &[]);
    assert!(pool.run(b"", &["get", &id, "--tenant", "acme"]).stdout == content);
    let (code, told) = pool.refused(&["verify"]);
    assert_eq!((code, told.contains("stop the venue")), (2, true), "{told}");
}

#[test]
fn top_shows_depth_age_rates_and_attempts() {
    on_both(|pool| {
        pool.put("a", "abc", &[]);
        let top = pool.done(&["top", "--count", "2", "--every", "100ms"]);
        let tables: Vec<_> = top.lines().filter(|line| line.starts_with("TENANT")).collect();
        assert_eq!(tables.len(), 2, "{top}");
        for column in ["WAITING", "OLDEST", "IN/S", "CLAIMS/S", "DONE/S", "CLAIMS", "FAILED"] {
            assert!(tables[0].contains(column), "{top}");
        }
        let rows: Vec<_> = top.lines().filter(|line| line.starts_with("acme")).collect();
        assert!(rows[0].contains(" - ") && rows[1].contains(" 0.0 "), "{top}");
    });
}

#[test]
fn a_key_encrypts_what_the_command_writes() {
    let pool = Pool::new();
    let keys = pool.write("keys", format!("3: {}\n", "a7".repeat(32)));
    fs::set_permissions(&keys, fs::Permissions::from_mode(0o600)).unwrap();
    let keys = ["--log-keys", &keys];
    let id = pool.put("confidential-name", "confidential ".repeat(9_000), &keys);
    let inline = pool.put("small", "confidential", &keys);
    let holds = |bytes: &[u8]| bytes.windows(12).any(|window| window == b"confidential");
    let files = pool.all_files().into_iter();
    let in_clear: Vec<_> = files.filter(|it| holds(&fs::read(it).unwrap())).collect();
    assert!(in_clear.is_empty(), "{in_clear:?}");
    for (id, times) in [(&id, 9_000), (&inline, 1)] {
        let read = pool.done(&[&["get", id, "--tenant", "acme"], &keys[..]].concat());
        assert_eq!(read.matches("confidential").count(), times);
    }
    let (_, told) = pool.refused(&["get", &id, "--tenant", "acme"]);
    assert!(told.contains("key"), "{told}");
}
