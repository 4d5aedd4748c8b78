//! Files go through the depot of a real venue.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod test_venue;

use rialto_client::Client;
use rialto_client::api::{
    DepotClaimRequest, DepotDirectoryKind, DepotDirectoryRequest, DepotFileKind, DepotFileState,
    DepotFilesQuery, DepotPutQuery, DepotSettleRequest, DepotTenantRequest, Rows,
};
use rialto_client::{ClientOptions, Credentials};
use test_venue::gateway_venue::{TestVenue, config};

#[test]
fn files_are_stored_claimed_and_kept() {
    let venue = TestVenue::with_depot(config(), |options| options);
    let key = Credentials::Admin(venue.admin.reveal().to_owned());
    let url = format!("http://{}", venue.address);
    let client = Client::with_options(&url, key, ClientOptions::default()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let quota = DepotTenantRequest { files_max: 10.into(), bytes_max: 0.into() };
        assert_eq!(client.set_tenant("acme", &quota).await.unwrap().files_max, 10.into());
        let query = DepotPutQuery { name: Some("a.csv".into()), ..DepotPutQuery::default() };
        let stored = client.put_file("acme", &query, "text/csv", "1,2".into()).await.unwrap();
        assert_eq!(&*client.get_file("acme", &stored.id.0).await.unwrap(), b"1,2");

        let ask = DepotClaimRequest { wait_ms: 1_000, content: true, ..Default::default() };
        let claims = client.claim_files("acme", &ask).await.unwrap().claims;
        assert_eq!(claims[0].file.id, stored.id);
        assert_eq!(&*claims[0].content.as_ref().unwrap().0, b"1,2");
        let tokens = DepotSettleRequest { claims: Rows(vec![claims[0].claim.as_str().into()]) };
        assert!(client.complete_claims(&tokens).await.unwrap().lost.is_empty());
        assert!(client.file("acme", &stored.id.0).await.is_err());

        let shelf = DepotDirectoryRequest {
            directory: "out".into(),
            kind: Some(DepotDirectoryKind::Shelf),
            ..Default::default()
        };
        client.set_directory("acme", &shelf).await.unwrap();
        let query = DepotPutQuery {
            directory: Some("out".into()),
            name: Some("b.csv".into()),
            ..DepotPutQuery::default()
        };
        let kept = client.put_file("acme", &query, "text/csv", "3".into()).await.unwrap();
        assert_eq!(kept.state, DepotFileState::Kept);
        let list = DepotFilesQuery { kind: Some(DepotFileKind::Shelf), ..Default::default() };
        assert_eq!(client.files("acme", &list).await.unwrap().files, [kept]);
        assert_eq!(client.volumes().await.unwrap().volumes.len(), 1);
    });
}
