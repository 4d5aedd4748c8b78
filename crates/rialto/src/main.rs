//! The `rialto` binary. Everything it does is in the library of the same name.

/// A venue's books are large and visited at random: in large pages, far fewer visits wait. The
/// count of allocations is for `rialto bench`; it costs two additions for each.
#[global_allocator]
static ALLOCATOR: rialto_disk::CountingAllocator = rialto_disk::CountingAllocator;

fn main() -> std::process::ExitCode {
    rialto::cli::main()
}
