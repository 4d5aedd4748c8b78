//! The metrics of the depot.

use super::{Kind, Page};
use crate::gate::Gate;
use rialto_api::sign::now_us;
use rialto_depot::{TenantInfo, VolumeState, VolumeStatus};
use rialto_depot_desk::DepotBus;
use std::sync::atomic::Ordering;

/// The most tenants with their own metrics: the first by name.
const TENANTS_MAX: usize = 100;
/// The most volumes with their own metrics.
const VOLUMES_MAX: usize = 100;

/// A metric of a tenant: name, kind, help, value.
type OfTenant = (&'static str, Kind, &'static str, fn(&TenantInfo) -> u64);
/// A metric of a volume.
type OfVolume = (&'static str, Kind, &'static str, fn(&VolumeStatus) -> Option<u64>);

const OF_TENANTS: [OfTenant; 14] = [
    ("rialto_depot_files", Kind::Gauge, "Files of the tenant.", |it| it.files),
    ("rialto_depot_bytes", Kind::Gauge, "Bytes of the files of the tenant.", |it| it.bytes),
    ("rialto_depot_waiting", Kind::Gauge, "Files that wait for workers.", |it| it.work.waiting),
    ("rialto_depot_oldest_age_seconds", Kind::Gauge, "Age of the oldest waiting file.", |it| {
        let oldest_us = it.work.oldest_waiting.map(|at| at.0 / 1_000);
        oldest_us.map_or(0, |at| now_us().saturating_sub(at) / 1_000_000)
    }),
    ("rialto_depot_claimed", Kind::Gauge, "Files in the hands of workers.", |it| it.work.claimed),
    ("rialto_depot_dead", Kind::Gauge, "Dead letters.", |it| it.work.dead),
    ("rialto_depot_enabled", Kind::Gauge, "Whether the tenant takes files.", |it| {
        u64::from(it.stage == "enabled")
    }),
    ("rialto_depot_accepted_total", Kind::Counter, "Files accepted.", |it| it.work.accepted),
    ("rialto_depot_accepted_bytes_total", Kind::Counter, "Bytes accepted.", |it| {
        it.work.accepted_bytes
    }),
    ("rialto_depot_claims_total", Kind::Counter, "Claims.", |it| it.work.claims),
    ("rialto_depot_completed_total", Kind::Counter, "Files completed.", |it| it.work.completed),
    ("rialto_depot_failed_total", Kind::Counter, "Claims that failed.", |it| it.work.failed),
    ("rialto_depot_expired_total", Kind::Counter, "Files expired.", |it| it.work.expired),
    ("rialto_depot_deleted_total", Kind::Counter, "Files deleted.", |it| it.work.deleted),
];

const OF_VOLUMES: [OfVolume; 4] = [
    ("rialto_depot_volume_up", Kind::Gauge, "Whether the volume takes new files.", |it| {
        Some(u64::from(it.state == VolumeState::Up))
    }),
    ("rialto_depot_volume_free_bytes", Kind::Gauge, "Free space of the volume.", |it| {
        it.free_bytes
    }),
    ("rialto_depot_volume_written_bytes_total", Kind::Counter, "Bytes written.", |it| {
        Some(it.bytes_written)
    }),
    ("rialto_depot_volume_unsynced_bytes", Kind::Gauge, "Bytes written and not durable.", |it| {
        Some(it.unsynced_bytes)
    }),
];

pub(super) fn write(page: &mut Page, gate: &Gate, bus: &DepotBus, one_by_one: bool) {
    let (depot, totals) = (bus.depot(), bus.depot().totals());
    let has_failed = depot.failure().is_some();
    page.gauge("rialto_depot_up", "Whether the depot works.", u64::from(!has_failed));
    let tenants = depot.tenant_names().len() as u64;
    page.gauge("rialto_depot_tenants", "Tenants in all.", tenants);
    let help = "Free space of all volumes.";
    page.gauge("rialto_depot_free_bytes", help, totals.free_bytes);
    page.gauge("rialto_depot_uploads", "Uploads in progress.", bus.uploads() as u64);
    page.gauge("rialto_depot_downloads", "Downloads in progress.", bus.downloads() as u64);
    page.counter(
        "rialto_depot_downloads_cut_total",
        "Downloads that ended early because the content could not be read.",
        gate.downloads_cut.load(Ordering::Relaxed),
    );
    if !one_by_one {
        return;
    }
    let infos = depot.tenants(None, TENANTS_MAX);
    for (name, kind, help, value) in OF_TENANTS {
        let mut metric = page.metric(name, kind, help);
        for tenant in &infos {
            metric.with(&[("tenant", &tenant.name)], value(tenant));
        }
    }
    let volumes = depot.volumes();
    for (name, kind, help, value) in OF_VOLUMES {
        let mut metric = page.metric(name, kind, help);
        for volume in volumes.iter().take(VOLUMES_MAX) {
            if let Some(value) = value(volume) {
                metric.with(&[("volume", &volume.name)], value);
            }
        }
    }
}
