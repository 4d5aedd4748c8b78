//! The `rialto` binary. Everything it does is in the library of the same name.

/// A venue's books are large and visited at random: in large pages, far fewer visits wait. The
/// count of allocations is for `rialto bench`; it costs one addition for each.
#[global_allocator]
static ALLOCATOR: rialto_bench::CountingAllocator = rialto_bench::CountingAllocator;

fn main() -> std::process::ExitCode {
    rialto::cli::main()
}
