//! Order files, as members drop them.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rialto_desk::Listing;
use rialto_model::{AccountId, Currency, CurrencyId, InstrumentId, Scale, Symbol};
use rialto_order_files::{FAULTS_LISTED_MAX, FileScope, OrderFile};

const ROWS_MAX: usize = 50;

fn listing(symbol: &Symbol) -> Option<Listing> {
    let scale = |places| Scale::new(places).expect("a scale");
    let currency = |id, code: &str| Currency {
        id: CurrencyId(id),
        code: code.parse().expect("a code"),
        scale: scale(8),
    };
    (symbol.as_str() == "BTC-USD").then(|| Listing {
        id: InstrumentId(1),
        symbol: *symbol,
        base: currency(1, "BTC"),
        quote: currency(2, "USD"),
        price_scale: scale(2),
        quantity_scale: scale(4),
    })
}

fuzz_target!(|bytes: &[u8]| {
    let accounts = [AccountId(1), AccountId(2)];
    let only_account = accounts.first().copied().filter(|_| accounts.len() == 1);
    let scope =
        FileScope { listing: &listing, accounts: &accounts, only_account, rows_max: ROWS_MAX };
    match OrderFile::read(bytes, &scope) {
        Ok(file) => {
            assert!((1..=ROWS_MAX).contains(&file.rows.len()));
            for (nth, row) in file.rows.iter().enumerate() {
                assert!(accounts.contains(&row.order.account));
                assert_eq!(row.order.instrument, InstrumentId(1));
                let row_number = u32::try_from(nth + 1).expect("a few rows");
                assert_eq!(row.order.client_order_id, file.digest.client_order_id(row_number));
                assert!(row.line > nth as u64);
            }
        }
        Err(faults) => {
            assert!(faults.total() >= 1);
            let listed = faults.listed().len();
            assert_eq!(listed as u64, faults.total().min(FAULTS_LISTED_MAX as u64));
        }
    }
});
