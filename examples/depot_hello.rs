//! A file that waits for a worker, across a restart: `cargo run -p rialto-examples --bin depot_hello`.

use rialto_depot::{ClaimOptions, Depot, DepotOptions, Directory, FileName, NewFile, TenantName};
use std::error::Error;
use std::str::from_utf8;

fn main() -> Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    let acme = TenantName::new("acme")?;
    {
        let depot = Depot::open(DepotOptions::at(directory.path()))?;
        for name in ["ada.txt", "ben.txt"] {
            let file = NewFile::new(Directory::new("in")?, FileName::new(name)?);
            let stored = depot.put_bytes(&acme, file, name.as_bytes())?;
            println!("{} is stored: {} bytes", stored.file.path(), stored.file.bytes);
        }
        depot.close()?;
    }
    let depot = Depot::open(DepotOptions::at(directory.path()))?;
    while let Some(claim) = depot.claim(&acme, &ClaimOptions::default())?.first() {
        let content = depot.read_claimed(claim)?.read_all()?;
        println!("{} says {:?}", claim.file().path(), from_utf8(&content)?);
        depot.complete(claim.token())?;
    }
    println!("{} files left", depot.tenant(&acme)?.files);
    Ok(())
}
