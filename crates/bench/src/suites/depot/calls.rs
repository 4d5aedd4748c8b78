//! Calls that are too short to time one by one.

use super::pool::{Pool, Setup};
use crate::calls::{Arm, Sums, measure};
use crate::error::{BenchError, broken};
use crate::references::{DepotWork, Work};
use crate::suite::{Context, Outcome};
use rialto_depot::{ClaimOptions, Quota, Usage, VolumeNumber, VolumeState};
use rialto_queue::Level;
use std::hint::black_box;

/// Targets, in nanoseconds.
const QUOTA_NS: f64 = 25.0;
const TENANT_NS: f64 = 15.0;
const MISS_NS: f64 = 5_000.0;
const VOLUME_NS: f64 = 5.0;
const HIT_NS: f64 = 35.0;
const NO_FILE_NS: f64 = 25.0;
const CLAIM_NS: f64 = 1_500.0;
const CLAIM_OF_MANY_NS: f64 = 2_000.0;

pub(super) fn quotas_tenants_and_volumes(context: &mut Context<'_>) -> Result<Outcome, BenchError> {
    let calls = context.sized(1_000_000, 1_000);
    let case = "calls on a pool";
    let pool = Pool::open(context, case, Setup::at(Level::Buffered))?;
    let tenant = pool.tenant("acme")?;
    let stored = pool.depot.put_bytes(&tenant, rialto_depot::NewFile::default(), b"x");
    let file = stored.map_err(broken(case, "store a file"))?.file.id;
    let absent = rialto_depot::FileId(1);
    let volume = pool.depot.volume(VolumeNumber(0)).ok_or_else(|| BenchError::Broken {
        case: case.to_owned(),
        doing: "find the first volume",
        source: "it is not mounted".into(),
    })?;
    let usage = Usage::new(Quota { files_max: u64::MAX, bytes_max: u64::MAX });
    let (depot, usage, tenant, volume) = (&pool.depot, &usage, &tenant, &volume);
    let count = |calls: u64, is_good: &dyn Fn() -> bool| {
        Sums::of_answers((0..calls).filter(|_| is_good()).count() as u64)
    };
    let all = Sums::of_answers;
    let work = Work::Depot;
    let arms = vec![
        Arm::new(
            "quota: is there room",
            calls,
            move |n| count(n, &|| black_box(usage).has_room(1)),
            all,
        )
        .beside(work(DepotWork::QuotaCheck))
        .within(QUOTA_NS)
        .without_allocation(),
        Arm::new(
            "quota: take room for a file",
            calls,
            move |n| count(n, &|| black_box(usage).take(1, 1).is_ok()),
            all,
        )
        .beside(work(DepotWork::QuotaUp))
        .within(QUOTA_NS)
        .without_allocation(),
        Arm::new(
            "quota: give it back",
            calls,
            move |n| {
                count(n, &|| {
                    black_box(usage).give_back(1, 1);
                    true
                })
            },
            all,
        )
        .beside(work(DepotWork::QuotaDown))
        .within(QUOTA_NS)
        .without_allocation(),
        Arm::new(
            "quota: read what a tenant holds",
            calls,
            move |n| count(n, &|| depot.used(black_box("acme")) == Some((1, 1))),
            all,
        )
        .beside(work(DepotWork::QuotaRead))
        .within(QUOTA_NS)
        .without_allocation(),
        Arm::new(
            "tenant: is it enabled",
            calls,
            move |n| count(n, &|| depot.is_enabled(black_box("acme"))),
            all,
        )
        .beside(work(DepotWork::TenantEnabled))
        .within(TENANT_NS)
        .without_allocation(),
        Arm::new(
            "tenant: there is none of that name",
            calls,
            move |n| count(n, &|| !depot.is_enabled(black_box("nobody"))),
            all,
        )
        .beside(work(DepotWork::TenantMiss))
        .within(MISS_NS)
        .without_allocation(),
        Arm::new(
            "file: find its record",
            calls,
            move |n| count(n, &|| depot.file(black_box(tenant), file).is_ok()),
            all,
        )
        .beside(work(DepotWork::MetadataHit))
        .within(HIT_NS),
        Arm::new(
            "file: there is none of that id",
            calls,
            move |n| count(n, &|| !depot.has_file(black_box(tenant), absent)),
            all,
        )
        .beside(work(DepotWork::MetadataMiss))
        .within(NO_FILE_NS)
        .without_allocation(),
        Arm::new(
            "volume: is it well",
            calls,
            move |n| count(n, &|| black_box(volume).state() == VolumeState::Up),
            all,
        )
        .beside(work(DepotWork::VolumeHealth))
        .within(VOLUME_NS)
        .without_allocation(),
        Arm::new(
            "volume: free space",
            calls,
            move |n| count(n, &|| black_box(volume).free_bytes() > 0),
            all,
        )
        .beside(work(DepotWork::VolumeFree))
        .within(VOLUME_NS)
        .without_allocation(),
        Arm::new(
            "volume: size",
            calls,
            move |n| count(n, &|| black_box(volume).total_bytes() > 0),
            all,
        )
        .beside(work(DepotWork::VolumeTotal))
        .within(VOLUME_NS)
        .without_allocation(),
    ];
    measure(context, "quotas, tenants and volumes", arms)
}

/// Claims and gives back, so that as many files wait for the next call.
pub(super) fn claims(context: &mut Context<'_>) -> Result<Outcome, BenchError> {
    let many: u64 = context.sized(1_000_000, 1_000);
    let calls = context.sized(20_000, 100);
    let few = Pool::open(context, "claim one of 100 waiting files", Setup::at(Level::Memory))?;
    let lots = format!("claim one of {many} waiting files");
    let lots = Pool::open(context, &lots, Setup::at(Level::Memory))?;
    for (pool, count) in [(&few, 100), (&lots, many)] {
        let tenant = pool.tenant("acme")?;
        for _ in 0..count {
            pool.put(&tenant, b"x")?;
        }
    }
    let claim = |pool: &Pool, calls: u64| {
        let options = ClaimOptions::default();
        let good = (0..calls).filter(|_| {
            let claims = pool.depot.claim_any(black_box(&options), |_| true);
            let claim = claims.ok().and_then(|mut claims| claims.pop());
            claim.is_some_and(|claim| pool.depot.give_back(claim.token()).is_ok())
        });
        Sums::of_answers(good.count() as u64)
    };
    let arms = vec![
        Arm::new(
            "claim one of 100 waiting files, and give it back",
            calls,
            |n| claim(&few, n),
            Sums::of_answers,
        )
        .beside(Work::Depot(DepotWork::ClaimNext))
        .within(CLAIM_NS),
        Arm::new(
            format!("claim one of {many} waiting files, and give it back"),
            calls,
            |n| claim(&lots, n),
            Sums::of_answers,
        )
        .within(CLAIM_OF_MANY_NS),
    ];
    measure(context, "claims", arms)
}
