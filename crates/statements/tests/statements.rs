//! Statements of a venue: what they say, and that there is one for each range.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod stage;

use rialto_depot::{DepotError, Quota, TenantName};
use rialto_disk::SimDisk;
use rialto_model::*;
use rialto_statements::{
    OutboxRefusal, PAGE_ROWS_MAX, Positions, RunStage, StatementSettings, member_tenant,
};
use stage::{MARKET, NOON, Rows, Stage, USD, assert_adds_up, deposit, limit, settings, transfer};
use std::time::Duration;

fn by(account: u32, name: &str) -> (AccountId, Reference) {
    (AccountId(account), name.parse().unwrap())
}

fn settle(account: u32, name: &str) -> Command {
    let (account, reference) = by(account, name);
    Command::SettleWithdrawal { account, reference }
}

fn release(account: u32, name: &str) -> Command {
    let (account, reference) = by(account, name);
    Command::ReleaseWithdrawal { account, reference }
}

fn market_for(account: u32, side: Side, amount: i128) -> Command {
    let (quantity, price) = (Quantity(1), Price::ZERO);
    let order = NewOrder::limit(AccountId(account), MARKET, side, quantity, price);
    Command::Place(NewOrder {
        kind: OrderKind::Market,
        time_in_force: TimeInForce::Ioc,
        size: OrderSize::Quote(Amount(amount)),
        ..order
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_statement_says_what_moved_each_balance() {
    let stage = Stage::new(&SimDisk::new(1));
    stage.begin();
    stage.send(limit(1, Side::Sell, 300, 5_000));
    stage.send(limit(2, Side::Buy, 200, 5_000));
    for name in ["rent", "car"] {
        stage.send(Command::HoldWithdrawal(transfer(1, USD, 70_000, name)));
    }
    stage.send(settle(1, "rent"));
    stage.send(release(1, "car"));
    let last = stage.send(Command::Withdraw(transfer(1, USD, 345, "at-once")));
    let outcome = stage.made().await;
    assert_eq!((outcome.members, outcome.range.after, outcome.range.last), (2, Seq::ZERO, last));
    assert_eq!(outcome.refused, []);
    let csv = stage.only(1, ".csv");
    assert_adds_up(&stage, &csv, &[1, 3], last);
    let rows = Rows::of(&csv);
    let fill = rows.only(
        "fill",
        &[
            "account",
            "currency",
            "held",
            "side",
            "role",
            "price",
            "quantity",
            "notional",
            "fee",
            "fee_currency",
        ],
    );
    assert_eq!(fill, ["1 BTC -2.0000 sell maker 50.00 2.00 100.0000 -0.0100 USD"]);
    assert_eq!(rows.only("payment", &["currency", "available"]), ["USD 100.0100"]);
    assert_eq!(rows.only("reserve", &["currency", "held"]), ["BTC 3.0000"]);
    let amounts = ["available", "held", "reference"];
    assert_eq!(rows.only("withdrawal", &amounts), ["-0.0345 0.0000 at-once"]);
    assert_eq!(rows.only("withdrawal_held", &amounts).len(), 2);
    assert_eq!(rows.only("withdrawal_settled", &amounts), ["0.0000 -7.0000 rent"]);
    assert_eq!(rows.only("withdrawal_released", &amounts), ["7.0000 -7.0000 car"]);
    let other = Rows::of(&stage.only(2, ".csv"));
    let ended = other.only("order_ended", &["side", "price", "remaining", "reason"]);
    assert_eq!(ended, ["buy  0.00 filled"]);
    let fill = other.only("fill", &["side", "role", "fee", "fee_currency"]);
    assert_eq!(fill, ["buy taker 0.1000 USD"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_position_goes_from_one_range_into_the_next() {
    let stage = Stage::new(&SimDisk::new(1));
    stage.begin();
    stage.send(limit(1, Side::Sell, 300, 5_000));
    let first = stage.made().await.range.last;
    stage.clock.advance(Duration::from_secs(1));
    stage.send(limit(2, Side::Buy, 200, 5_000));
    stage.send(market_for(2, Side::Buy, 200_000));
    let last = stage.send(Command::MassCancel(MassCancel {
        account: AccountId(1),
        instrument: None,
        side: None,
    }));
    let outcome = stage.made().await;
    assert_eq!((outcome.range.after, outcome.range.last), (first, last));
    let files = stage.outbox(1);
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names.len(), 4, "{names:?}");
    let csv = &files.iter().find(|(name, _)| name.ends_with(&format!("-{last}.csv"))).unwrap().1;
    assert_adds_up(&stage, csv, &[1, 3], last);
    let rows = Rows::of(csv);
    assert_eq!(rows.balance("opening", 1, "BTC").1, 30_000, "the order was held before");
    assert_eq!(rows.balance("closing", 1, "BTC").1, 0);
    let ended = rows.only("order_ended", &["held", "remaining", "reason"]);
    assert_eq!(ended, ["-0.6100 0.61 mass_cancelled"]);
    let other = stage.outbox(2);
    let csv = &other.iter().find(|(name, _)| name.ends_with(&format!("-{last}.csv"))).unwrap().1;
    let reasons = Rows::of(csv).only("order_ended", &["reason"]);
    assert_eq!(reasons, ["filled", "quote_spent"], "{csv}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_self_trade_is_on_the_statement_from_both_sides() {
    let stage = Stage::new(&SimDisk::new(1));
    stage.begin();
    stage.send(limit(1, Side::Sell, 100, 5_000));
    let order = NewOrder::limit(AccountId(3), MARKET, Side::Buy, Quantity(100), Price(5_000));
    let allowed = NewOrder { self_trade: Some(SelfTrade::Allow), ..order };
    let last = stage.send(Command::Place(allowed));
    stage.made().await;
    let csv = stage.only(1, ".csv");
    assert_adds_up(&stage, &csv, &[1, 3], last);
    let fills = Rows::of(&csv).only("fill", &["account", "side", "role"]);
    assert_eq!(fills, ["1 sell maker", "3 buy taker"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_run_without_commands_makes_nothing() {
    let stage = Stage::new(&SimDisk::new(1));
    stage.begin();
    let first = stage.made().await;
    let files = stage.outbox(1);
    assert_eq!(files.len(), 2);
    stage.clock.advance(Duration::from_secs(1));
    let second = stage.made().await;
    assert!(second.range.is_empty());
    assert_eq!((second.members, second.range.last), (0, first.range.last));
    assert_eq!(stage.outbox(1), files);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_member_without_a_line_gets_no_statement() {
    let stage = Stage::new(&SimDisk::new(1));
    stage.begin();
    stage.made().await;
    stage.clock.advance(Duration::from_secs(1));
    stage.send(deposit(1, USD, 5, "more"));
    assert_eq!(stage.made().await.members, 1);
    assert_eq!((stage.outbox(1).len(), stage.outbox(2).len()), (4, 2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_escapes_names_and_has_no_scripts() {
    let stage = Stage::new(&SimDisk::new(1));
    stage.begin();
    stage.send(deposit(2, USD, 5, "<img/src=x>\"'&"));
    stage.made().await;
    let page = stage.only(2, ".html");
    assert!(page.contains("Statement of &lt;script&gt;&amp;&quot;&#39;</h1>"), "{page}");
    assert!(page.contains("&lt;img/src=x&gt;&quot;&#39;&amp;"), "{page}");
    for forbidden in ["<script", "<img", "http://", "https://", "javascript:"] {
        assert!(!page.contains(forbidden), "{forbidden} in {page}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_shows_the_first_rows_and_the_csv_all() {
    let stage = Stage::new(&SimDisk::new(1));
    stage.begin();
    let transfers = 0..PAGE_ROWS_MAX + 10;
    let transfers: Vec<Command> =
        transfers.map(|nth| deposit(3, USD, 1, &format!("d{nth}"))).collect();
    stage.send_all(&transfers);
    stage.made().await;
    let page = stage.only(1, ".html");
    // Four deposits at the beginning.
    let told = format!("The first {PAGE_ROWS_MAX} of {} are shown", PAGE_ROWS_MAX + 14);
    assert!(page.contains(&told), "{}", &page[page.len() - 2_000..]);
    assert_eq!(page.matches("<tr><td>20").count(), PAGE_ROWS_MAX);
    let rows = Rows::of(&stage.only(1, ".csv"));
    assert_eq!(rows.only("deposit", &["reference"]).len(), PAGE_ROWS_MAX + 14);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn members_are_written_in_groups() {
    let disk = SimDisk::new(1);
    let stage = Stage::with(&disk, StatementSettings { members_per_pass: 1, ..settings() });
    stage.begin();
    let outcome = stage.made().await;
    assert_eq!(outcome.members, 2);
    for (member, accounts) in [(1, [1, 3].as_slice()), (2, &[2])] {
        assert_adds_up(&stage, &stage.only(member, ".csv"), accounts, outcome.range.last);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_member_that_is_refused_gets_its_statement_in_a_later_run() {
    let stage = Stage::new(&SimDisk::new(1));
    stage.begin();
    for (member, quota) in [(1, Quota { files_max: 1, bytes_max: 0 }), (2, Quota::default())] {
        stage.depot.create_tenant(&member_tenant(MemberId(member)), quota).unwrap();
    }
    stage.depot.disable_tenant(&member_tenant(MemberId(2))).unwrap();
    let first = stage.made().await;
    let refused: Vec<_> =
        first.refused.iter().map(|it| (it.member.0, it.refusal, it.is_owed())).collect();
    let quota = (1, OutboxRefusal::QuotaReached, true);
    assert_eq!(refused.len(), 2);
    assert!(refused.contains(&quota) && refused.contains(&(2, OutboxRefusal::TenantClosed, true)));
    assert_eq!(first.members, 0);

    stage.depot.enable_tenant(&member_tenant(MemberId(2))).unwrap();
    stage.clock.advance(Duration::from_secs(1));
    stage.send(deposit(2, USD, 5, "more"));
    let second = stage.made().await;
    assert_eq!(second.members, 2, "both ranges of the enabled one");
    let again: Vec<_> = second.refused.iter().map(|it| (it.member.0, it.range, it.tries)).collect();
    assert_eq!(again, [(1, first.range, 2)]);
    assert_eq!(stage.outbox(2).len(), 4);

    stage.depot.set_quota(&member_tenant(MemberId(1)), Quota::default()).unwrap();
    stage.clock.advance(Duration::from_secs(1));
    let third = stage.made().await;
    assert_eq!((third.members, third.refused.len()), (1, 0));
    assert_adds_up(&stage, &stage.only(1, ".csv"), &[1, 3], first.range.last);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn positions_that_no_run_needs_are_removed() {
    let stage = Stage::new(&SimDisk::new(1));
    stage.begin();
    for nth in 0..3 {
        stage.send(deposit(2, USD, 5, &format!("more-{nth}")));
        stage.made().await;
        stage.clock.advance(Duration::from_secs(1));
    }
    let own = TenantName::new("venue-statements").unwrap();
    assert_eq!(stage.depot.kept_files(&own, "positions/", None, 10).unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_run_of_a_day_begins_once_and_covers_missed_days() {
    let stage = Stage::new(&SimDisk::new(1));
    let service = stage.bus.service();
    assert!(!service.start_due().unwrap(), "a venue without commands has nothing to say");
    stage.begin();
    // The engine stamps commands by the clock of the system, which is ahead of this clock.
    assert!(!service.start_due().unwrap(), "all commands came behind the time of the day");
    let today = Timestamp(stage.live.read().time().0 + Timestamp::DAY);
    stage.clock.advance(today.since(NOON));
    assert!(service.start_due().unwrap());
    assert!(!service.start_due().unwrap(), "once a day");
    stage.wait_for_runs(1).await;
    assert_eq!(stage.outbox(1).len(), 2);

    stage.send(deposit(1, USD, 5, "more"));
    stage.clock.advance(Duration::from_secs(5 * 86_400));
    assert!(service.start_due().unwrap(), "the days between were missed");
    assert!(!service.start_due().unwrap(), "one run covers them");
    let runs = stage.wait_for_runs(2).await;
    let ids: Vec<&str> = runs.iter().map(|run| &run.id[..6]).collect();
    assert_eq!(ids, ["daily-", "daily-"]);
    assert_eq!(stage.outbox(1).len(), 4);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn positions_that_are_gone_are_made_again_from_the_state_of_the_engine() {
    let disk = SimDisk::new(1);
    let stage = Stage::new(&disk);
    stage.begin();
    let before = stage.made().await;
    stage.send(deposit(1, USD, 5, "lost"));
    // The positions are gone, as after the loss of the depot's volume.
    let own = TenantName::new("venue-statements").unwrap();
    for file in stage.depot.kept_files(&own, "positions/", None, 10).unwrap() {
        stage.depot.delete(&own, file.record.id).unwrap();
    }
    stage.clock.advance(Duration::from_secs(1));
    let after = stage.made().await;
    assert_eq!(after.gap, None, "the engine's state at the end of the last range replaces them");
    assert_eq!(after.range.after, before.range.last);
    assert_eq!(after.members, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn positions_that_are_not_the_venues_publish_nothing() {
    let stage = Stage::new(&SimDisk::new(1));
    stage.begin();
    let before = stage.made().await;
    let files = stage.outbox(1);
    // The positions of another venue under the same sequence.
    let own = TenantName::new("venue-statements").unwrap();
    let kept = stage.depot.kept_files(&own, "positions/", None, 10).unwrap();
    let mut positions = Positions::new();
    let mut reader = stage.live.events(Seq(1));
    while positions.seq() < before.range.last {
        let batch = reader.next_timeout(stage::LONG).unwrap().unwrap();
        for record in batch.iter().take_while(|record| record.seq <= before.range.last) {
            let (time, events) = record.decode().unwrap();
            for event in events {
                let event = match event.unwrap() {
                    Event::Deposited { account, currency, amount, reference } => {
                        let amount = Amount(amount.0 + 1);
                        Event::Deposited { account, currency, amount, reference }
                    }
                    event => event,
                };
                positions.fold(record.seq, time, &event, &mut |_| {}).unwrap();
            }
        }
    }
    assert_eq!(positions.seq(), before.range.last);
    let bytes = postcard::to_extend(&positions, b"RSTPOS01".to_vec()).unwrap();
    let (directory, name) = (kept[0].record.directory.clone(), kept[0].record.name.clone());
    stage.depot.delete(&own, kept[0].record.id).unwrap();
    let file = rialto_depot::NewFile::new(directory, name);
    stage.depot.put_bytes(&own, file, &bytes).unwrap();
    stage.clock.advance(Duration::from_secs(1));
    let last = stage.send(deposit(1, USD, 5, "more"));
    let run = stage.run().await.unwrap();
    let RunStage::Failed(reason) = run.stage else { panic!("{run:?}") };
    assert!(reason.contains(&format!("at sequence {last} are not those of the venue")), "{reason}");
    assert_eq!(stage.outbox(1), files);
    assert_eq!(before.range.after, Seq::ZERO);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_in_the_place_of_a_statement_is_left_alone() {
    let stage = Stage::new(&SimDisk::new(1));
    stage.begin();
    let first = stage.made().await;
    stage.clock.advance(Duration::from_secs(1));
    let last = stage.send(deposit(1, USD, 5, "more"));
    let range = rialto_statements::StatementRange { after: first.range.last, last };
    let time = stage.live.read().time();
    let name = format!("{}.csv", rialto_statements::file_stem(range, time));
    let (directory, name) = rialto_depot::split_path(&format!("out/statements/{name}")).unwrap();
    let own = rialto_depot::NewFile::new(directory, name);
    stage.depot.put_bytes(&member_tenant(MemberId(1)), own, b"mine").unwrap();
    let second = stage.made().await;
    assert_eq!(second.refused[0].refusal, OutboxRefusal::PathTaken);
    let contents: Vec<_> = stage.outbox(1).into_iter().map(|(_, content)| content).collect();
    assert!(contents.iter().any(|content| content == "mine"));
    let unknown = stage.depot.tenant(&TenantName::new("member-9").unwrap());
    assert!(matches!(unknown, Err(DepotError::UnknownTenant(_))));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_depot_that_refuses_everything_delays_the_run_and_there_is_one_at_a_time() {
    let answer_within = Duration::from_millis(20);
    let stage = Stage::with(&SimDisk::new(1), StatementSettings { answer_within, ..settings() });
    stage.begin();
    stage.depot.set_refusing(true);
    assert_eq!(stage.run().await.unwrap().stage, RunStage::Running);
    assert_eq!(stage.run().await.unwrap_err().code(), "statements_running");
    assert!(!stage.bus.service().start_due().unwrap());
    let range = stage.live.seq();
    stage.send(deposit(1, USD, 5, "later"));
    stage.depot.set_refusing(false);
    let outcome = stage.made_later().await;
    assert_eq!(outcome.range.last, range, "the range was recorded when the run began");
    assert_eq!(outcome.members, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_operators_run_and_list_statements() {
    use rialto_bus::{Context, Dispatch};
    use rialto_desk::{Grant, Scope};
    use rialto_statements::{ListStatementRuns, RunStatements};
    let stage = Stage::new(&SimDisk::new(1));
    let member = Grant::new([Scope::Read, Scope::Trade].into_iter().collect(), [AccountId(1)]);
    let cx = Context::new().with_principal(&member);
    assert!(stage.bus.send(RunStatements, &cx).await.is_err());
    assert!(stage.bus.query(ListStatementRuns { limit: 1 }, &cx).await.is_err());
    assert_eq!(stage.runs().await, []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_member_at_its_rate_does_not_keep_the_others_from_their_statements() {
    let stage = Stage::with_depot(&SimDisk::new(1), |options| {
        options.rates.tenant_bytes_per_second = 100_000;
        options.rates.wait_max = Duration::from_millis(10);
    });
    stage.begin();
    let tenant = member_tenant(MemberId(1));
    let root = rialto_depot::Directory::root();
    stage.depot.create_tenant(&tenant, Quota::default()).unwrap();
    let shelf = Some(rialto_depot::DirectoryKind::Shelf);
    stage.depot.set_directory(&tenant, &root, shelf, Quota::default()).unwrap();
    // One large piece passes, and the tenant is in debt for a minute.
    let name = rialto_depot::FileName::new("large").unwrap();
    let large = rialto_depot::NewFile::new(root, name);
    stage.depot.put_bytes(&tenant, large, &vec![0; 6_000_000]).unwrap();
    let outcome = stage.made().await;
    assert_eq!(outcome.members, 1);
    let refused: Vec<_> = outcome.refused.iter().map(|it| (it.member.0, it.is_owed())).collect();
    assert_eq!(refused, [(1, true)]);
    assert_eq!(stage.outbox(2).len(), 2);
}
