//! Files, claims, tenants and volumes of the depot.

use rialto_api::sign::to_hex;
use rialto_api::{
    Base64, DepotBucket, DepotClaim, DepotDeadLetter, DepotDirectory, DepotDirectoryKind,
    DepotFailedClaim, DepotFile, DepotFileState, DepotSettledAnswer, DepotTenant, DepotTenantState,
    DepotUnreadable, DepotVolume, DepotVolumeState, HexText,
};
use rialto_depot::{
    Claim, DeadFile, DirectoryInfo, DirectoryKind, FileInfo, FileRecord, FileState, TenantInfo,
    TenantName, VolumeState, VolumeStatus,
};
use rialto_depot_desk::{ClaimedFile, SettledClaims};

const _: () = assert!(rialto_api::limits::TENANT_NAME_BYTES_MAX == rialto_depot::TENANT_BYTES_MAX);

/// A file whose state is known.
pub fn file_info(tenant: &TenantName, info: &FileInfo) -> DepotFile {
    let (state, claimed_until) = match info.state {
        FileState::Waiting => (DepotFileState::Waiting, None),
        FileState::Claimed { until } => (DepotFileState::Claimed, Some(until)),
        FileState::Dead => (DepotFileState::Dead, None),
        FileState::Kept => (DepotFileState::Kept, None),
        FileState::Completed => (DepotFileState::Completed, None),
    };
    let attempts = info.attempts;
    DepotFile { claimed_until, attempts, ..record_info(tenant, &info.record, state) }
}

/// A file in this state.
pub fn record_info(tenant: &TenantName, record: &FileRecord, state: DepotFileState) -> DepotFile {
    DepotFile {
        id: HexText(record.id.to_string()),
        tenant: tenant.to_string(),
        path: record.path(),
        directory: record.directory.to_string(),
        name: record.name.to_string(),
        bytes: record.bytes.into(),
        content_type: record.content_type.clone(),
        metadata: record.metadata.iter().cloned().collect(),
        created_at: record.created_at,
        expires_at: record.expires_at,
        sha256: record.sha256.map(|hash| HexText(to_hex(&hash))),
        crc32c: HexText(format!("{:08x}", record.crc32c)),
        state,
        attempts: 0,
        claimed_until: None,
    }
}

/// A claimed file.
pub(crate) fn claim_info(claimed: &ClaimedFile) -> DepotClaim<'_> {
    let ClaimedFile { claim, content, problem } = claimed;
    DepotClaim {
        claim: claim.token().to_string(),
        file: claimed_file(claim),
        attempt: claim.attempt(),
        deadline: claim.deadline(),
        problem: problem.clone(),
        content: content.as_deref().map(|bytes| Base64(bytes.into())),
    }
}

/// The file of a claim.
pub fn claimed_file(claim: &Claim) -> DepotFile {
    DepotFile {
        claimed_until: Some(claim.deadline()),
        attempts: claim.attempt(),
        ..record_info(claim.tenant(), claim.file(), DepotFileState::Claimed)
    }
}

/// What became of claims.
pub(crate) fn settled_info(settled: &SettledClaims) -> DepotSettledAnswer {
    let unreadable = settled.unreadable.iter().map(|(token, problem)| DepotUnreadable {
        claim: token.to_string(),
        problem: problem.clone(),
    });
    let failed = settled.failed.iter().map(|(token, error)| DepotFailedClaim {
        claim: token.to_string(),
        code: error.code().to_owned(),
        message: error.message().to_owned(),
    });
    DepotSettledAnswer {
        lost: settled.lost.iter().map(ToString::to_string).collect(),
        unreadable: unreadable.collect(),
        failed: failed.collect(),
    }
}

/// A dead letter.
pub fn dead_letter_info(tenant: &TenantName, dead: &DeadFile) -> DepotDeadLetter {
    let attempts = dead.attempts;
    DepotDeadLetter {
        file: DepotFile { attempts, ..record_info(tenant, &dead.record, DepotFileState::Dead) },
        reason: dead.reason.clone(),
        detail: dead.detail.clone(),
    }
}

/// What becomes of the files of a directory.
pub(crate) fn directory_kind(kind: DepotDirectoryKind) -> DirectoryKind {
    match kind {
        DepotDirectoryKind::Work => DirectoryKind::Work,
        DepotDirectoryKind::Shelf => DirectoryKind::Shelf,
    }
}

fn directory_info(info: &DirectoryInfo) -> DepotDirectory {
    DepotDirectory {
        directory: info.directory.to_string(),
        kind: info.kind.map(|kind| match kind {
            DirectoryKind::Work => DepotDirectoryKind::Work,
            DirectoryKind::Shelf => DepotDirectoryKind::Shelf,
        }),
        files_max: info.quota.files_max.into(),
        bytes_max: info.quota.bytes_max.into(),
        files: info.files.into(),
        bytes: info.bytes.into(),
    }
}

/// A tenant.
pub fn tenant_info(info: &TenantInfo) -> DepotTenant {
    let work = &info.work;
    DepotTenant {
        name: info.name.to_string(),
        created_at: info.created_at,
        state: match info.stage {
            "enabled" => DepotTenantState::Enabled,
            "disabled" => DepotTenantState::Disabled,
            "draining" => DepotTenantState::Draining,
            _ => DepotTenantState::Deleting,
        },
        files_max: info.quota.files_max.into(),
        bytes_max: info.quota.bytes_max.into(),
        files: info.files.into(),
        bytes: info.bytes.into(),
        waiting: work.waiting.into(),
        claimed: work.claimed.into(),
        dead: work.dead.into(),
        oldest_waiting_at: work.oldest_waiting,
        accepted: work.accepted.into(),
        accepted_bytes: work.accepted_bytes.into(),
        claims: work.claims.into(),
        completed: work.completed.into(),
        failed: work.failed.into(),
        expired: work.expired.into(),
        deleted: work.deleted.into(),
        directories: info.directories.iter().map(directory_info).collect(),
    }
}

/// A volume.
pub fn volume_info(volume: &VolumeStatus) -> DepotVolume {
    DepotVolume {
        name: volume.name.clone(),
        dir: volume.dir.to_string_lossy().into_owned(),
        bucket: volume.bucket.as_ref().map(|bucket| DepotBucket {
            bucket: bucket.bucket.clone(),
            prefix: bucket.prefix.clone(),
            endpoint: bucket.endpoint.clone(),
            region: bucket.region.clone(),
            allow_http: bucket.allow_http,
        }),
        identity: volume.identity.to_string(),
        weight: volume.weight,
        state: match volume.state {
            VolumeState::Up => DepotVolumeState::Up,
            VolumeState::Draining => DepotVolumeState::Draining,
            VolumeState::Failed => DepotVolumeState::Failed,
        },
        free_bytes: volume.free_bytes.map(Into::into),
        total_bytes: volume.total_bytes.map(Into::into),
        files_written: volume.files_written.into(),
        bytes_written: volume.bytes_written.into(),
        unsynced_bytes: volume.unsynced_bytes.into(),
        last_error: volume.last_error.clone(),
    }
}
