//! `depot`: files of many tenants on the real disk: writing, reading, handing out, opening.
//!
//! SHA-256 and CRC-32C are computed in every row. Quotas, tenants, work queues and the history are
//! those of a pool in use.

mod calls;
mod cleanup;
mod cold;
mod flush;
mod history;
mod opening;
mod orders;
mod orphans;
mod pool;
#[cfg(feature = "s3")]
mod s3;
mod shards;
mod tenants;
mod watched;
mod work;
mod writes;

use crate::suite::{Outcome, Suite, part};

/// The suite.
pub(crate) const SUITE: Suite = Suite {
    name: "depot",
    about: "files of many tenants: writes, reads, claims and completions, tenants, quotas, opening a pool",
    parts: &[
        part("calls", |context, outcome| {
            outcome.take(calls::quotas_tenants_and_volumes(context));
            outcome.take(calls::claims(context));
        }),
        part("tenants", |context, outcome| outcome.take(tenants::rows(context))),
        part("writes", writes::one_after_the_other),
        part("at-once", writes::at_once),
        part("reads", writes::with_reads),
        part("work", work::rows),
        part("opening", opening::rows),
        part("cold", |context, outcome| outcome.take(cold::rows(context))),
        part("clean-up", |context, outcome| {
            outcome.take(cleanup::rows(context).map(Outcome::from));
        }),
        part("shards", shards::rows),
        part("orphans", |context, outcome| outcome.take(orphans::rows(context))),
        part("usages", |context, outcome| outcome.take(flush::rows(context))),
        part("watched", watched::rows),
        part("orders", |context, outcome| outcome.take(orders::rows(context))),
        #[cfg(feature = "s3")]
        part("s3", s3::rows),
    ],
};
