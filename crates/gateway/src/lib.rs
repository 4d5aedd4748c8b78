//! HTTP and WebSocket: authentication, limits, errors, metrics.
//!
//! A [`Gateway`] is the network interface of a venue. It authenticates requests and limits their
//! rate ([`KeyStore`], [`GatewayConfig`]), turns JSON with decimal texts into typed commands, sends
//! them over the desk's bus ([`rialto_desk::DeskBus`]), and encodes the answers. It has no matching
//! rules.
//!
//! `docs/endpoints.md` describes every endpoint. Requests are signed; see [`SignRequest`].

mod auth;
mod body;
mod call;
mod config;
mod connections;
mod convert;
mod decimal;
mod depot_access;
mod download;

mod error;
mod gate;
mod intake;
mod json;
mod limits;
mod metrics;
mod origin;
mod push;
mod recorded;
mod refusal;
mod refusals;
mod request_log;
mod results;
mod routes;
mod server;
mod socket;
mod stream;

mod traffic;
mod upload;

pub use auth::{
    AdminKey, Caller, HEADER_BODY_SHA256, HEADER_DURABILITY, HEADER_KEY, HEADER_NONCE,
    HEADER_SIGNATURE, HEADER_TIMESTAMP, KeyFileError, KeyInfo, KeyRequest, KeyStore, KeyStoreError,
    MasterKey, OpenedKeys, Secret, SignRequest, now_us,
};
pub use config::GatewayConfig;
pub use connections::{InvalidNetwork, Network};
pub use convert::topic_json;

/// Files, tenants, volumes and watches of a depot as the interface shows them.
pub mod depot_json {
    pub use crate::convert::{
        adopted_info, claimed_file, damage_info, dead_letter_info, file_info, record_info,
        scan_info, tenant_info, volume_info, watch_info,
    };
}

pub use depot_access::{DepotAccess, DepotKey};
pub use error::{ApiError, status_of};
pub use metrics::{MoreMetrics, OtherMetric};
pub use origin::Origin;
pub use rialto_api::sign::{HEADER_CONFLATED, HEADER_NEXT};
pub use rialto_api::{
    DepotGrant, DepotRight, InvalidPattern, InvalidTenantPattern, QueueGrant, QueueRight,
    TenantPattern, TopicPattern,
};
pub use rialto_broker::QueueLimits;
pub use rialto_depot_desk::DepotLimits;
pub use rialto_desk::{Scope, Scopes, VenueParts};
pub use server::{Gateway, GatewayError, GatewayParts};
pub use stream::StreamConfig;
