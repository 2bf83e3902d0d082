//! How the program asks the system for memory.

/// The C library gives threads up to eight pools per processor to take memory
/// from, and what is free in one is of no use to the others. The threads that
/// look things up come and go: with a million products, 30 MB lay about in pools
/// that nobody used any more. As many pools as processors are as quick.
///
/// To be called before there are other threads.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn share() {
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let pools = i32::try_from(processors.max(2)).unwrap_or(i32::MAX);
    #[expect(unsafe_code, reason = "there is no other way to tell the C library")]
    // SAFETY: it sets a number that is read when a thread first takes memory.
    let is_set = unsafe { libc::mallopt(libc::M_ARENA_MAX, pools) };
    debug_assert_eq!(is_set, 1);
    // Large blocks go back to the system when they are freed. Without these the
    // library raises both by itself after the first large one, and keeps it.
    for (what, bytes) in [
        (libc::M_MMAP_THRESHOLD, 256 * 1024),
        (libc::M_TRIM_THRESHOLD, 1024 * 1024),
    ] {
        #[expect(unsafe_code, reason = "there is no other way to tell the C library")]
        // SAFETY: as above.
        let is_set = unsafe { libc::mallopt(what, bytes) };
        debug_assert_eq!(is_set, 1);
    }
}

/// Elsewhere it is as the system has it.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn share() {}
