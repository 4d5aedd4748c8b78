//! Files of orders, from the drop to the answer.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod stage;

use rialto_depot::{DirectoryKind, FileName, FileState, NewFile, Quota};
use rialto_order_files::{orders_in, orders_out, tenant_of};
use stage::{ACME, ALICE, ANNA, BETA, BOB, HEADER, Stage, bids, directory, until};

#[test]
fn each_row_is_answered_accepted_or_rejected() {
    let stage = Stage::new(1);
    let venue = stage.open();
    let file = "side,quantity,price,account,instrument,label,kind,time_in_force,post_only\n\
                sell,2,100.50,1,BTC-USD,maker,,,\n\
                buy,0.5,101,2,BTC-USD,taker,,ioc,\n\
                buy,1,0.3,1,BTC-USD,off-tick,limit,gtc,\n\
                buy,1,100.50,1,BTC-USD,crosses,limit,day,reject\n\
                buy,3,,2,BTC-USD,market,market,,\n";
    let id = venue.drop_file(ACME, "morning.csv", file);
    let answer = venue.answer(ACME, "morning.csv", &id);
    assert_eq!(answer.column("row"), ["1", "2", "3", "4", "5"]);
    assert_eq!(answer.column("line"), ["2", "3", "4", "5", "6"]);
    assert_eq!(answer.column("label"), ["maker", "taker", "off-tick", "crosses", "market"]);
    assert_eq!(answer.column("account"), ["1", "2", "1", "1", "2"]);
    // Orders of one member do not trade with each other.
    assert_eq!(answer.column("status"), ["open", "cancelled", "rejected", "rejected", "cancelled"]);
    assert_eq!(
        answer.column("reason"),
        ["", "self_trade", "price_off_tick", "would_cross", "self_trade"]
    );
    assert_eq!(answer.column("remaining"), ["2.0000", "0.5000", "", "", "3.0000"]);
    let ids = answer.column("client_order_id");
    assert!(ids[0].ends_with("-1") && ids[4].ends_with("-5"), "{ids:?}");
    let seqs: Vec<u64> = answer.column("seq").iter().map(|seq| seq.parse().unwrap()).collect();
    assert!(seqs.is_sorted() && seqs[0] > 0, "{seqs:?}");
    until("the file ends", || venue.work(ACME) == (0, 0, 0));
    // A file is counted after its rows, and both after it ended.
    let counts = venue.exchange.as_ref().unwrap().counts();
    until("it is counted", || counts.files_answered() == 1);
    assert_eq!((counts.rows_entered(), counts.rows_rejected()), (3, 2));
}

#[test]
fn members_trade_with_each_other_by_files() {
    let stage = Stage::new(2);
    let venue = stage.open();
    let maker = venue.drop_file(ACME, "a.csv", &format!("{HEADER}1,BTC-USD,sell,1,100,\n"));
    venue.answer(ACME, "a.csv", &maker);
    let taker = "instrument,side,quote_amount,quantity,kind\n\
                 BTC-USD,buy,,0.25,market\n\
                 BTC-USD,buy,50,,market\n";
    let id = venue.drop_file(BETA, "b.csv", taker);
    let answer = venue.answer(BETA, "b.csv", &id);
    // The account may be left out: the member has one.
    assert_eq!(answer.column("account"), ["3", "3"]);
    assert_eq!(answer.column("status"), ["filled", "filled"]);
    assert_eq!(answer.column("filled"), ["0.2500", "0.5000"]);
    assert_eq!(answer.column("reason"), ["", "quote_spent"]);
}

#[test]
fn rows_enter_conditional_orders_and_icebergs() {
    let stage = Stage::new(5);
    let venue = stage.open();
    let first = "side,quantity,price,account,instrument\nsell,1,100,1,BTC-USD\n";
    let id = venue.drop_file(ACME, "first.csv", first);
    venue.answer(ACME, "first.csv", &id);
    let taker = "side,quantity,price,account,instrument\nbuy,1,100,3,BTC-USD\n";
    let id = venue.drop_file(BETA, "taker.csv", taker);
    venue.answer(BETA, "taker.csv", &id);
    let file = "side,quantity,price,account,instrument,kind,trigger,trigger_price,trigger_at_once,\
                trail_distance,trail_ppm,activation_price,display_quantity\n\
                sell,1,90,1,BTC-USD,,stop,95,,,,,\n\
                sell,1,,1,BTC-USD,market,take_profit,110,false,,,,\n\
                sell,1,90,1,BTC-USD,,stop,105,,,,,\n\
                sell,1,,1,BTC-USD,market,,,false,5,,,\n\
                sell,1,90,1,BTC-USD,,,,,,10000,120,\n\
                sell,1,101,1,BTC-USD,,,,false,,,,0.25\n\
                sell,1,101,1,BTC-USD,,,,,,,,2\n";
    let id = venue.drop_file(ACME, "waiting.csv", file);
    let answer = venue.answer(ACME, "waiting.csv", &id);
    let statuses = ["waiting", "waiting", "rejected", "waiting", "waiting", "open", "rejected"];
    assert_eq!(answer.column("status"), statuses);
    let reasons = ["", "", "would_trigger", "", "", "", "display_quantity_invalid"];
    assert_eq!(answer.column("reason"), reasons);
    assert_eq!(answer.column("remaining")[..2], ["1.0000", "1.0000"]);
    // The same content again has the first answers.
    let id = venue.drop_file(ACME, "again.csv", file);
    assert_eq!(venue.answer(ACME, "again.csv", &id).column("status"), statuses);
}

#[test]
fn a_bad_file_enters_nothing_and_lists_every_error_with_its_place() {
    let stage = Stage::new(3);
    let venue = stage.open();
    let file = "account,instrument,side,quantity,price,label\n\
                1,BTC-USD,buy,1,100,good\n\
                3,BTC-USD,buy,1,100,foreign\n\
                1,ETH-USD,buyy,1,100,\n\
                1,BTC-USD,buy,1.00001,1e2,\n\
                1,BTC-USD,buy,1\n";
    let before = venue.parts.engine.released();
    let id = venue.drop_file(ACME, "bad.csv", file);
    let faults = venue.faults(ACME, "bad.csv", &id);
    let expected = "line,column,name,error\n\
                    3,1,account,\"\"\"3\"\" is no account of this member.\"\n\
                    4,2,instrument,\"\"\"ETH-USD\"\" is no instrument of this venue.\"\n\
                    4,3,side,\"\"\"buyy\"\" is none of buy, sell.\"\n";
    assert!(faults.starts_with(expected), "{faults}");
    let lines: Vec<_> = faults.lines().skip(4).collect();
    assert!(lines[0].starts_with("5,4,quantity,"), "{lines:?}");
    assert!(lines[1].starts_with("5,5,price,"), "{lines:?}");
    assert_eq!(lines[2], "6,,,\"The line has 4 fields, and the first line 6.\"");
    assert_eq!(lines.len(), 3);
    until("it is a dead letter", || venue.work(ACME) == (0, 0, 1));
    let dead = venue.depot.dead_files(&tenant_of(ACME), 10).unwrap();
    assert!(dead[0].detail.starts_with("6 errors; line 3, column 1 (account): "), "{dead:?}");
    assert_eq!(venue.parts.engine.released(), before, "nothing was sent");
}

#[test]
fn a_column_that_a_row_needs_is_named_when_the_first_line_has_none() {
    let stage = Stage::new(3);
    let venue = stage.open();
    let file = "account,instrument,side,quantity\n1,BTC-USD,buy,1\n";
    let id = venue.drop_file(ACME, "bad.csv", file);
    let expected = "line,column,name,error\n\
                    2,,price,\"The row needs the column price, which the first line does not name.\"\n";
    assert_eq!(venue.faults(ACME, "bad.csv", &id), expected);
    // An unknown column has no name of its own.
    let id = venue.drop_file(ACME, "worse.csv", "a\n1\n");
    venue.faults(ACME, "worse.csv", &id);
    let dead = venue.depot.dead_files(&tenant_of(ACME), 10).unwrap();
    assert!(dead.iter().all(|dead| !dead.detail.contains("()")), "{dead:?}");
}

#[test]
fn the_accounts_of_another_member_are_refused_and_not_told_from_unknown_ones() {
    let stage = Stage::new(4);
    let venue = stage.open();
    let id = venue.drop_file(BETA, "b.csv", &bids(ALICE, 1));
    let foreign = venue.faults(BETA, "b.csv", &id);
    let id = venue.drop_file(BETA, "b.csv", &bids(rialto_model::AccountId(77), 1));
    let unknown = venue.faults(BETA, "b.csv", &id);
    assert_eq!(foreign.replace("\"1\"", "\"77\""), unknown);
    assert!(venue.entered().is_empty());
}

#[test]
fn a_content_that_is_dropped_again_gets_the_first_answer() {
    let stage = Stage::new(5);
    let mut venue = stage.open();
    let content = bids(ALICE, 3);
    let first = venue.drop_file(ACME, "a.csv", &content);
    let answer = venue.answer(ACME, "a.csv", &first);
    let again = venue.drop_file(ACME, "another name.csv", &content);
    assert_eq!(venue.answer(ACME, "another name.csv", &again), answer);
    // A file is counted after its answer exists.
    let counts = venue.exchange.as_ref().unwrap().counts();
    until("it is counted", || counts.files_repeated() == 1);
    // The same after a restart, and when the member has deleted the first answer.
    venue.exchange = None;
    venue.exchange(stage.options());
    let (tenant, path) = (tenant_of(ACME), format!("out/orders/a.{first}.csv"));
    let id = venue.depot.file_at(&tenant, &path).unwrap().record.id;
    venue.depot.delete(&tenant, id).unwrap();
    let third = venue.drop_file(ACME, "a.csv", &content);
    let repeated = venue.answer(ACME, "a.csv", &third);
    assert_eq!(repeated.column("status"), ["repeated"; 3]);
    let counts = venue.exchange.as_ref().unwrap().counts();
    until("its rows are counted", || counts.rows_repeated() == 3);
    assert_eq!(repeated.column("client_order_id"), answer.column("client_order_id"));
    assert_eq!(venue.entered().values().copied().collect::<Vec<_>>(), [1, 1, 1]);
}

#[test]
fn equal_files_of_two_members_are_two_contents() {
    let stage = Stage::new(6);
    let venue = stage.open();
    let content = "instrument,side,quantity,price,account\nBTC-USD,buy,1,1,";
    let of = |account| format!("{content}{account}\n");
    let one = venue.drop_file(ACME, "a.csv", &of(ALICE));
    venue.answer(ACME, "a.csv", &one);
    let other = venue.drop_file(BETA, "a.csv", &of(ALICE));
    venue.faults(BETA, "a.csv", &other);
    let mine = venue.drop_file(BETA, "a.csv", &of(BOB));
    assert_eq!(venue.answer(BETA, "a.csv", &mine).column("status"), ["open"]);
    assert_eq!(venue.entered().len(), 2);
}

#[test]
fn the_last_contents_of_a_member_are_remembered_and_older_ones_are_entered_again() {
    let mut stage = Stage::new(7);
    stage.limits.remembered_max = 2;
    stage.engine = |config| config.limits.client_ids_max = 1;
    let venue = stage.open();
    let contents: Vec<String> = (1..=3).map(|rows| bids(ALICE, rows)).collect();
    let drop_file = |content: &String, member| {
        let id = venue.drop_file(member, "a.csv", content);
        venue.answer(member, "a.csv", &id)
    };
    contents.iter().for_each(|content| drop(drop_file(content, ACME)));
    // Another member does not displace them.
    for rows in 1..=3 {
        drop_file(&bids(BOB, rows), BETA);
    }
    let counts = venue.exchange.as_ref().unwrap().counts();
    until("all are counted", || counts.files_answered() == 6);
    let before = counts.rows_entered();
    drop_file(&contents[2], ACME);
    drop_file(&contents[1], ACME);
    until("both are counted", || counts.files_repeated() == 2);
    assert_eq!(counts.rows_entered(), before);
    drop_file(&contents[0], ACME);
    until("it is counted", || counts.files_answered() == 7);
    assert_eq!(counts.files_repeated(), 2);
}

#[test]
fn a_file_above_a_limit_is_refused() {
    let mut stage = Stage::new(8);
    stage.limits.file_bytes_max = 400;
    stage.limits.rows_max = 2;
    let venue = stage.open();
    let rows = venue.drop_file(ACME, "rows.csv", &bids(ALICE, 3));
    let faults = venue.faults(ACME, "rows.csv", &rows);
    assert!(faults.contains("4,,,A file has at most 2 rows"), "{faults}");
    let large = venue.drop_file(ACME, "large.csv", &bids(ALICE, 20));
    let faults = venue.faults(ACME, "large.csv", &large);
    assert!(faults.contains("at most 400 are accepted"), "{faults}");
    assert!(venue.entered().is_empty());
}

#[test]
fn errors_are_listed_up_to_a_number_and_counted() {
    let stage = Stage::new(9);
    let venue = stage.open();
    let id = venue.drop_file(ACME, "a.csv", &bids(BOB, 150));
    let faults = venue.faults(ACME, "a.csv", &id);
    assert_eq!(faults.lines().count(), 102);
    assert_eq!(faults.lines().last(), Some(",,,50 more errors are not listed."));
}

#[test]
fn directories_are_made_for_members_and_settings_of_the_operator_stay() {
    let stage = Stage::new(10);
    let mut venue = stage.try_open().unwrap();
    let tenant = tenant_of(ACME);
    let quota = Quota { files_max: 7, bytes_max: 0 };
    venue.depot.create_tenant(&tenant, Quota::default()).unwrap();
    let root = directory("");
    venue.depot.set_directory(&tenant, &root, Some(DirectoryKind::Work), quota).unwrap();
    venue.depot.set_directory(&tenant, &orders_in(), None, quota).unwrap();
    venue.list();
    venue.exchange(stage.options());
    let kinds = |member| {
        let directories = venue.depot.tenant(&tenant_of(member)).map(|info| info.directories);
        let set = |it: &rialto_depot::DirectoryInfo| {
            (it.directory.to_string(), it.kind, it.quota.files_max)
        };
        directories.unwrap_or_default().iter().map(set).collect::<Vec<_>>()
    };
    let named = |path: &str, kind, files| (path.to_owned(), Some(kind), files);
    use DirectoryKind::{Shelf, Work};
    until("the directories are made", || kinds(BETA).len() == 3 && kinds(ACME).len() == 3);
    assert_eq!(
        kinds(ACME),
        [named("", Work, 7), named("in/orders", Work, 7), named("out/orders", Shelf, 0)]
    );
    assert_eq!(
        kinds(BETA),
        [named("", Shelf, 0), named("in/orders", Work, 0), named("out/orders", Shelf, 0)]
    );
    // A file elsewhere that is work is no order file.
    let file = NewFile::new(directory("elsewhere"), FileName::new("x.csv").unwrap());
    venue.depot.put_bytes(&tenant, file, bids(ALICE, 1).as_bytes()).unwrap();
    until("it is a dead letter", || venue.work(ACME) == (0, 0, 1));
    let dead = venue.depot.dead_files(&tenant, 10).unwrap();
    assert_eq!(dead[0].detail, "Files of orders go into the directory in/orders.");
}

#[test]
fn a_file_below_the_directory_of_orders_gets_a_list_of_errors() {
    let stage = Stage::new(18);
    let venue = stage.open();
    let tenant = tenant_of(ACME);
    let below = |path: &str| {
        let file = NewFile::new(directory(path), FileName::new("a.csv").unwrap());
        let stored = venue.depot.put_bytes(&tenant, file, bids(ALICE, 1).as_bytes()).unwrap();
        stored.file.id.to_string()
    };
    let faults = venue.faults(ACME, "a.csv", &below("in/orders/today"));
    assert_eq!(
        faults,
        "line,column,name,error\n,,,Files of orders go into the directory in/orders.\n"
    );
    until("it is a dead letter", || venue.work(ACME) == (0, 0, 1));
    // Where the shelf is work, there is no place for a list.
    let work = Some(DirectoryKind::Work);
    venue.depot.set_directory(&tenant, &orders_out(), work, Quota::default()).unwrap();
    below("out/orders");
    until("it is a dead letter", || venue.work(ACME) == (0, 0, 2));
    assert!(venue.entered().is_empty());
}

#[test]
fn nothing_is_sent_of_a_file_whose_answer_has_no_room() {
    let stage = Stage::new(11);
    let venue = stage.open();
    let tenant = tenant_of(ACME);
    until("the directories are made", || {
        venue.depot.tenant(&tenant).is_ok_and(|info| info.directories.len() == 3)
    });
    let set = |bytes| {
        let quota = Quota { files_max: 0, bytes_max: bytes };
        venue.depot.set_directory(&tenant, &orders_out(), Some(DirectoryKind::Shelf), quota)
    };
    set(100).unwrap();
    let id = venue.drop_file(ACME, "a.csv", &bids(ALICE, 3));
    let counts = venue.exchange.as_ref().unwrap().counts();
    until("it is tried again", || counts.files_failed() >= 2);
    assert!(venue.entered().is_empty());
    set(0).unwrap();
    assert_eq!(venue.answer(ACME, "a.csv", &id).column("status"), ["open"; 3]);
}

#[test]
fn files_of_tenants_that_are_no_members_are_left_alone() {
    let stage = Stage::new(12);
    let venue = stage.open();
    let put = |name: &str| {
        let tenant = rialto_depot::TenantName::new(name).unwrap();
        let file = NewFile::new(orders_in(), FileName::new("a.csv").unwrap());
        let id = venue.depot.put_bytes(&tenant, file, bids(ALICE, 1).as_bytes()).unwrap().file.id;
        (tenant, id)
    };
    let others = ["acme", "member-01", "member-77"].map(put);
    let id = venue.drop_file(ACME, "a.csv", &bids(ALICE, 1));
    venue.answer(ACME, "a.csv", &id);
    for (tenant, id) in others {
        assert_eq!(venue.depot.file(&tenant, id).unwrap().state, FileState::Waiting, "{tenant}");
    }
    assert_eq!(venue.entered().len(), 1);
    let _ = ANNA;
}

#[test]
fn a_file_that_the_member_puts_under_the_path_of_an_answer_is_not_the_answer() {
    let stage = Stage::new(13);
    let venue = stage.open();
    let content = bids(ALICE, 3);
    let first = venue.drop_file(ACME, "a.csv", &content);
    venue.answer(ACME, "a.csv", &first);
    let counts = venue.exchange.as_ref().unwrap().counts();
    until("it is counted", || counts.files_answered() == 1);
    let name = FileName::new(&format!("a.{first}.csv")).unwrap();
    let own = NewFile::new(orders_out(), name);
    venue.depot.put_bytes(&tenant_of(ACME), own, &vec![b'x'; 4 << 20]).unwrap();
    let again = venue.drop_file(ACME, "b.csv", &content);
    let answer = venue.answer(ACME, "b.csv", &again);
    assert_eq!(answer.column("status"), ["repeated"; 3]);
}

#[test]
fn answers_are_kept_after_the_tenant_of_a_member_was_deleted() {
    let stage = Stage::new(14);
    let venue = stage.open();
    let tenant = tenant_of(ACME);
    let id = venue.drop_file(ACME, "a.csv", &bids(ALICE, 1));
    venue.answer(ACME, "a.csv", &id);
    until("the file ends", || venue.work(ACME) == (0, 0, 0));
    venue.depot.delete_tenant(&tenant).unwrap();
    until("it is gone", || venue.depot.tenant(&tenant).is_err());
    let id = venue.drop_file(ACME, "b.csv", &bids(ALICE, 2));
    assert_eq!(venue.answer(ACME, "b.csv", &id).column("status"), ["open"; 2]);
    assert_eq!(venue.work(ACME), (0, 0, 0), "the answer is no work");
}

#[test]
fn a_member_whose_tenant_cannot_be_made_does_not_hold_up_the_next() {
    let mut stage = Stage::new(15);
    stage.depot = |options| options.tenants_max = 1;
    let mut venue = stage.try_open().unwrap();
    venue.depot.create_tenant(&tenant_of(BETA), Quota::default()).unwrap();
    venue.list();
    venue.exchange(stage.options());
    until("the directories are made", || {
        venue.depot.tenant(&tenant_of(BETA)).unwrap().directories.len() == 3
    });
    assert!(venue.depot.tenant(&tenant_of(ACME)).is_err());
}

#[test]
fn files_of_a_tenant_that_takes_no_answers_wait_and_cost_no_attempt() {
    let stage = Stage::new(16);
    let mut venue = stage.try_open().unwrap();
    venue.list();
    let tenant = tenant_of(ACME);
    venue.depot.create_tenant(&tenant, Quota::default()).unwrap();
    venue
        .depot
        .set_directory(&tenant, &orders_in(), Some(DirectoryKind::Work), Quota::default())
        .unwrap();
    let id = venue.drop_file(ACME, "a.csv", &bids(ALICE, 2));
    venue.depot.drain_tenant(&tenant).unwrap();
    venue.exchange(stage.options());
    // A file of another member is answered meanwhile.
    let other = venue.drop_file(BETA, "b.csv", &bids(BOB, 1));
    venue.answer(BETA, "b.csv", &other);
    assert_eq!(venue.depot.tenant(&tenant).unwrap().work.claims, 0);
    venue.depot.enable_tenant(&tenant).unwrap();
    assert_eq!(venue.answer(ACME, "a.csv", &id).column("status"), ["open"; 2]);
    assert_eq!(venue.depot.tenant(&tenant).unwrap().work.claims, 1);
}

#[test]
fn the_lines_of_any_line_ends_and_broken_quotes_are_named() {
    let stage = Stage::new(17);
    let venue = stage.open();
    let faults = |text: &str| {
        let id = venue.drop_file(
            ACME,
            "a.csv",
            &format!("instrument,side,quantity,price,account{text}"),
        );
        let faults = venue.faults(ACME, "a.csv", &id);
        faults.lines().nth(1).unwrap().to_owned()
    };
    let (good, bad) = ("BTC-USD,buy,1,100,1", "BTC-USD,buy,1,x,1");
    for end in ["\n", "\r\n", "\r"] {
        let fault = faults(&format!("{end}{good}{end}{bad}{end}"));
        assert!(fault.starts_with("3,4,price,"), "{end:?}: {fault}");
        let fault = faults(&format!("{end}{end}{end}{good}{end}{end}{bad}"));
        assert!(fault.starts_with("6,4,price,"), "{end:?}: {fault}");
    }
    // It would be an order of ten.
    let fault = faults("\nBTC-USD,buy,\"1\"0,100,1\n");
    assert!(fault.starts_with("2,3,,Text follows"), "{fault}");
    let fault = faults("\nBTC-USD,buy,1,100,\"1");
    assert!(fault.starts_with("2,5,,The quote"), "{fault}");
    assert!(venue.entered().is_empty());
    let id = venue.drop_file(ACME, "b.csv", &bids(ALICE, 2).replace('\n', "\r\n"));
    assert_eq!(venue.answer(ACME, "b.csv", &id).column("line"), ["2", "3"]);
}

#[test]
fn rows_have_every_kind_of_order() {
    let stage = Stage::new(15);
    let venue = stage.open();
    let maker = venue.drop_file(ACME, "a.csv", &format!("{HEADER}1,BTC-USD,sell,1,100,\n"));
    venue.answer(ACME, "a.csv", &maker);
    let taker = "instrument,side,quantity,kind,time_in_force,minimum_quantity\n\
                 BTC-USD,buy,0.25,best_price,,\n\
                 BTC-USD,buy,0.25,five_levels,fok,\n\
                 BTC-USD,buy,1,market,gtc,0.5\n\
                 BTC-USD,buy,1,five_levels,gfa,\n";
    let id = venue.drop_file(BETA, "b.csv", taker);
    let answer = venue.answer(BETA, "b.csv", &id);
    assert_eq!(answer.column("status"), ["filled", "filled", "partially_filled", "rejected"]);
    assert_eq!(answer.column("filled"), ["0.2500", "0.2500", "0.5000", ""]);
    assert_eq!(answer.column("remaining"), ["0.0000", "0.0000", "0.5000", ""]);
    assert_eq!(answer.column("reason")[3], "invalid_combination");
}
