//! Volumes in buckets: what they store, and what they do when a bucket fails.

use crate::bucket_stage::{Asked, MemoryBucket, MemoryBuckets, bucket_at, place_at};
use crate::volume_stage::{MIB, ONE, TWO, content, id, options, read, spec, write};
use rialto_depot::volume::{
    BucketSpec, ScanCursor, VolumeError, VolumeOptions, VolumePlace, VolumeSpec, VolumeState,
    Volumes,
};
use rialto_disk::SimDisk;
use std::path::Path;
use std::sync::Arc;

fn bucket_spec(name: &str, prefix: &str) -> VolumeSpec {
    VolumeSpec { name: name.to_owned(), place: place_at(prefix), weight: 1, identity: None }
}

fn with(buckets: &MemoryBuckets) -> VolumeOptions {
    VolumeOptions { buckets: Some(Arc::new(buckets.clone())), ..options() }
}

/// One volume `one` in the prefix `p` of a bucket.
fn in_bucket() -> (MemoryBucket, MemoryBuckets, Volumes) {
    let buckets = MemoryBuckets::default();
    let volumes = Volumes::new(Arc::new(SimDisk::new(1)), with(&buckets));
    volumes.mount(ONE, &bucket_spec("one", "p")).unwrap();
    (buckets.bucket.clone(), buckets, volumes)
}

/// As [`in_bucket`], and a volume `two` in a directory, which takes files if the bucket does not.
fn with_a_directory() -> (MemoryBucket, Volumes) {
    let (bucket, _, volumes) = in_bucket();
    volumes.mount(TWO, &spec("two", Path::new("/two"))).unwrap();
    (bucket, volumes)
}

#[test]
fn files_of_all_sizes_are_objects_and_are_read_back() {
    let (bucket, _, volumes) = in_bucket();
    let sizes = [0, 10, MIB - 300, MIB, MIB + 1, 8 * MIB, 8 * MIB + 1, 17 * MIB];
    for (nth, bytes) in (1..).zip(sizes) {
        bucket.forget_asked();
        let content = content(bytes, nth);
        let finished = write(&volumes, id(nth), &content, 300_000).unwrap();
        // What exists is durable.
        assert_eq!(volumes.list()[0].unsynced_bytes, 0);
        let key = format!("p/files/{}", id(nth));
        assert_eq!(bucket.bytes_of(&key).len() as u64, finished.stored().stored_bytes);
        finished.make_durable().unwrap();
        assert!(read(&volumes, id(nth), finished.stored()).unwrap() == content, "{bytes}");
        let (puts, parts) = (bucket.asked(Asked::Put), bucket.asked(Asked::Part));
        match bytes < MIB {
            true => assert_eq!((puts, parts), (1, 0), "{bytes}"),
            false => assert_eq!((puts, parts), (0, bytes as u64 / (8 << 20) + 1), "{bytes}"),
        }
    }
    assert_eq!(bucket.open_parts(), 0);
    assert!(volumes.remove(id(1), ONE).unwrap());
    assert_eq!(bucket.keys("p/files/").len(), sizes.len() - 1);
}

#[test]
fn a_bucket_that_fails_is_passed_over_and_nothing_of_the_file_stays_in_it() {
    for (asked, bytes) in [(Asked::Put, 9), (Asked::Put, 900_000), (Asked::Begin, 20 * MIB)] {
        let (bucket, volumes) = with_a_directory();
        bucket.fail(&[asked]);
        for nth in 1..=20 {
            let content = content(bytes, nth);
            let finished = write(&volumes, id(nth * 977), &content, 300_000).unwrap();
            finished.make_durable().unwrap();
            assert_eq!(finished.stored().volume, TWO);
            assert!(read(&volumes, id(nth * 977), finished.stored()).unwrap() == content);
        }
        assert_eq!(volumes.list()[0].state, VolumeState::Failed, "{asked:?}");
        assert_eq!(bucket.keys("p/files/"), Vec::<String>::new());
        assert_eq!(bucket.asked(asked), 1, "a volume that failed is not tried again");
    }
}

#[test]
fn a_file_that_fails_in_the_middle_is_refused_and_leaves_nothing() {
    for asked in [Asked::Part, Asked::Complete] {
        let (bucket, _, volumes) = in_bucket();
        bucket.fail(&[asked]);
        let refused = write(&volumes, id(1), &content(20 * MIB, 1), MIB).unwrap_err();
        assert!(refused.to_string().contains("503 Slow Down"), "{refused}");
        assert_eq!(bucket.keys("p/files/"), Vec::<String>::new(), "{asked:?}");
        assert_eq!(bucket.open_parts(), 0, "{asked:?}");
        let no_volume = volumes.begin(id(2), None, &[]).unwrap_err();
        assert!(matches!(no_volume, VolumeError::NoVolume { .. }), "{no_volume}");
        // A probe stores an object and reads it back, once the bucket answers.
        bucket.fail(&[Asked::Put]);
        assert!(volumes.probe().is_empty());
        bucket.fail(&[]);
        assert_eq!(volumes.probe(), [ONE]);
        write(&volumes, id(2), &content(20 * MIB, 1), MIB).unwrap();
        assert_eq!(bucket.keys("p/probe"), Vec::<String>::new());
    }
}

#[test]
fn a_completion_whose_answer_is_lost_is_a_completion() {
    // The last part has the footer, or a few bytes of it.
    for bytes in [3 * MIB, 20 * MIB, 8 * MIB - 150] {
        let (bucket, _, volumes) = in_bucket();
        bucket.lose_answers(true);
        bucket.fail(&[Asked::Complete]);
        let finished = write(&volumes, id(1), &content(bytes, 1), MIB).unwrap();
        finished.make_durable().unwrap();
        assert_eq!((bucket.open_parts(), bucket.asked(Asked::Abort)), (0, 0));
        assert_eq!(volumes.list()[0].state, VolumeState::Up);
        assert!(read(&volumes, id(1), finished.stored()).unwrap() == content(bytes, 1));
    }
}

#[test]
fn an_earlier_object_of_the_id_is_no_completion() {
    for before in [content(3 * MIB, 2), content(3 * MIB + 1, 1)] {
        let (bucket, _, volumes) = in_bucket();
        write(&volumes, id(1), &before, MIB).unwrap();
        bucket.fail(&[Asked::Complete]);
        let refused = write(&volumes, id(1), &content(3 * MIB, 1), MIB).unwrap_err();
        assert!(refused.to_string().contains("503 Slow Down"), "{refused}");
    }
}

#[test]
fn a_writer_that_is_dropped_leaves_no_object_and_no_parts() {
    let (bucket, _, volumes) = in_bucket();
    for bytes in [10, 3 * MIB, 20 * MIB] {
        let mut writer = volumes.begin(id(1), None, &[]).unwrap();
        writer.write(&content(bytes, 1)).unwrap();
        drop(writer);
        assert_eq!((bucket.keys("p/files/").len(), bucket.open_parts()), (0, 0), "{bytes}");
    }
    let finished = write(&volumes, id(2), b"x", 1).unwrap();
    finished.discard();
    assert_eq!(bucket.keys("p/files/").len(), 0);
}

#[test]
fn the_memory_of_writers_to_buckets_has_a_limit() {
    let buckets = MemoryBuckets::default();
    let limited = VolumeOptions { bucket_bytes_max: 17 << 20, ..with(&buckets) };
    let volumes = Volumes::new(Arc::new(SimDisk::new(1)), limited);
    volumes.mount(ONE, &bucket_spec("one", "p")).unwrap();
    let long = content(2 * MIB, 1);
    let begin = |nth| {
        let mut writer = volumes.begin(id(nth), None, &[]).unwrap();
        writer.write(&long).map(|()| writer)
    };
    // Until the ends of their files, however long these are.
    let (mut first, second) = (begin(1).unwrap(), begin(2).unwrap());
    first.write(&content(20 * MIB, 1)).unwrap();
    let refused = begin(3).unwrap_err();
    assert!(matches!(refused, VolumeError::TooManyBucketWriters { .. }), "{refused}");
    assert!(refused.may_succeed_elsewhere());
    // The bucket has not failed, and a file of one block needs no more than its request.
    assert_eq!(volumes.list()[0].state, VolumeState::Up);
    write(&volumes, id(4), &content(900_000, 4), MIB).unwrap();
    let finished = first.finish(b"").unwrap();
    let third = begin(5).unwrap();
    begin(6).unwrap_err();
    drop(second);
    buckets.bucket.fail(&[Asked::Complete]);
    begin(7).unwrap().finish(b"").unwrap_err();
    buckets.bucket.fail(&[]);
    volumes.probe();
    let fourth = begin(8).unwrap();
    begin(9).unwrap_err();
    // Another volume takes what there is no memory for.
    volumes.mount(TWO, &spec("two", Path::new("/two"))).unwrap();
    let volume_of = |nth: u64| {
        let finished = write(&volumes, id(nth * 977), &long, MIB).unwrap();
        assert!(read(&volumes, id(nth * 977), finished.stored()).unwrap() == long);
        finished.stored().volume
    };
    assert!((10..30).all(|nth| volume_of(nth) == TWO));
    drop(fourth);
    assert!((30..50).any(|nth| volume_of(nth) == ONE));
    drop((third, finished));
}

#[test]
fn a_bucket_that_does_not_answer_is_no_loss_of_files() {
    let (bucket, _, volumes) = in_bucket();
    let finished = write(&volumes, id(1), &content(3 * MIB, 1), MIB).unwrap();
    bucket.fail_all();
    let unread = read(&volumes, id(1), finished.stored()).unwrap_err();
    assert!(!unread.is_damage() && unread.may_succeed_elsewhere(), "{unread}");
    assert!(volumes.scan(ONE, &mut ScanCursor::default(), 9).is_err());
    assert!(volumes.quarantine(id(1), ONE).is_err());
    assert!(volumes.remove(id(1), ONE).is_err());
    assert!(volumes.probe().is_empty() && volumes.list()[0].state == VolumeState::Failed);
    bucket.fail(&[]);
    assert_eq!(volumes.probe(), [ONE]);
    assert!(read(&volumes, id(1), finished.stored()).unwrap() == content(3 * MIB, 1));
}

#[test]
fn damaged_short_and_missing_objects_are_noticed() {
    let (bucket, _, volumes) = in_bucket();
    let finished = write(&volumes, id(1), &content(900, 1), 900).unwrap();
    let key = format!("p/files/{}", id(1));
    let whole = bucket.bytes_of(&key);
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        bucket.set(&key, bytes);
        assert!(read(&volumes, id(1), finished.stored()).unwrap_err().is_damage(), "byte {at}");
    }
    for cut in [0, 1, 128, whole.len() - 1] {
        bucket.set(&key, whole[..cut].to_vec());
        assert!(read(&volumes, id(1), finished.stored()).unwrap_err().is_damage(), "{cut}");
    }
    bucket.set(&key, whole);
    bucket.cut_reads(Some(200));
    assert!(read(&volumes, id(1), finished.stored()).is_err());
    bucket.cut_reads(None);
    read(&volumes, id(1), finished.stored()).unwrap();
    bucket.forget(&key);
    let missing = read(&volumes, id(1), finished.stored()).unwrap_err();
    assert!(matches!(missing, VolumeError::Missing { .. }), "{missing}");
    // A prefix without its identity is not the volume, so that its files count as absent.
    bucket.forget("p/VOLUME");
    let gone = read(&volumes, id(1), finished.stored()).unwrap_err();
    assert!(matches!(gone, VolumeError::Gone { .. }), "{gone}");
}

#[test]
fn a_prefix_is_one_volume_of_one_pool() {
    let (bucket, buckets, volumes) = in_bucket();
    let identity = volumes.list()[0].identity;
    let other = Volumes::new(Arc::new(SimDisk::new(2)), with(&buckets));
    // Also an empty one: nothing locks a bucket.
    let refused = other.mount(ONE, &bucket_spec("one", "p")).unwrap_err();
    assert!(matches!(refused, VolumeError::PrefixTaken { has_files: false, .. }), "{refused}");
    assert!(refused.to_string().contains(&identity.to_string()), "{refused}");
    write(&volumes, id(1), b"a file", 9).unwrap();
    let refused = other.mount(ONE, &bucket_spec("one", "p")).unwrap_err();
    assert!(matches!(refused, VolumeError::PrefixTaken { has_files: true, .. }), "{refused}");
    other.mount(ONE, &bucket_spec("one", "q")).unwrap();
    volumes.unmount(ONE).unwrap();
    let again = VolumeSpec { identity: Some(identity), ..bucket_spec("one", "p") };
    assert_eq!(volumes.mount(ONE, &again).unwrap(), identity);
    let wrong = VolumeSpec { identity: Some(identity), ..bucket_spec("two", "q") };
    assert!(matches!(volumes.mount(TWO, &wrong), Err(VolumeError::Foreign { .. })));
    let gone = VolumeSpec { identity: Some(identity), ..bucket_spec("two", "r") };
    assert!(matches!(volumes.mount(TWO, &gone), Err(VolumeError::Gone { .. })));
    bucket.fail(&[Asked::Create]);
    let failed = volumes.mount(TWO, &bucket_spec("two", "s")).unwrap_err();
    assert!(failed.to_string().contains("503"), "{failed}");
    assert_eq!(bucket.keys("s/"), Vec::<String>::new());
    // The same in a store that ignores the condition.
    bucket.fail(&[]);
    bucket.ignore_conditions();
    let refused = other.mount(TWO, &bucket_spec("two", "p")).unwrap_err();
    assert!(refused.to_string().contains(&identity.to_string()), "{refused}");
    // The identity that an earlier attempt of the same call stored is its own.
    bucket.lose_answers(true);
    bucket.fail(&[Asked::Create]);
    other.mount(TWO, &bucket_spec("two", "u")).unwrap();
    bucket.fail(&[]);
    bucket.repeat_creates();
    volumes.mount(TWO, &bucket_spec("two", "t")).unwrap();
}

#[test]
fn a_specification_that_is_not_valid_is_refused_before_the_bucket_is_asked() {
    let (bucket, buckets, volumes) = in_bucket();
    bucket.forget_asked();
    let bad = |bucket| VolumeSpec { place: VolumePlace::Bucket(bucket), ..bucket_spec("two", "") };
    for spec in [
        BucketSpec { prefix: "../p".to_owned(), ..bucket_at("") },
        BucketSpec { endpoint: "http://s3.example.com".to_owned(), ..bucket_at("") },
        BucketSpec { bucket: "no".to_owned(), ..bucket_at("") },
    ] {
        let refused = volumes.mount(TWO, &bad(spec)).unwrap_err();
        assert!(matches!(refused, VolumeError::InvalidSpec { .. }), "{refused}");
    }
    buckets.refuse(Some("its bucket has no credentials"));
    let refused = volumes.mount(TWO, &bad(bucket_at("x"))).unwrap_err();
    assert!(refused.to_string().contains("no credentials"), "{refused}");
    let without = Volumes::new(Arc::new(SimDisk::new(3)), options());
    let refused = without.mount(ONE, &bucket_spec("one", "p")).unwrap_err();
    assert!(refused.to_string().contains("built without buckets"), "{refused}");
    assert_eq!(bucket.asked(Asked::Create) + bucket.asked(Asked::Read), 0);
}

#[test]
fn a_scan_costs_one_list_and_the_quarantine_one_copy_or_parts() {
    let (bucket, _, volumes) = in_bucket();
    for (nth, bytes) in [(1, 10), (2, 3 * MIB), (3, 20 * MIB)] {
        write(&volumes, id(nth), &content(bytes, nth), MIB).unwrap();
    }
    bucket.set("p/files/foreign", vec![1]);
    bucket.set("p2/files/other", vec![1]);
    bucket.forget_asked();
    let mut cursor = ScanCursor::default();
    let found = volumes.scan(ONE, &mut cursor, 1_000).unwrap();
    assert_eq!(found.iter().map(|file| file.id).collect::<Vec<_>>(), [id(1), id(2), id(3)]);
    assert_eq!((cursor.foreign(), volumes.scan(ONE, &mut cursor, 9).unwrap().len()), (1, 0));
    assert_eq!((bucket.asked(Asked::List), bucket.asked(Asked::Head)), (1, 0));
    let whole = bucket.bytes_of(&format!("p/files/{}", id(3)));
    for nth in 1..=3 {
        volumes.quarantine(id(nth), ONE).unwrap();
    }
    assert_eq!(bucket.keys("p/files/"), ["p/files/foreign"]);
    assert_eq!(volumes.quarantined(ONE, None).unwrap(), [id(1), id(2), id(3)]);
    assert_eq!(volumes.quarantined(ONE, Some(id(1))).unwrap(), [id(2), id(3)]);
    assert!(bucket.bytes_of(&format!("p/quarantine/{}", id(3))) == whole);
    volumes.open_quarantined(id(3), ONE).unwrap().verify().unwrap();
    assert!(matches!(volumes.quarantine(id(1), ONE), Err(VolumeError::Missing { .. })));
    // A failure in the middle of the copy keeps the file where it is.
    write(&volumes, id(4), &content(20 * MIB, 4), MIB).unwrap();
    for asked in [Asked::Begin, Asked::Part, Asked::Complete] {
        bucket.fail(&[asked]);
        assert!(volumes.quarantine(id(4), ONE).is_err());
        assert_eq!(bucket.keys("p/quarantine/").len(), 3);
        assert_eq!((bucket.keys("p/files/").len(), bucket.open_parts()), (2, 0));
    }
}

#[test]
fn the_share_of_a_bucket_is_its_weight_and_its_space_is_not_counted() {
    let (_, _, volumes) = in_bucket();
    let alone = volumes.begin(id(1), Some(1 << 50), &[]).unwrap();
    assert_eq!(alone.volume(), ONE);
    drop(alone);
    let heavy = VolumeSpec { weight: 3, ..spec("two", Path::new("/two")) };
    volumes.mount(TWO, &heavy).unwrap();
    let on_two = (0..4000)
        .filter(|nth| volumes.begin(id(nth * 977), None, &[]).unwrap().volume() == TWO)
        .count();
    assert!((2_800..3_200).contains(&on_two), "{on_two}");
    let (status, totals) = (volumes.list(), volumes.totals());
    assert_eq!((totals.file_systems, Some(totals.free_bytes)), (1, status[1].free_bytes));
    assert_eq!((status[0].free_bytes, status[0].total_bytes), (None, None));
    assert_eq!(status[0].bucket, Some(bucket_at("p")));
}
