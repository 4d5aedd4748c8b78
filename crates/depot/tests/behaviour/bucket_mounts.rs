//! A loss of power after every operation of the mount of a bucket.

use crate::bucket_stage::{Asked, MemoryBuckets, place_at};
use crate::simulated::{Stage, at, tenant};
use rialto_depot::volume::VolumeError;
use rialto_depot::{Depot, DepotError, Level, VolumeIdentity, VolumeSpec};
use std::sync::Arc;

struct Mounting {
    stage: Stage,
    buckets: MemoryBuckets,
}

impl Mounting {
    fn new(seed: u64) -> Self {
        Self { stage: Stage::new(seed, Level::Synced), buckets: MemoryBuckets::default() }
    }

    fn open(&self) -> Depot {
        let mut options = self.stage.options();
        options.volumes.buckets = Some(Arc::new(self.buckets.clone()));
        Depot::open_stepped(options).unwrap()
    }

    /// A new pool with the volume of its own directory.
    fn open_new(&self) -> Depot {
        let depot = self.open();
        depot.create_tenant(&tenant("acme"), rialto_depot::Quota::default()).unwrap();
        depot
    }

    /// Mounts as an operator does after a mount that was interrupted. Returns whether the identity was
    /// needed.
    fn mount_again(&self, depot: &Depot) -> bool {
        if depot.volumes().iter().any(|volume| volume.name == "cold") {
            return false;
        }
        match depot.mount(cold(None)) {
            Ok(_) => false,
            Err(DepotError::Volume(VolumeError::PrefixTaken {
                found, has_files: false, ..
            })) => {
                depot.mount(cold(Some(found))).unwrap();
                true
            }
            Err(error) => panic!("{error}"),
        }
    }

    /// The bucket takes a file, also behind another start.
    fn check(&self, depot: Depot) {
        let identity = depot.volumes().pop().unwrap().identity;
        let stored = self.buckets.bucket.bytes_of("pool/VOLUME");
        assert!(String::from_utf8(stored).unwrap().contains(&identity.to_string()));
        depot.drain_volume("main", true).unwrap();
        let file = depot.put_bytes(&tenant("acme"), at("in/a"), &[1; 5_000]).unwrap().file;
        assert_eq!(self.buckets.bucket.keys("pool/files/").len(), 1);
        drop(depot);
        let depot = self.open();
        let read = depot.open_file(&tenant("acme"), file.id).unwrap().read_all().unwrap();
        assert_eq!(read, [1; 5_000]);
    }
}

fn cold(identity: Option<VolumeIdentity>) -> VolumeSpec {
    VolumeSpec { name: "cold".to_owned(), place: place_at("pool"), weight: 1, identity }
}

#[test]
fn a_mount_that_lost_power_can_be_made_again() {
    let mut needed = 0;
    for operations in 0.. {
        let mounting = Mounting::new(operations);
        let depot = mounting.open_new();
        mounting.stage.disk.crash_after(operations);
        let mounted = depot.mount(cold(None));
        let is_down = mounting.stage.disk.is_down();
        assert!(is_down || mounted.is_ok(), "{mounted:?}");
        drop(depot);
        mounting.stage.disk.restart();
        let depot = mounting.open();
        needed += u64::from(mounting.mount_again(&depot));
        mounting.check(depot);
        if !is_down {
            break;
        }
    }
    assert!(needed > 0, "no crash was between the identity and its record");
}

#[test]
fn a_mount_whose_requests_fail_can_be_made_again() {
    for (asked, loses_answers) in
        [(Asked::Read, false), (Asked::Create, false), (Asked::Create, true)]
    {
        let mounting = Mounting::new(1);
        let depot = mounting.open_new();
        mounting.buckets.bucket.lose_answers(loses_answers);
        mounting.buckets.bucket.fail(&[asked]);
        assert_eq!(depot.mount(cold(None)).is_ok(), loses_answers, "{asked:?}");
        mounting.buckets.bucket.fail(&[]);
        assert!(!mounting.mount_again(&depot), "{asked:?}");
        mounting.check(depot);
    }
}

#[test]
fn the_prefix_of_another_pool_is_not_taken_over() {
    let (one, mut other) = (Mounting::new(1), Mounting::new(2));
    other.buckets = one.buckets.clone();
    let depot = one.open_new();
    depot.mount(cold(None)).unwrap();
    let refused = other.open_new().mount(cold(None)).unwrap_err().to_string();
    let identity = depot.volumes().pop().unwrap().identity.to_string();
    assert!(refused.contains(&identity) && refused.contains("another prefix"), "{refused}");
    assert!(refused.contains("if no pool uses it"), "{refused}");
    one.check(depot);
}

#[test]
fn a_volume_that_the_pool_has_is_not_mounted_under_another_name() {
    let mounting = Mounting::new(1);
    let depot = mounting.open_new();
    depot.mount(cold(None)).unwrap();
    let identity = depot.volumes().pop().unwrap().identity;
    let refused = |identity| {
        let again = VolumeSpec { name: "again".to_owned(), ..cold(identity) };
        let error = depot.mount(again).unwrap_err().to_string();
        assert!(error.contains("is the volume cold of this pool"), "{error}");
    };
    refused(None);
    refused(Some(identity));
    assert_eq!(depot.volumes().len(), 2);
}
