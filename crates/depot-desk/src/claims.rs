//! Claiming files, and ending claims.

use crate::DepotPrincipal;
use crate::error::{depot_error, told, told_problem};
use crate::policy::NeedsDepotRight;
use crate::service::{DepotService, joined, principal};
use rialto_api::DepotRight;
use rialto_api::limits::{CLAIMS_MAX, DETAIL_BYTES_MAX};
use rialto_bus::behaviour::Validate;
use rialto_bus::{Command, Context, Error, Handler, Request, Result};
use rialto_depot::{
    CLAIM_DURATION_MAX, CLAIM_DURATION_MIN, CLAIM_FILES_MAX, Claim, ClaimOptions, ClaimToken,
    Depot, DepotError, TenantName, Timestamp,
};
use rialto_desk::AtField;
use std::collections::HashSet;
use std::pin::pin;
use std::time::Duration;
use tokio::sync::oneshot;

const _: () = assert!(CLAIMS_MAX == CLAIM_FILES_MAX);

/// The longest that a claim waits for files.
const WAIT_MAX: Duration = Duration::from_secs(30);
/// The longest delay of a file that failed: a day.
const DELAY_MAX: Duration = Duration::from_secs(86_400);
/// The largest file whose content an answer has.
const CONTENT_BYTES_MAX: u64 = 16 << 10;
/// The most bytes of contents of one answer.
const CONTENTS_BYTES_MAX: u64 = 2 << 20;

/// Claims files.
pub struct ClaimFiles {
    /// The tenant; `None` for all tenants that the client works for, which take turns.
    pub tenant: Option<TenantName>,
    /// How many, and for how long.
    pub options: ClaimOptions,
    /// How long to wait for the first file.
    pub wait: Duration,
    /// Whether the answer has the content of small files.
    pub content: bool,
}

impl ClaimFiles {
    /// Claims files of a tenant that wait now.
    #[must_use]
    pub fn of(tenant: TenantName, options: ClaimOptions) -> ClaimFiles {
        ClaimFiles { tenant: Some(tenant), options, wait: Duration::ZERO, content: false }
    }
}

/// A claimed file.
#[derive(Debug)]
pub struct ClaimedFile {
    /// The claim.
    pub claim: Claim,
    /// The content, if it was asked for and is small.
    pub content: Option<Vec<u8>>,
    /// Why the content cannot be read, if that is known.
    pub problem: Option<String>,
}

/// Makes claims last longer.
pub struct RenewClaims {
    /// The claims.
    pub claims: Vec<ClaimToken>,
    /// How long they last from now; `None` for the setting of the depot.
    pub duration: Option<Duration>,
}

/// Renewed claims.
#[derive(Debug, Default)]
pub struct Renewed {
    /// The claims with their new deadlines.
    pub renewed: Vec<(ClaimToken, Timestamp)>,
    /// The claims that have ended.
    pub lost: Vec<ClaimToken>,
}

/// Ends claimed files as completed.
pub struct CompleteClaims {
    /// The claims.
    pub claims: Vec<ClaimToken>,
}

/// Gives claimed files back as failed.
pub struct FailClaims {
    /// The claims.
    pub claims: Vec<ClaimToken>,
    /// The reason, for the dead letter.
    pub reason: String,
    /// How long the files wait; `None` for the setting of the depot.
    pub delay: Option<Duration>,
}

/// Makes claimed files dead letters.
pub struct RefuseClaims {
    /// The claims.
    pub claims: Vec<ClaimToken>,
    /// The reason, for the dead letter.
    pub reason: String,
}

/// Gives claimed files back as if they had not been claimed.
pub struct ReturnClaims {
    /// The claims.
    pub claims: Vec<ClaimToken>,
}

/// What became of claims. The others did what was asked.
#[derive(Debug, Default)]
pub struct SettledClaims {
    /// The claims that have ended.
    pub lost: Vec<ClaimToken>,
    /// The claims whose content cannot be read, and what is wrong with it.
    pub unreadable: Vec<(ClaimToken, String)>,
    /// The claims that failed for another reason, while others did not.
    pub failed: Vec<(ClaimToken, Error)>,
}

impl Request for ClaimFiles {
    type Response = Vec<ClaimedFile>;
    const NAME: &'static str = "claim_files";
}

impl Command for ClaimFiles {}

impl NeedsDepotRight for ClaimFiles {
    fn check(&self, client: &DepotPrincipal) -> Result<()> {
        match &self.tenant {
            Some(tenant) => client.require(&[DepotRight::Work], tenant),
            // Only tenants that the client works for are asked.
            None => client.require_anywhere(DepotRight::Work),
        }
    }
}

/// Implements [`Request`], [`Command`], [`NeedsDepotRight`] for requests about claims. The right is that
/// to the tenant of each token.
macro_rules! of_claims {
    ($($name:literal $Request:ident => $Response:ty;)*) => { $(
        impl Request for $Request {
            type Response = $Response;
            const NAME: &'static str = $name;
        }

        impl Command for $Request {}

        impl NeedsDepotRight for $Request {
            fn check(&self, client: &DepotPrincipal) -> Result<()> {
                let mut tenants = self.claims.iter().map(ClaimToken::tenant);
                tenants.try_for_each(|tenant| client.require(&[DepotRight::Work], tenant))
            }
        }
    )* };
}

of_claims! {
    "renew_claims" RenewClaims => Renewed;
    "complete_claims" CompleteClaims => SettledClaims;
    "fail_claims" FailClaims => SettledClaims;
    "refuse_claims" RefuseClaims => SettledClaims;
    "return_claims" ReturnClaims => SettledClaims;
}

impl Validate for ClaimFiles {
    fn validate(&self) -> Result<()> {
        if !(1..=CLAIM_FILES_MAX).contains(&self.options.files_max) {
            let message = format!("A claim has 1 to {CLAIM_FILES_MAX} files.");
            return Err(AtField("limit").invalid(message));
        }
        if self.wait > WAIT_MAX {
            let message = format!("A request waits at most {} ms.", WAIT_MAX.as_millis());
            return Err(AtField("wait_ms").invalid(message));
        }
        check_duration(self.options.duration)
    }
}

impl Validate for RenewClaims {
    fn validate(&self) -> Result<()> {
        check_duration(self.duration)?;
        check_tokens(&self.claims)
    }
}

impl Validate for CompleteClaims {
    fn validate(&self) -> Result<()> {
        check_tokens(&self.claims)
    }
}

impl Validate for FailClaims {
    fn validate(&self) -> Result<()> {
        if self.delay.is_some_and(|delay| delay > DELAY_MAX) {
            let message = format!("The delay is at most {} ms.", DELAY_MAX.as_millis());
            return Err(AtField("delay_ms").invalid(message));
        }
        check_reason(&self.reason)?;
        check_tokens(&self.claims)
    }
}

impl Validate for RefuseClaims {
    fn validate(&self) -> Result<()> {
        check_reason(&self.reason)?;
        check_tokens(&self.claims)
    }
}

impl Validate for ReturnClaims {
    fn validate(&self) -> Result<()> {
        check_tokens(&self.claims)
    }
}

fn check_duration(duration: Option<Duration>) -> Result<()> {
    if duration.is_none_or(|it| (CLAIM_DURATION_MIN..=CLAIM_DURATION_MAX).contains(&it)) {
        return Ok(());
    }
    let (min, max) = (CLAIM_DURATION_MIN.as_millis(), CLAIM_DURATION_MAX.as_millis());
    Err(AtField("duration_ms").invalid(format!("A claim lasts {min} to {max} ms.")))
}

fn check_reason(reason: &str) -> Result<()> {
    if reason.len() <= DETAIL_BYTES_MAX {
        return Ok(());
    }
    let message = format!("The reason has at most {DETAIL_BYTES_MAX} bytes.");
    Err(AtField("reason").invalid(message))
}

/// A token that is given twice is refused: the second would be answered as lost, although the file
/// is settled as asked.
fn check_tokens(claims: &[ClaimToken]) -> Result<()> {
    if !(1..=CLAIMS_MAX).contains(&claims.len()) {
        let message = format!("There must be 1 to {CLAIMS_MAX} claims.");
        return Err(AtField("claims").invalid(message));
    }
    let mut known = HashSet::with_capacity(claims.len());
    match claims.iter().position(|token| !known.insert(token)) {
        Some(nth) => {
            let message = format!("The claim at place {nth} is given twice.");
            Err(AtField("claims").invalid(message))
        }
        None => Ok(()),
    }
}

/// The claims with the contents of small files.
pub(crate) fn with_contents(depot: &Depot, claims: Vec<Claim>, content: bool) -> Vec<ClaimedFile> {
    let mut left = if content { CONTENTS_BYTES_MAX } else { 0 };
    let mut read = |claim: Claim| {
        let problem = told_problem(&claim);
        let mut claimed = ClaimedFile { claim, content: None, problem };
        let bytes = claimed.claim.file().bytes;
        if content && claimed.problem.is_none() && bytes <= CONTENT_BYTES_MAX && bytes <= left {
            left -= bytes;
            let read = depot.read_claimed(&claimed.claim).and_then(|mut file| file.read_all());
            match read {
                Ok(bytes) => claimed.content = Some(bytes),
                Err(error) => claimed.problem = Some(told(&error)),
            }
        }
        claimed
    };
    claims.into_iter().map(&mut read).collect()
}

/// Claimed files on their way to the client. Dropping them gives the claims back.
struct Unanswered {
    depot: Depot,
    claimed: Vec<ClaimedFile>,
}

impl Unanswered {
    fn answer(mut self) -> Vec<ClaimedFile> {
        std::mem::take(&mut self.claimed)
    }
}

impl Drop for Unanswered {
    fn drop(&mut self) {
        let (depot, claimed) = (self.depot.clone(), std::mem::take(&mut self.claimed));
        if claimed.is_empty() {
            return;
        }
        let give_back = move || {
            for claimed in claimed {
                if let Err(error) = depot.give_back(claimed.claim.token()) {
                    // It is handed out again when its deadline passes.
                    tracing::debug!("a claim without a client was not given back: {error}");
                }
            }
        };
        // It may be dropped by a task, which must not wait for the disk.
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(give_back)),
            Err(_) => give_back(),
        }
    }
}

impl DepotService {
    /// Claims files on a thread that may block. If the client has gone meanwhile, they are given back.
    async fn claim_now(
        &self,
        content: bool,
        claim: impl FnOnce(&Depot) -> std::result::Result<Vec<Claim>, DepotError> + Send + 'static,
    ) -> Result<Vec<ClaimedFile>> {
        let (answer, answered) = oneshot::channel();
        let depot = self.depot.clone();
        let task = tokio::task::spawn_blocking(move || {
            let claimed = claim(&depot).map(|claims| {
                let claimed = with_contents(&depot, claims, content);
                Unanswered { depot, claimed }
            });
            // If the client has gone, or goes before it looks, the drop gives them back.
            drop(answer.send(claimed));
        });
        match answered.await {
            Ok(claimed) => claimed.map(Unanswered::answer).map_err(depot_error),
            // It panicked.
            Err(_) => joined(task.await).map(|()| Vec::new()),
        }
    }

    /// Ends each claim, and says which had ended before.
    async fn settle(
        &self,
        claims: Vec<ClaimToken>,
        end: impl FnMut(&Depot, &ClaimToken) -> std::result::Result<(), DepotError> + Send + 'static,
    ) -> Result<SettledClaims> {
        let mut end = end;
        self.run_blocking(move |depot| {
            let results: Vec<_> = claims.iter().map(|token| end(depot, token)).collect();
            settled(claims, results)
        })
        .await
    }
}

/// What became of claims. If none did what was asked, an error that concerns none of them alone is
/// that of the request, which may be sent again. Otherwise it is that of its claim: a client that sent
/// all of them again would take the settled claims for lost.
fn settled(
    claims: Vec<ClaimToken>,
    results: Vec<std::result::Result<(), DepotError>>,
) -> std::result::Result<SettledClaims, DepotError> {
    let (mut settled, mut failed) = (SettledClaims::default(), Vec::new());
    let is_any_settled = results.iter().any(std::result::Result::is_ok);
    for (token, result) in claims.into_iter().zip(results) {
        match result {
            Ok(()) => {}
            Err(DepotError::ClaimLost(_)) => settled.lost.push(token),
            Err(error @ DepotError::Bytes { .. }) => {
                settled.unreadable.push((token, told(&error)));
            }
            Err(error) if is_any_settled => failed.push((token, depot_error(error))),
            Err(error) => return Err(error),
        }
    }
    settled.failed = failed;
    Ok(settled)
}

impl Handler<ClaimFiles> for DepotService {
    async fn handle(&self, request: ClaimFiles, cx: &Context<'_>) -> Result<Vec<ClaimedFile>> {
        let ClaimFiles { tenant, options, wait, content } = request;
        let client = principal(cx)?.clone();
        let may = {
            let tenant = tenant.clone();
            move |name: &TenantName| match &tenant {
                Some(tenant) => tenant == name,
                None => client.has(DepotRight::Work, name),
            }
        };
        // The first look says whether the tenant exists and hands out files.
        let claimed = match tenant {
            Some(tenant) => {
                self.claim_now(content, move |depot| depot.claim(&tenant, &options)).await?
            }
            None => {
                let may = may.clone();
                self.claim_now(content, move |depot| depot.claim_any(&options, may)).await?
            }
        };
        if !claimed.is_empty() || wait.is_zero() {
            return Ok(claimed);
        }
        let mut stopped = self.stopped.clone();
        let mut end = pin!(async {
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                _ = stopped.wait_for(|stopped| *stopped) => {}
            }
        });
        loop {
            tokio::select! {
                () = self.depot.claimable(may.clone()) => {}
                () = &mut end => return Ok(Vec::new()),
            }
            let may = may.clone();
            let claim = move |depot: &Depot| depot.claim_any(&options, may);
            let claimed = self.claim_now(content, claim).await?;
            if !claimed.is_empty() {
                return Ok(claimed);
            }
        }
    }
}

impl Handler<RenewClaims> for DepotService {
    async fn handle(&self, renew: RenewClaims, _: &Context<'_>) -> Result<Renewed> {
        let RenewClaims { claims, duration } = renew;
        let duration = duration.unwrap_or(self.depot.options().claim_duration);
        self.run_blocking(move |depot| {
            let mut answer = Renewed::default();
            for token in claims {
                match depot.renew(&token, duration) {
                    Ok(deadline) => answer.renewed.push((token, deadline)),
                    Err(DepotError::ClaimLost(_)) => answer.lost.push(token),
                    Err(error) => return Err(error),
                }
            }
            Ok(answer)
        })
        .await
    }
}

impl Handler<CompleteClaims> for DepotService {
    async fn handle(&self, request: CompleteClaims, _: &Context<'_>) -> Result<SettledClaims> {
        let CompleteClaims { claims } = request;
        self.run_blocking(move |depot| {
            let results = depot.complete_all(&claims);
            settled(claims, results)
        })
        .await
    }
}

impl Handler<FailClaims> for DepotService {
    async fn handle(&self, request: FailClaims, _: &Context<'_>) -> Result<SettledClaims> {
        let FailClaims { claims, reason, delay } = request;
        self.settle(claims, move |depot, token| depot.fail(token, &reason, delay)).await
    }
}

impl Handler<RefuseClaims> for DepotService {
    async fn handle(&self, request: RefuseClaims, _: &Context<'_>) -> Result<SettledClaims> {
        let RefuseClaims { claims, reason } = request;
        self.settle(claims, move |depot, token| depot.refuse(token, &reason)).await
    }
}

impl Handler<ReturnClaims> for DepotService {
    async fn handle(&self, request: ReturnClaims, _: &Context<'_>) -> Result<SettledClaims> {
        self.settle(request.claims, |depot, token| depot.give_back(token)).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DepotLimits;
    use rialto_depot::{DepotOptions, NewFile};
    use std::task::Waker;

    fn acme() -> TenantName {
        TenantName::new("acme").unwrap()
    }

    fn depot(dir: &tempfile::TempDir, files: usize) -> Depot {
        let mut options = DepotOptions::at(dir.path());
        options.volumes.free_bytes_min = 0;
        let depot = Depot::open(options).unwrap();
        for _ in 0..files {
            depot.put_bytes(&acme(), NewFile::default(), b"x").unwrap();
        }
        depot
    }

    #[test]
    fn files_of_a_client_that_goes_before_it_looks_are_given_back() {
        let dir = tempfile::tempdir().unwrap();
        let depot = depot(&dir, 1);
        // Tasks that may block run one after the other.
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let runtime = builder.worker_threads(1).max_blocking_threads(1).build().unwrap();
        let _entered = runtime.enter();
        let (_stop, stopped) = tokio::sync::watch::channel(false);
        let service = DepotService::new(depot.clone(), DepotLimits::default(), stopped);
        // The claim waits behind it, so that the first look finds nothing.
        let (open, gate) = std::sync::mpsc::channel::<()>();
        let gated = runtime.spawn_blocking(move || gate.recv());
        {
            let mut claiming = pin!(
                service
                    .claim_now(false, |depot| { depot.claim(&acme(), &ClaimOptions::default()) })
            );
            let mut context = std::task::Context::from_waker(Waker::noop());
            assert!(claiming.as_mut().poll(&mut context).is_pending());
            // The answer arrives, and nobody looks.
            open.send(()).unwrap();
            runtime.block_on(gated).unwrap().unwrap();
            runtime.block_on(runtime.spawn_blocking(|| {})).unwrap();
            assert_eq!(depot.tenant(&acme()).unwrap().work.claimed, 1);
        }
        let again = ClaimOptions::default();
        let claims = depot.claim_within(&acme(), &again, Duration::from_secs(30)).unwrap();
        assert_eq!(claims.iter().map(Claim::attempt).collect::<Vec<_>>(), [1]);
    }

    fn two_tokens() -> (tempfile::TempDir, Vec<ClaimToken>) {
        let dir = tempfile::tempdir().unwrap();
        let depot = depot(&dir, 2);
        let claims = depot.claim(&acme(), &ClaimOptions::up_to(2)).unwrap();
        (dir, claims.iter().map(|claim| claim.token().clone()).collect())
    }

    #[test]
    fn a_claim_that_fails_beside_settled_ones_is_named_in_the_answer() {
        let (_dir, tokens) = two_tokens();
        let results = vec![Ok(()), Err(DepotError::StorageLow)];
        let settled = settled(tokens.clone(), results).unwrap();
        let failed: Vec<_> = settled.failed.iter().map(|(it, error)| (it, error.code())).collect();
        assert_eq!(failed, [(&tokens[1], "storage_low")]);
        assert!(settled.lost.is_empty());
    }

    #[test]
    fn an_error_of_claims_of_which_none_is_settled_is_that_of_the_request() {
        let (_dir, tokens) = two_tokens();
        let results = vec![Err(DepotError::ClaimLost(tokens[0].file())), Err(DepotError::Closed)];
        assert!(matches!(settled(tokens, results), Err(DepotError::Closed)));
    }

    #[test]
    fn a_token_that_is_given_twice_is_refused() {
        let (_dir, tokens) = two_tokens();
        let token = tokens[0].clone();
        assert!(check_tokens(&tokens).is_ok());
        let refused = check_tokens(&[token.clone(), tokens[1].clone(), token]).unwrap_err();
        assert_eq!(refused.code(), "invalid_field");
    }
}
