//! A store that does what it is asked, and whose answer does not arrive.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod object_server;

use object_server::ObjectServer;
use rialto_depot::FileId;
use rialto_depot::volume::{VolumeNumber, VolumeOptions, VolumePlace, VolumeSpec, Volumes};
use rialto_disk::SimDisk;
use std::sync::Arc;

#[test]
fn a_file_whose_completion_was_done_and_not_answered_is_stored() {
    let server = ObjectServer::start();
    let buckets = Arc::new(ObjectServer::buckets());
    let options = VolumeOptions { buckets: Some(buckets), ..VolumeOptions::default() };
    let volumes = Volumes::new(Arc::new(SimDisk::new(1)), options);
    let place = VolumePlace::Bucket(server.spec("p"));
    let spec = VolumeSpec { name: "cold".to_owned(), place, weight: 1, identity: None };
    volumes.mount(VolumeNumber(1), &spec).unwrap();
    server.kept.lock().unwrap().cuts_completions = true;
    let content: Vec<u8> = (0..9_000_000_u32).map(|nth| (nth % 251) as u8).collect();
    let id = FileId(1 << 64);
    let mut writer = volumes.begin(id, None, &[]).unwrap();
    writer.write(&content).unwrap();
    let finished = writer.finish(b"").unwrap();
    finished.make_durable().unwrap();
    let completions = server.kept.lock().unwrap().requests.clone();
    let completions = completions.iter().filter(|it| it.starts_with("POST") && it.contains("Id"));
    assert_eq!(completions.count(), 2, "the client asks again, and there are no parts then");
    let mut read = vec![0; content.len()];
    volumes.open(id, finished.stored()).unwrap().read_at(0, &mut read).unwrap();
    assert!(read == content);
}
