//! An engine and a service on one simulated disk.
#![allow(dead_code, reason = "each test file uses a part of it")]

use rialto_bus::{Context, Dispatch, Error};
use rialto_desk::{
    CreateAccount, CreateCurrency, CreateMember, Deposit, DeskBus, DeskConfig, Grant, Live,
    LiveConfig, Scope, VenueParts,
};
use rialto_disk::{Disk, SimDisk};
use rialto_engine::{Engine, EngineConfig, WaitStrategy};
use rialto_flow::store::{Level, LogOptions, LogStore, Store};
use rialto_flow::{ManualClock, Options, Timestamp};
use rialto_model::{
    AccountId, Amount, CurrencyId, Event, MemberId, Reference, Scale, Seq, Transfer,
};
use rialto_payments::{
    ApproveWithdrawal, CancelWithdrawal, GetWithdrawal, PaymentsBus, RejectWithdrawal,
    RequestWithdrawal, Requested, Settings, State, Withdrawal, WithdrawalId, WithdrawalService,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

pub(crate) const ALICE: AccountId = AccountId(1);
pub(crate) const BOB: AccountId = AccountId(2);
pub(crate) const USD: CurrencyId = CurrencyId(1);
/// What each has to begin with.
pub(crate) const FUNDS: i128 = 100;
pub(crate) const EXPIRES_AFTER: Duration = Duration::from_secs(3_600);
/// Longer than anything takes here.
pub(crate) const LONG: Duration = Duration::from_secs(30);

/// A venue without a starting.
pub(crate) struct TestVenue {
    pub(crate) bus: PaymentsBus,
    pub(crate) desk: Arc<DeskBus>,
    pub(crate) engine: Arc<Engine>,
    pub(crate) clock: ManualClock,
}

pub(crate) fn transfer(account: AccountId, amount: i128, reference: &str) -> Transfer {
    let reference = reference.parse().unwrap();
    Transfer { account, currency: USD, amount: Amount(amount), reference }
}

pub(crate) fn id(account: AccountId, reference: &str) -> WithdrawalId {
    WithdrawalId { account, reference: reference.parse().unwrap() }
}

pub(crate) fn grant(scopes: &[Scope], accounts: &[AccountId]) -> Grant {
    Grant::new(scopes.iter().copied().collect(), accounts)
}

pub(crate) fn operator() -> Grant {
    grant(&[Scope::Admin], &[])
}

pub(crate) fn owner(account: AccountId) -> Grant {
    grant(&[Scope::Read, Scope::Transfer], &[account])
}

fn engine_config() -> EngineConfig {
    EngineConfig {
        data_dir: PathBuf::from("/data"),
        segment_bytes: 2 << 20,
        group_bytes_max: EngineConfig::GROUP_BYTES_MIN,
        snapshot_every: u64::MAX,
        wait: WaitStrategy { spins: 0, yields: 0 },
        ..EngineConfig::default()
    }
}

/// Why a venue cannot be opened: the disk is gone.
pub(crate) type BoxError = Box<dyn std::error::Error>;

impl TestVenue {
    /// Opens what is on the disk.
    pub(crate) fn try_open(
        disk: &SimDisk,
        clock: &ManualClock,
        life: u8,
    ) -> Result<TestVenue, BoxError> {
        let shared: Arc<dyn Disk> = Arc::new(disk.clone());
        let (engine, _) = Engine::start(engine_config(), Arc::clone(&shared))?;
        let engine = Arc::new(engine);
        let live = Live::start(&engine, LiveConfig::default())?;
        let venue = VenueParts::new(Arc::clone(&engine), live);
        let desk = Arc::new(DeskBus::open(venue, &DeskConfig::default()));
        let options = LogOptions {
            segment_bytes: 2 << 20,
            salt: [life; 16],
            ..LogOptions::new(Level::Synced)
        };
        let store = LogStore::open_on(shared, Path::new("/data/flows"), options)?;
        let service = TestVenue::service(Arc::new(store), &desk, clock)?;
        Ok(TestVenue { bus: PaymentsBus::new(service), desk, engine, clock: clock.clone() })
    }

    pub(crate) fn service(
        store: Arc<dyn Store>,
        desk: &Arc<DeskBus>,
        clock: &ManualClock,
    ) -> Result<WithdrawalService, BoxError> {
        let settings =
            Settings { expires_after: EXPIRES_AFTER, answer_within: LONG, ..Settings::default() };
        let options = Options { clock: Arc::new(clock.clone()), ..Options::default() };
        Ok(WithdrawalService::open(store, Arc::clone(desk), settings, options)?)
    }

    /// A new venue with two accounts that have money.
    pub(crate) async fn with_accounts(disk: &SimDisk) -> TestVenue {
        let clock = ManualClock::new(Timestamp(1_000_000_000));
        let venue = TestVenue::try_open(disk, &clock, 1).unwrap();
        venue.create_accounts().await.unwrap();
        venue
    }

    pub(crate) async fn create_accounts(&self) -> Result<(), Error> {
        let operator = operator();
        let cx = Context::new().with_principal(&operator);
        let (code, scale) = ("USD".parse().unwrap(), Scale::new(2).unwrap());
        self.desk.send(CreateCurrency { code, scale, level: None }, &cx).await?;
        let name = "acme".parse().unwrap();
        self.desk.send(CreateMember { member: MemberId(1), name, level: None }, &cx).await?;
        for account in [ALICE, BOB] {
            let member = MemberId(1);
            let account_request = CreateAccount { account, member, name, level: None };
            self.desk.send(account_request, &cx).await?;
            let transfer = transfer(account, FUNDS, "begin");
            self.desk.send(Deposit { deposit: transfer.into(), level: None }, &cx).await?;
        }
        Ok(())
    }

    /// The balance of this account: available and reserved.
    pub(crate) fn balance(&self, account: AccountId) -> (i128, i128) {
        let core = self.engine.settled_state(self.engine.released()).unwrap();
        core.check().unwrap();
        let balance = core.balance(account, USD).unwrap();
        (balance.available.0, balance.reserved.0)
    }

    /// How often the withdrawal was held, settled and released.
    pub(crate) fn effects(&self, reference: &str) -> (usize, usize, usize) {
        let wanted: Reference = reference.parse().unwrap();
        let mut effects = (0, 0, 0);
        let last = self.engine.released();
        let mut reader = self.engine.events(Seq(1));
        while reader.next_seq() <= last {
            let batch = reader.next_timeout(LONG).unwrap().unwrap();
            for record in batch.iter() {
                for event in record.decode().unwrap().1 {
                    match event.unwrap() {
                        Event::WithdrawalHeld { reference, .. } if reference == wanted => {
                            effects.0 += 1
                        }
                        Event::WithdrawalSettled { reference, .. } if reference == wanted => {
                            effects.1 += 1
                        }
                        Event::WithdrawalReleased { reference, .. } if reference == wanted => {
                            effects.2 += 1
                        }
                        _ => {}
                    }
                }
            }
        }
        effects
    }

    pub(crate) async fn request(&self, transfer: Transfer) -> Result<Requested, Error> {
        let owner = owner(transfer.account);
        let cx = Context::new().with_principal(&owner);
        self.bus.send(RequestWithdrawal { transfer }, &cx).await
    }

    pub(crate) async fn approve(
        &self,
        id: WithdrawalId,
        receipt: &str,
    ) -> Result<Withdrawal, Error> {
        let operator = operator();
        let cx = Context::new().with_principal(&operator);
        self.bus.send(ApproveWithdrawal { id, receipt: receipt.parse().unwrap() }, &cx).await
    }

    pub(crate) async fn reject(&self, id: WithdrawalId, reason: &str) -> Result<Withdrawal, Error> {
        let operator = operator();
        let cx = Context::new().with_principal(&operator);
        self.bus.send(RejectWithdrawal { id, reason: reason.to_owned() }, &cx).await
    }

    pub(crate) async fn cancel(&self, id: WithdrawalId) -> Result<Withdrawal, Error> {
        let owner = owner(id.account);
        let cx = Context::new().with_principal(&owner);
        self.bus.send(CancelWithdrawal { id }, &cx).await
    }

    pub(crate) async fn get(&self, id: WithdrawalId) -> Result<Withdrawal, Error> {
        let owner = owner(id.account);
        let cx = Context::new().with_principal(&owner);
        self.bus.query(GetWithdrawal { id }, &cx).await
    }

    /// Waits until the withdrawal has come to this state.
    pub(crate) async fn wait_for(&self, id: WithdrawalId, state: State) -> Withdrawal {
        let waiting = async {
            loop {
                match self.get(id).await {
                    Ok(withdrawal) if withdrawal.state == state => return withdrawal,
                    _ => tokio::time::sleep(Duration::from_millis(1)).await,
                }
            }
        };
        tokio::time::timeout(LONG, waiting).await.expect("it comes to the state")
    }
}
