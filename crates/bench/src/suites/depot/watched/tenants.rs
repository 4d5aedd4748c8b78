//! Folders of many tenants whose files are imported already, and of which none or half are disabled.

use super::folder::{fill, listed};
use super::{Place, beside_naive};
use crate::error::{BenchError, broken, verify};
use crate::measure::{Clock, side_by_side};
use crate::report::Row;
use crate::suite::Context;
use rialto_api::sign::sha256;
use rialto_depot::{AfterImport, TenantName, WatchSpec, WatchTenants};
use std::collections::HashSet;
use std::fs;
use std::path::Path;

const FILES_EACH: u64 = 50;
const FILE_BYTES: usize = 4 << 10;

const NAIVE: &str = "All files are imported already, and kept. The naive scan lists every folder, asks \
    for the tenant of each file, and knows a file again by the SHA-256 of its content.";

pub(super) fn rows(
    context: &mut Context<'_>,
    tenants: u64,
    disabled_percent: u64,
) -> Result<Vec<Row>, BenchError> {
    let tenants = context.sized(tenants, tenants / 10);
    let each = context.sized(FILES_EACH, 5);
    let rounds = context.sized(11, 1);
    let of = format!("{tenants} tenants, {disabled_percent} % disabled");
    context.progress(&format!("  scan folders of {of}"));
    let place = Place::stepped(context, &of, 8)?;
    let folder = place.folder();
    let names = (0..tenants).map(|nth| place.tenant(&format!("tenant-{nth:03}")));
    let names = names.collect::<Result<Vec<_>, _>>()?;
    // One watch for each tenant, and one whose folders have the names of tenants.
    let (by_name, first_level) = (folder.join("by-name"), folder.join("first-level"));
    for tenant in &names {
        for folder in [&by_name, &first_level] {
            fill(&of, &folder.join(tenant.as_str()), each, FILE_BYTES)?;
        }
        let mut watch =
            WatchSpec::new(tenant.as_str(), by_name.join(tenant.as_str()), tenant.clone());
        watch.after = AfterImport::Keep;
        place.depot.add_watch(watch).map_err(broken(&of, "add a watch"))?;
    }
    let mut watch = WatchSpec::new("all", &first_level, names[0].clone());
    watch.tenants = WatchTenants::FirstLevel { create: false };
    watch.after = AfterImport::Keep;
    place.depot.add_watch(watch).map_err(broken(&of, "add a watch"))?;
    let all = tenants * each;
    let watches: Vec<&str> = names.iter().map(TenantName::as_str).collect();
    verify(&of, "files that are imported first", scan(&place, &watches)?.0, all)?;
    verify(&of, "files that are imported first", scan(&place, &["all"])?.0, all)?;
    let mut known = HashSet::new();
    for tenant in &names {
        for path in listed(&of, &by_name.join(tenant.as_str()))? {
            known.insert(sha256(&fs::read(path).map_err(broken(&of, "read a file"))?));
        }
    }
    let disabled = tenants * disabled_percent / 100;
    for tenant in names.iter().take(disabled as usize) {
        place.depot.disable_tenant(tenant).map_err(broken(&of, "disable a tenant"))?;
    }

    let enabled = (tenants - disabled) * each;
    let mut rows = Vec::new();
    let ways: [(&str, &Path, &[&str]); 2] = [
        ("a watch for each, by name", &by_name, &watches),
        ("one watch of all, by first-level folders", &first_level, &["all"]),
    ];
    for (way, folder, watches) in ways {
        let work = format!("scan kept folders of {of}, {way}");
        let done = side_by_side(2, rounds, |arm| {
            let clock = Clock::start();
            let (imported, kept) = match arm {
                0 => scan(&place, watches)?,
                _ => (0, naive(&place, folder, &known)?),
            };
            let elapsed_ns = clock.now_ns();
            verify(&work, "files that are imported again", imported, 0)?;
            verify(&work, "files of enabled tenants", kept, enabled)?;
            Ok::<_, BenchError>(elapsed_ns as f64)
        })?;
        rows.extend(beside_naive(&work, &done, enabled, NAIVE));
    }
    Ok(rows)
}

/// The files that some scans imported, and the files that were imported before.
fn scan(place: &Place, watches: &[&str]) -> Result<(u64, u64), BenchError> {
    let (mut imported, mut kept) = (0, 0);
    for watch in watches {
        let report = place.depot.scan_watch(watch).map_err(broken(&place.case, "scan"))?;
        (imported, kept) = (imported + report.imported, kept + report.kept);
    }
    Ok((imported, kept))
}

/// The files of enabled tenants whose content is known.
fn naive(place: &Place, folder: &Path, known: &HashSet<[u8; 32]>) -> Result<u64, BenchError> {
    let mut kept = 0;
    for of_tenant in listed(&place.case, folder)? {
        let tenant = of_tenant.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        for path in listed(&place.case, &of_tenant)? {
            let metadata = fs::symlink_metadata(&path);
            metadata.map_err(broken(&place.case, "look at a file"))?;
            if !place.depot.is_enabled(tenant) {
                continue;
            }
            let content = fs::read(&path).map_err(broken(&place.case, "read a file"))?;
            kept += u64::from(known.contains(&sha256(&content)));
        }
    }
    Ok(kept)
}
