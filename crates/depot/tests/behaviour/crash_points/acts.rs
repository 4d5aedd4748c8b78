//! What a pool does while it is interrupted.

use crate::simulated::world::{Holding, Kind, World, end_deletions};
use crate::simulated::{at, content, dir, pass, settle, tenant};
use rialto_depot::{
    Claim, ClaimOptions, Depot, DepotError, DirectoryKind, NewFile, Quota, VolumeSpec,
};
use std::time::Duration;

pub(crate) type Step = Result<(), DepotError>;

pub(crate) struct Act {
    /// Is not interrupted.
    pub(crate) prepare: fn(&mut World),
    pub(crate) run: fn(&mut World) -> Step,
}

pub(crate) const SMALL: usize = 100;
pub(crate) const MEDIUM: usize = 30_000;
const LARGE: usize = (1 << 20) + 70_000;

/// A tenant with a shelf `out`, and a file of each kind.
pub(crate) fn some_files(world: &mut World) {
    let acme = tenant("acme");
    let depot = world.depot();
    depot.create_tenant(&acme, Quota::default()).unwrap();
    let shelf = Some(DirectoryKind::Shelf);
    depot.set_directory(&acme, &dir("out"), shelf, Quota::default()).unwrap();
    depot.set_directory(&acme, &dir("in"), None, Quota { files_max: 100, bytes_max: 0 }).unwrap();
    put(world, at("out/kept"), MEDIUM).unwrap();
    put(world, at("in/first"), MEDIUM).unwrap();
    put(world, at("in/second"), SMALL).unwrap();
    settle(world.depot()).unwrap();
}

pub(crate) fn put(world: &mut World, file: NewFile, bytes: usize) -> Step {
    let path = format!("{}/{}", file.directory, file.name.as_ref().unwrap());
    let kind = if path.starts_with("out/") { Kind::Kept } else { Kind::Work };
    let bytes = content(bytes, path.len() as u64 + bytes as u64);
    let held = bytes.clone();
    let change = |files: &mut Holding| drop(files.insert(format!("acme:{path}"), (kind, held)));
    world.call(change, |depot| depot.put_bytes(&tenant("acme"), file, &bytes).map(drop))
}

fn gone(path: &'static str) -> impl FnOnce(&mut Holding) {
    move |files| drop(files.remove(&format!("acme:{path}")))
}

fn becomes(path: &'static str, kind: Kind) -> impl FnOnce(&mut Holding) {
    move |files| files.get_mut(&format!("acme:{path}")).unwrap().0 = kind
}

/// Claims the oldest file, `in/first`.
fn claim(world: &mut World) -> Result<Claim, DepotError> {
    let claims = world.depot().claim(&tenant("acme"), &ClaimOptions::default())?;
    Ok(claims.into_iter().next().unwrap())
}

fn id(world: &World, path: &str) -> rialto_depot::FileId {
    let acme = tenant("acme");
    let work = world.depot().work_files(&acme, path, None, 10).unwrap();
    let kept = world.depot().kept_files(&acme, path, None, 10).unwrap();
    work.into_iter().chain(kept).find(|info| info.record.path() == path).unwrap().record.id
}

fn delete(world: &mut World, path: &'static str) -> Step {
    let id = id(world, path);
    world.call(gone(path), |depot| depot.delete(&tenant("acme"), id))
}

/// Lets `in/first` become a dead letter.
fn bury(world: &mut World) {
    let claim = claim(world).unwrap();
    let refused = becomes("in/first", Kind::Dead);
    world.call(refused, |depot| depot.refuse(claim.token(), "no such column")).unwrap();
    settle(world.depot()).unwrap();
}

fn act(run: fn(&mut World) -> Step) -> Act {
    Act { prepare: some_files, run }
}

pub(crate) fn a_small_file() -> Act {
    act(|world| put(world, at("in/new"), SMALL))
}

pub(crate) fn a_file_on_a_volume() -> Act {
    act(|world| put(world, at("in/new"), MEDIUM))
}

pub(crate) fn a_large_file() -> Act {
    act(|world| put(world, at("in/new"), LARGE))
}

pub(crate) fn a_file_with_a_submit_key() -> Act {
    act(|world| {
        let file = || NewFile { submit_key: Some("k".to_owned()), ..at("in/new") };
        put(world, file(), MEDIUM)?;
        // A repeat changes nothing.
        let again = world.known["acme:in/new"].1.clone();
        let repeat = |depot: &Depot| depot.put_bytes(&tenant("acme"), file(), &again);
        assert!(world.call(|_| {}, repeat)?.is_repeat);
        settle(world.depot())
    })
}

pub(crate) fn a_delayed_file() -> Act {
    act(|world| {
        let deliver_at = Some(world.stage.now().after(Duration::from_secs(100)));
        put(world, NewFile { deliver_at, ..at("in/new") }, SMALL)?;
        pass(&world.stage, world.depot(), Duration::from_secs(200))
    })
}

pub(crate) fn a_first_file_of_a_tenant() -> Act {
    Act {
        prepare: |_| {},
        run: |world| {
            put(world, at("in/new"), SMALL)?;
            settle(world.depot())
        },
    }
}

pub(crate) fn a_kept_file() -> Act {
    act(|world| put(world, at("out/new"), MEDIUM))
}

pub(crate) fn a_kept_file_that_replaces_another() -> Act {
    act(|world| {
        put(world, at("out/kept"), SMALL)?;
        settle(world.depot())
    })
}

pub(crate) fn a_claim() -> Act {
    act(|world| {
        claim(world)?;
        settle(world.depot())
    })
}

pub(crate) fn a_claim_that_is_renewed_and_given_back() -> Act {
    act(|world| {
        let claim = claim(world)?;
        world.depot().renew(claim.token(), Duration::from_secs(100))?;
        settle(world.depot())?;
        world.depot().give_back(claim.token())?;
        settle(world.depot())
    })
}

pub(crate) fn a_completion() -> Act {
    act(|world| {
        let claim = claim(world)?;
        world.call(gone("in/first"), |depot| depot.complete(claim.token()))?;
        settle(world.depot())
    })
}

pub(crate) fn a_completion_of_many() -> Act {
    act(|world| {
        let claims = world.depot().claim(&tenant("acme"), &ClaimOptions::up_to(10))?;
        let tokens: Vec<_> = claims.iter().map(|claim| claim.token().clone()).collect();
        let both = |files: &mut Holding| files.retain(|path, _| !path.starts_with("acme:in/"));
        world.call(both, |depot| depot.complete_all(&tokens).into_iter().collect::<Step>())?;
        settle(world.depot())
    })
}

pub(crate) fn a_completion_with_results() -> Act {
    act(|world| {
        let claim = claim(world)?;
        let mut results = Vec::new();
        for (path, bytes) in [("out/result", MEDIUM), ("next/work", SMALL), ("out/kept", SMALL)] {
            let mut upload = world.depot().begin_result(claim.token(), at(path))?;
            upload.write(&content(bytes, 5))?;
            results.push(upload.finish_result()?);
        }
        let change = |files: &mut Holding| {
            files.remove("acme:in/first").unwrap();
            files.insert("acme:out/result".to_owned(), (Kind::Kept, content(MEDIUM, 5)));
            files.insert("acme:next/work".to_owned(), (Kind::Work, content(SMALL, 5)));
            files.insert("acme:out/kept".to_owned(), (Kind::Kept, content(SMALL, 5)));
        };
        world.call(change, |depot| depot.complete_with(claim.token(), results))?;
        // A result may be replaced, deleted and claimed at once.
        put(world, at("out/result"), SMALL)?;
        delete(world, "out/kept")?;
        delete(world, "next/work")?;
        settle(world.depot())
    })
}

pub(crate) fn a_failure() -> Act {
    act(|world| {
        let claim = claim(world)?;
        world.depot().fail(claim.token(), "not yet", None)?;
        settle(world.depot())
    })
}

/// The second of two attempts.
pub(crate) fn a_last_failure() -> Act {
    Act {
        prepare: |world| {
            some_files(world);
            let claim = claim(world).unwrap();
            world.depot().fail(claim.token(), "once", None).unwrap();
            pass(&world.stage, world.depot(), Duration::from_secs(100)).unwrap();
        },
        run: |world| {
            // If the process ends now, the attempt has failed.
            world.may_die = Some("acme:in/first".to_owned());
            let dead = becomes("in/first", Kind::Dead);
            world.call_in_doubt(dead, |depot| {
                let claims = depot.claim(&tenant("acme"), &ClaimOptions::default())?;
                assert_eq!(claims[0].file().path(), "in/first");
                depot.fail(claims[0].token(), "twice", None)
            })?;
            settle(world.depot())
        },
    }
}

pub(crate) fn a_refusal() -> Act {
    act(|world| {
        let claim = claim(world)?;
        let dead = becomes("in/first", Kind::Dead);
        world.call_in_doubt(dead, |depot| depot.refuse(claim.token(), "no such column"))?;
        settle(world.depot())
    })
}

pub(crate) fn a_deletion_of_a_waiting_file() -> Act {
    act(|world| {
        delete(world, "in/first")?;
        delete(world, "in/second")?;
        settle(world.depot())
    })
}

pub(crate) fn a_deletion_of_a_delayed_file() -> Act {
    Act {
        prepare: |world| {
            some_files(world);
            let deliver_at = Some(world.stage.now().after(Duration::from_secs(100)));
            put(world, NewFile { deliver_at, ..at("in/new") }, SMALL).unwrap();
        },
        run: |world| {
            delete(world, "in/new")?;
            settle(world.depot())?;
            pass(&world.stage, world.depot(), Duration::from_secs(200))
        },
    }
}

fn a_dead_letter(world: &mut World) {
    some_files(world);
    bury(world);
}

pub(crate) fn a_deletion_of_a_dead_letter() -> Act {
    Act {
        prepare: a_dead_letter,
        run: |world| {
            delete(world, "in/first")?;
            settle(world.depot())
        },
    }
}

pub(crate) fn a_deletion_of_a_kept_file() -> Act {
    act(|world| {
        delete(world, "out/kept")?;
        settle(world.depot())
    })
}

pub(crate) fn an_expiry() -> Act {
    Act {
        prepare: |world| {
            some_files(world);
            let expires_at = Some(world.stage.now().after(Duration::from_secs(10)));
            for (path, bytes) in [("in/brief", MEDIUM), ("out/brief", SMALL)] {
                put(world, NewFile { expires_at, ..at(path) }, bytes).unwrap();
            }
            world.stage.clock.advance(Duration::from_secs(10));
            // From now on they are gone, whatever else happens.
            world.known.retain(|path, _| !path.ends_with("brief"));
        },
        run: |world| settle(world.depot()),
    }
}

pub(crate) fn a_redrive() -> Act {
    Act {
        prepare: a_dead_letter,
        run: |world| {
            let waits = becomes("in/first", Kind::Work);
            let redrive = |depot: &Depot| depot.redrive(&tenant("acme"), 10);
            assert_eq!(world.call(waits, redrive)?, 1);
            settle(world.depot())
        },
    }
}

pub(crate) fn a_deletion_of_a_redriven_file() -> Act {
    Act {
        prepare: |world| {
            a_dead_letter(world);
            let waits = becomes("in/first", Kind::Work);
            world.call(waits, |depot| depot.redrive(&tenant("acme"), 10)).unwrap();
        },
        run: |world| {
            delete(world, "in/first")?;
            settle(world.depot())
        },
    }
}

pub(crate) fn a_deletion_of_a_tenant() -> Act {
    Act {
        prepare: a_dead_letter,
        run: |world| {
            world.call(Holding::clear, |depot| depot.delete_tenant(&tenant("acme")))?;
            end_deletions(world.depot())?;
            settle(world.depot())?;
            // Its name is free, and nothing of it comes back under it.
            put(world, at("in/first"), SMALL)
        },
    }
}

pub(crate) fn changes_of_a_tenant() -> Act {
    act(|world| {
        let (acme, depot) = (tenant("acme"), world.depot());
        depot.disable_tenant(&acme)?;
        depot.drain_tenant(&acme)?;
        depot.set_quota(&acme, Quota { files_max: 5, bytes_max: 1 << 20 })?;
        depot.enable_tenant(&acme)?;
        depot.set_directory(&acme, &dir("in"), None, Quota::default())?;
        depot.set_directory(&acme, &dir(""), None, Quota { files_max: 9, bytes_max: 0 })?;
        depot.create_tenant(&tenant("other"), Quota::default())?;
        depot.delete_tenant(&tenant("other"))?;
        end_deletions(depot)?;
        // Nobody claims from a tenant that is disabled.
        world.depot().enable_tenant(&acme)
    })
}

pub(crate) fn a_round_of_housekeeping() -> Act {
    Act {
        prepare: |world| {
            some_files(world);
            let claim = claim(world).unwrap();
            world.call(gone("in/first"), |depot| depot.complete(claim.token())).unwrap();
            put(world, at("out/kept"), SMALL).unwrap();
            delete(world, "in/second").unwrap();
        },
        run: |world| pass(&world.stage, world.depot(), Duration::from_secs(1)),
    }
}

pub(crate) fn a_close() -> Act {
    act(|world| {
        let claim = claim(world)?;
        world.call(gone("in/first"), |depot| depot.complete(claim.token()))?;
        put(world, at("in/new"), SMALL)?;
        world.depot().close()
    })
}

/// The pool is opened after a loss of power with files in every state.
pub(crate) fn an_opening() -> Act {
    Act {
        prepare: |world| {
            a_dead_letter(world);
            put(world, at("in/new"), MEDIUM).unwrap();
            let claims = world.depot().claim(&tenant("acme"), &ClaimOptions::up_to(2)).unwrap();
            let second = claims.iter().find(|it| it.file().path() == "in/second").unwrap();
            let mut upload = world.depot().begin_result(second.token(), at("next/work")).unwrap();
            upload.write(&content(MEDIUM, 5)).unwrap();
            let result = upload.finish_result().unwrap();
            let change = |files: &mut Holding| {
                files.remove("acme:in/second").unwrap();
                files.insert("acme:next/work".to_owned(), (Kind::Work, content(MEDIUM, 5)));
            };
            let complete = |depot: &Depot| depot.complete_with(second.token(), vec![result]);
            world.call(change, complete).unwrap();
            world.depot = None;
        },
        run: |world| {
            world.depot = Some(world.stage.open()?);
            settle(world.depot())
        },
    }
}

pub(crate) fn a_mount_and_an_unmount() -> Act {
    act(|world| {
        let spec = |name: &str| VolumeSpec {
            name: name.to_owned(),
            place: format!("/{name}").as_str().into(),
            weight: 1,
            identity: None,
        };
        world.depot().mount(spec("second"))?;
        world.depot().drain_volume("main", true)?;
        put(world, at("in/new"), MEDIUM)?;
        assert!(world.depot().unmount("main").is_err());
        world.depot().mount(spec("third"))?;
        world.depot().unmount("third")
    })
}
