//! The completion of an upload: slow ones, lost answers, and what is left.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod raw;

use raw::{Answer, Signed, World, tenant, until};
use rialto_depot_desk::DepotLimits;
use rialto_s3::{PART_BYTES_MIN, S3Options};
use std::io::{Read, Write};

const PART_BYTES: usize = PART_BYTES_MIN as usize;

/// The text of an element.
fn element<'t>(body: &'t str, name: &str) -> &'t str {
    let begin = body.split(&format!("<{name}>")).nth(1).unwrap_or_default();
    begin.split(&format!("</{name}>")).next().unwrap_or_default()
}

/// Begins an upload, and stores two parts. Returns its completion.
fn begun(world: &World, key: &str) -> Signed {
    let begun = world.send(&raw::signed("POST", &format!("/acme/{key}?uploads="), b""));
    let id = element(&begun.body, "UploadId").to_owned();
    let mut list = String::new();
    for number in 1..=2_u8 {
        let target = format!("/acme/{key}?partNumber={number}&uploadId={id}");
        let stored = world.send(&raw::signed("PUT", &target, &vec![number; PART_BYTES]));
        let etag = stored.header("etag").unwrap();
        list += &format!("<Part><PartNumber>{number}</PartNumber><ETag>{etag}</ETag></Part>");
    }
    let body = format!("<CompleteMultipartUpload>{list}</CompleteMultipartUpload>");
    raw::signed("POST", &format!("/acme/{key}?uploadId={id}"), body.as_bytes())
}

fn is_there(world: &World, key: &str) -> bool {
    world.depot.file_at(&tenant("acme"), key).is_ok()
}

#[test]
fn a_slow_completion_is_heard_of_and_goes_on_when_its_client_has_gone() {
    let world = World::with_depot(S3Options::default(), DepotLimits::default(), |options| {
        options.rates.tenant_bytes_per_second = 2 << 20;
    });
    let complete = begun(&world, "a");
    let send = || {
        let mut stream = world.connect();
        stream.write_all(&complete.head()).unwrap();
        stream.write_all(&complete.wire()).unwrap();
        stream
    };
    // The head comes while the content is copied; then the client goes.
    let mut stream = send();
    let mut some = [0; 200];
    let read = stream.read(&mut some).unwrap();
    assert!(some[..read].starts_with(b"HTTP/1.1 200 "));
    assert!(!is_there(&world, "a"));
    drop(stream);
    // A repeat waits for the first one, with spaces before its answer.
    let again = Answer::read(&mut send());
    assert!(is_there(&world, "a"));
    assert!(again.body.contains("\r\n1\r\n \r\n"), "{}", again.body);
    let etag = element(&again.body, "ETag").to_owned();
    assert!(etag.ends_with("-sha256\""), "{etag}");
    // And a later one gets the same answer at once.
    let later = world.send(&complete);
    assert_eq!((later.status, element(&later.body, "ETag")), (200, &*etag));
    until("parts and upload are deleted", || world.files() == 1);
}

#[test]
fn an_upload_that_outlived_its_completion_is_deleted_by_the_repeat() {
    let world = World::new();
    let complete = begun(&world, "a");
    let acme = tenant("acme");
    // As after a crash between the object and the end of the upload: the upload is there again.
    let id =
        world.depot.kept_files(&acme, ".multipart/uploads/", None, 1).unwrap()[0].record.clone();
    let first = world.send(&complete);
    assert_eq!(first.status, 200, "{}", first.body);
    until("parts and upload are deleted", || world.files() == 1);
    let file = rialto_depot::NewFile {
        metadata: id.metadata.clone(),
        kind: Some(rialto_depot::DirectoryKind::Shelf),
        ..rialto_depot::NewFile::new(id.directory.clone(), id.name.clone())
    };
    world.depot.put_bytes(&acme, file, b"").unwrap();
    assert_eq!(world.files(), 2);
    // Its parts are gone, and are not asked for.
    let again = world.send(&complete);
    assert_eq!((again.status, &again.body), (200, &first.body));
    until("the upload is deleted", || world.files() == 1);
}
