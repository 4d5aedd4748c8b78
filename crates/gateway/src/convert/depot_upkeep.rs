//! Watched folders, damage and adoptions of the depot.

use rialto_api::{
    DepotAdoptAnswer, DepotAdoption, DepotDamage, DepotScan, DepotScrubAnswer, DepotWatch,
    DepotWatchAfter, DepotWatchState, HexText,
};
use rialto_depot::{
    Adoption, AfterImport, DamagedFile, ScanReport, VolumeStatus, WatchState, WatchStatus,
    WatchTenants,
};
use rialto_depot_desk::{Adopted, Scrubbing, volume_name};

const _: () = assert!(rialto_api::WATCH_PATTERNS_MAX == rialto_depot::PATTERNS_MAX);

/// A watched folder.
pub fn watch_info(watch: &WatchStatus) -> DepotWatch {
    let spec = &watch.spec;
    let (tenant, create_tenants) = match &spec.tenants {
        WatchTenants::One(tenant) => (Some(tenant.to_string()), false),
        WatchTenants::FirstLevel { create } => (None, *create),
    };
    let (after, move_to) = match &spec.after {
        AfterImport::Delete => (DepotWatchAfter::Delete, None),
        AfterImport::Move(to) => (DepotWatchAfter::Move, Some(to.display().to_string())),
        AfterImport::Keep => (DepotWatchAfter::Keep, None),
    };
    DepotWatch {
        name: spec.name.clone(),
        folder: spec.folder.display().to_string(),
        tenant,
        create_tenants,
        directory: spec.directory.to_string(),
        recursive: spec.recursive,
        include: spec.include.clone(),
        exclude: spec.exclude.clone(),
        bytes_min: spec.bytes_min.into(),
        bytes_max: spec.bytes_max.into(),
        age_min_ms: u64::try_from(spec.age_min.as_millis()).unwrap_or(u64::MAX),
        after,
        move_to,
        state: match &watch.state {
            WatchState::Watching => DepotWatchState::Watching,
            WatchState::Disabled => DepotWatchState::Disabled,
            WatchState::Failed(_) => DepotWatchState::Failed,
        },
        imported: watch.imported.into(),
        imported_bytes: watch.imported_bytes.into(),
        repeats: watch.repeats.into(),
        failed: watch.failed.into(),
        last_error: watch.last_error.as_ref().map(|(_, error)| error.clone()),
        last_error_at: watch.last_error.as_ref().map(|(time, _)| *time),
        last_scan_at: watch.last_scan,
        last_scan: scan_info(&watch.last_report),
        remembered: (watch.remembered as u64).into(),
        has_events: watch.has_events,
    }
}

/// A scan of a watched folder.
pub fn scan_info(scan: &ScanReport) -> DepotScan {
    DepotScan {
        imported: scan.imported.into(),
        repeats: scan.repeats.into(),
        failed: scan.failed.into(),
        skipped: scan.skipped.into(),
        refused_names: scan.refused_names.into(),
        kept: scan.kept.into(),
        pending: scan.pending.into(),
        is_complete: scan.is_complete,
        paused: scan.paused.clone(),
    }
}

/// A damaged file.
pub fn damage_info(volumes: &[VolumeStatus], file: &DamagedFile) -> DepotDamage {
    DepotDamage {
        id: HexText(file.id.to_string()),
        tenant: file.tenant.to_string(),
        path: file.path.clone(),
        volume: volume_name(volumes, file.volume),
        found_at: file.found_at,
        problem: file.problem.clone(),
    }
}

/// What the scrub read, and what is wrong.
pub(crate) fn scrub_info(found: &Scrubbing) -> DepotScrubAnswer {
    let Scrubbing { scrub, damage, orphans, volumes } = found;
    DepotScrubAnswer {
        passes: scrub.passes.into(),
        files: scrub.files.into(),
        bytes: scrub.bytes.into(),
        damaged: scrub.damaged.into(),
        unreadable: scrub.unreadable.into(),
        last_pass_at: scrub.last_pass,
        damage: damage.iter().map(|file| damage_info(volumes, file)).collect(),
        orphans: orphans.found.into(),
        quarantined: orphans.quarantined.into(),
    }
}

fn adoption_info(volumes: &[VolumeStatus], adoption: &Adoption) -> DepotAdoption {
    DepotAdoption {
        id: HexText(adoption.id.to_string()),
        volume: volume_name(volumes, adoption.volume),
        tenant: adoption.file.as_ref().map(|(tenant, _)| tenant.to_string()),
        path: adoption.file.as_ref().map(|(_, path)| path.clone()),
        bytes: adoption.bytes.into(),
        not_adopted: adoption.not_adopted.as_ref().map(|(reason, _)| reason.to_string()),
        detail: adoption.not_adopted.as_ref().map(|(_, detail)| detail.clone()),
    }
}

/// What became of quarantined bytes.
pub fn adopted_info(adopted: &Adopted) -> DepotAdoptAnswer {
    let Adopted { report, files, volumes } = adopted;
    let counts = report.not_adopted.iter();
    DepotAdoptAnswer {
        adopted: report.adopted.into(),
        bytes: report.bytes.into(),
        not_adopted: counts.map(|(why, count)| (why.to_string(), (*count).into())).collect(),
        files: files.iter().map(|adoption| adoption_info(volumes, adoption)).collect(),
    }
}
