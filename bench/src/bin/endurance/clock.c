// Lets time pass faster for a program: preloaded, it multiplies what the clocks say and
// divides what a wait takes. Both clocks do so, and so do waits on futexes, which Rust makes
// itself and libfaketime does not see. The time of day can leap besides, as after a machine
// has slept; the other clock does not notice that, as on a real machine.
//
// CLOCK_RATE   how much faster
// CLOCK_BASE   the moment from which on, in nanoseconds since 1970
// CLOCK_LEAP   a file with what to add to the time of day: 8 bytes, nanoseconds
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000LL

static int64_t rate = 0, base;
static const volatile int64_t no_leap = 0;
static const volatile int64_t *leap = &no_leap;
static int (*real_gettime)(clockid_t, struct timespec *);
static long (*real_syscall)(long, ...);

static void prepare(void) {
    if (rate) return;
    real_gettime = dlsym(RTLD_NEXT, "clock_gettime");
    real_syscall = dlsym(RTLD_NEXT, "syscall");
    const char *from = getenv("CLOCK_BASE"), *by = getenv("CLOCK_RATE"), *file = getenv("CLOCK_LEAP");
    base = from ? atoll(from) : 0;
    int fd = file ? open(file, O_RDONLY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        void *mapped = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, fd, 0);
        if (mapped != MAP_FAILED) leap = mapped;
        close(fd);
    }
    int64_t times = by ? atoll(by) : 1;
    rate = times > 0 ? times : 1;
}

__attribute__((constructor)) static void at_start(void) { prepare(); }

static int64_t nanoseconds(const struct timespec *time) {
    return time->tv_sec * SECOND + time->tv_nsec;
}

static struct timespec timespec_of(int64_t time) {
    return (struct timespec){time / SECOND, time % SECOND};
}

static int is_of_day(clockid_t clock) {
    return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
}

static int is_monotonic(clockid_t clock) {
    return clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_RAW ||
           clock == CLOCK_MONOTONIC_COARSE || clock == CLOCK_BOOTTIME;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    prepare();
    int failed = real_gettime(clock, time);
    if (failed) return failed;
    if (is_of_day(clock))
        *time = timespec_of(base + (nanoseconds(time) - base) * rate + *leap);
    else if (is_monotonic(clock))
        *time = timespec_of(nanoseconds(time) * rate);
    return 0;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    (void)zone;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    *time = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *out) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out) *out = now.tv_sec;
    return now.tv_sec;
}

// The real moment at which a clock will say this.
static struct timespec real_moment(clockid_t clock, const struct timespec *time) {
    int64_t said = nanoseconds(time);
    return timespec_of(is_of_day(clock) ? base + (said - *leap - base) / rate : said / rate);
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *left) {
    prepare();
    struct timespec real = flags & TIMER_ABSTIME ? real_moment(clock, time)
                                                 : timespec_of(nanoseconds(time) / rate);
    long failed = real_syscall(SYS_clock_nanosleep, clock, flags, &real, left);
    if (!failed) return 0;
    if (errno == EINTR && left && !(flags & TIMER_ABSTIME))
        *left = timespec_of(nanoseconds(left) * rate);
    return errno;
}

int nanosleep(const struct timespec *time, struct timespec *left) {
    int failed = clock_nanosleep(CLOCK_MONOTONIC, 0, time, left);
    errno = failed ? failed : errno;
    return failed ? -1 : 0;
}

// Never less than a millisecond, or short waits would be busy ones.
static int shorter(int milliseconds) {
    return milliseconds <= 0 ? milliseconds : (int)((milliseconds + rate - 1) / rate);
}

int epoll_wait(int epoll, struct epoll_event *events, int most, int timeout) {
    prepare();
    return (int)real_syscall(SYS_epoll_pwait, epoll, events, most, shorter(timeout), NULL, 8);
}

int poll(struct pollfd *files, nfds_t count, int timeout) {
    prepare();
    int milliseconds = shorter(timeout);
    struct timespec limit = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    return (int)real_syscall(SYS_ppoll, files, count, timeout < 0 ? NULL : &limit, NULL, 8);
}

long syscall(long number, ...) {
    prepare();
    long a[6];
    va_list arguments;
    va_start(arguments, number);
    for (int at = 0; at < 6; at++) a[at] = va_arg(arguments, long);
    va_end(arguments);
    struct timespec real;
    const struct timespec *limit = (const struct timespec *)a[3];
    if (number == SYS_futex && limit) {
        int what = (int)a[1] & FUTEX_CMD_MASK;
        if (what == FUTEX_WAIT) {
            real = timespec_of(nanoseconds(limit) / rate);
            a[3] = (long)&real;
        } else if (what == FUTEX_WAIT_BITSET) {
            clockid_t clock = a[1] & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC;
            real = real_moment(clock, limit);
            a[3] = (long)&real;
        }
    }
    return real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
