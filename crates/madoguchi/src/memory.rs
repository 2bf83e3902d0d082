//! How the program asks the system for memory.

/// Limits the memory pools of the C library to one for each processor. By default it
/// has up to eight, and memory that is free in one pool can't be used by another:
/// with a million products, 30 MB lay in unused pools. Fewer pools are as fast.
///
/// Must be called before other threads start.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn share() {
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let pools = i32::try_from(processors.max(2)).unwrap_or(i32::MAX);
    #[expect(unsafe_code, reason = "only the C library can set this")]
    // SAFETY: it sets a number that is read when a thread first takes memory.
    let is_set = unsafe { libc::mallopt(libc::M_ARENA_MAX, pools) };
    debug_assert_eq!(is_set, 1);
    // Large blocks are returned to the system when they are freed. Without this the
    // library raises both limits after the first large block and keeps the memory.
    // Blocks from 64 KiB count as large: kept in the pools, they leave gaps, which
    // took 20 MB under hostile callers.
    for (what, bytes) in [
        (libc::M_MMAP_THRESHOLD, 64 * 1024),
        (libc::M_TRIM_THRESHOLD, 256 * 1024),
    ] {
        #[expect(unsafe_code, reason = "only the C library can set this")]
        // SAFETY: as above.
        let is_set = unsafe { libc::mallopt(what, bytes) };
        debug_assert_eq!(is_set, 1);
    }
}

/// Other systems keep their defaults.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn share() {}
