//! The fuzz targets of names and records, with a bounded number of inputs.

#[path = "../../../../fuzz/bounded.rs"]
mod bounded;
#[path = "../../../../fuzz/fuzz_targets/depot_names.rs"]
#[allow(unused_attributes, reason = "`no_main` is for the fuzzer")]
mod depot_names;
#[path = "../../../../fuzz/fuzz_targets/depot_records.rs"]
#[allow(unused_attributes, reason = "`no_main` is for the fuzzer")]
mod depot_records;

use rialto_depot::{
    ClaimOptions, Depot, DepotOptions, Directory, FileName, NewFile, TenantName, Timestamp,
};

#[test]
fn names_are_refused_or_plain() {
    let valid = [
        "acme-1_x",
        "in/orders/2026",
        "in/a..b/.c",
        "a.csv",
        "é.csv",
        "188ae2f1a7c3d5000123456789abcdef",
    ];
    let mut valid: Vec<_> = valid.iter().map(|text| text.as_bytes().to_vec()).collect();
    let dir = tempfile::tempdir().unwrap();
    let depot = Depot::open(DepotOptions::at(dir.path())).unwrap();
    let tenant = TenantName::new("acme").unwrap();
    depot.put_bytes(&tenant, NewFile::default(), b"x").unwrap();
    let claims = depot.claim(&tenant, &ClaimOptions::default()).unwrap();
    valid.push(claims[0].token().to_string().into_bytes());
    bounded::check(depot_names::target, &valid);
}

#[test]
fn records_are_refused_or_sound() {
    let dir = tempfile::tempdir().unwrap();
    let depot = Depot::open(DepotOptions::at(dir.path())).unwrap();
    let tenant = TenantName::new("acme").unwrap();
    let name = FileName::new("a.csv").unwrap();
    let mut file = NewFile::new(Directory::new("in/orders").unwrap(), name);
    let inline = depot.put_bytes(&tenant, file.clone(), b"abc").unwrap();
    file.metadata = vec![("desk".to_owned(), "fx".to_owned())];
    file.content_type = "text/csv".to_owned();
    file.submit_key = Some("k1".to_owned());
    file.expires_at = Some(Timestamp(u64::MAX / 2));
    let stored = depot.put_bytes(&tenant, file, &vec![7; 100_000]).unwrap();
    let valid = [inline, stored].map(|it| postcard::to_allocvec(&*it.file).unwrap());
    bounded::check(depot_records::target, &valid);
}
