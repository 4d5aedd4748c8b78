//! Errors of the depot as errors on the bus.

use rialto_bus::{Error, ErrorKind};
use rialto_depot::{DepotError, InvalidDepotName};
use rialto_desk::AtField;

/// An error of the depot as an error on the bus.
#[must_use]
pub fn depot_error(error: DepotError) -> Error {
    let message = format!("{error}.");
    let as_kind = |kind, code| Error::new(kind, code, message.clone());
    match error {
        DepotError::Name(InvalidDepotName::Tenant(_)) => AtField("tenant").invalid(message),
        DepotError::Name(InvalidDepotName::Directory(_)) => AtField("directory").invalid(message),
        DepotError::Name(InvalidDepotName::File(_)) => AtField("name").invalid(message),
        DepotError::Invalid { field, .. } => AtField(field).invalid(message),
        DepotError::UnknownTenant(_) => {
            as_kind(ErrorKind::NotFound, "unknown_tenant").with_source(AtField("tenant"))
        }
        DepotError::UnknownFile { .. } => as_kind(ErrorKind::NotFound, "unknown_file"),
        DepotError::UnknownVolume(_) => as_kind(ErrorKind::NotFound, "unknown_volume"),
        DepotError::UnknownWatch(_) => as_kind(ErrorKind::NotFound, "unknown_watch"),
        DepotError::WatchExists(_) => as_kind(ErrorKind::Conflict, "watch_exists"),
        DepotError::WatchFailed { .. } => as_kind(ErrorKind::Conflict, "watch_failed"),
        DepotError::TenantExists(_) => as_kind(ErrorKind::Conflict, "tenant_exists"),
        DepotError::TenantStage { .. } => as_kind(ErrorKind::Conflict, "tenant_not_enabled"),
        DepotError::FileExists { .. } => as_kind(ErrorKind::Conflict, "file_exists"),
        DepotError::WrongKind { .. } => as_kind(ErrorKind::Conflict, "wrong_directory_kind"),
        DepotError::Claimed(_) => as_kind(ErrorKind::Conflict, "file_claimed"),
        DepotError::ClaimLost(_) => as_kind(ErrorKind::Conflict, "claim_lost"),
        DepotError::VolumeInUse { .. } => as_kind(ErrorKind::Conflict, "volume_in_use"),
        DepotError::SubmitConflict { .. } => {
            as_kind(ErrorKind::Conflict, "submit_conflict").with_source(AtField("idempotency-key"))
        }
        DepotError::SubmitInProgress(_) => {
            as_kind(ErrorKind::Conflict, "submit_in_progress").retryable(true)
        }
        DepotError::Quota { .. } => as_kind(ErrorKind::Busy, "quota_reached").retryable(false),
        DepotError::RateReached { .. } => as_kind(ErrorKind::Busy, "rate_reached"),
        DepotError::TooMany { .. } => as_kind(ErrorKind::Busy, "too_many").retryable(false),
        DepotError::Mismatch { .. } => {
            as_kind(ErrorKind::Invalid, "content_mismatch").with_source(AtField("body"))
        }
        DepotError::TooLarge { .. } => {
            as_kind(ErrorKind::Invalid, "file_too_large").with_source(AtField("body"))
        }
        DepotError::StorageLow => as_kind(ErrorKind::Unavailable, "storage_low"),
        DepotError::Volume(_) => as_kind(ErrorKind::Unavailable, "volume_failed"),
        DepotError::Bytes { .. } => as_kind(ErrorKind::Internal, "file_unreadable"),
        DepotError::Closed => as_kind(ErrorKind::Unavailable, "stopped"),
        // Whether the change took effect is unknown.
        DepotError::Queue(_) | DepotError::History(_) | DepotError::Disk(_) => {
            as_kind(ErrorKind::Unavailable, "depot_failed")
        }
        _ => as_kind(ErrorKind::Internal, "depot_failed"),
    }
}
