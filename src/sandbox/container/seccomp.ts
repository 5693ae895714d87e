/**
 * The system calls that a sandbox may make; every other one fails with EPERM. Narrower than the default of any Docker
 * engine: those of before 23.0 let a container without network open vsock sockets, which lead to the host of a virtual
 * machine, and those of before 25.0 let it use io_uring, whose requests no filter sees. ADR 0022.
 *
 * Names that an architecture does not have are skipped by the engine. Of an architecture only its own calls are let
 * through: on x86-64 the 32-bit ones would get around what is said here of arguments.
 */
const allowed = {
  files: `
    open openat openat2 creat close close_range read write readv writev pread64 pwrite64 preadv pwritev
    preadv2 pwritev2 lseek _llseek dup dup2 dup3 pipe pipe2 splice tee vmsplice sendfile sendfile64
    copy_file_range readahead fadvise64 fadvise64_64 arm_fadvise64_64 fallocate truncate ftruncate
    truncate64 ftruncate64 sync syncfs fsync fdatasync sync_file_range sync_file_range2 arm_sync_file_range
    ioctl fcntl fcntl64 flock cachestat`,
  names: `
    access faccessat faccessat2 stat stat64 lstat lstat64 fstat fstat64 fstatat64 newfstatat statx statfs
    statfs64 fstatfs fstatfs64 getdents getdents64 getcwd chdir fchdir mkdir mkdirat rmdir link linkat
    symlink symlinkat readlink readlinkat unlink unlinkat rename renameat renameat2 chmod fchmod fchmodat
    fchmodat2 chown chown32 fchown fchown32 lchown lchown32 fchownat umask utime utimes utimensat
    utimensat_time64 futimesat mknod mknodat setxattr lsetxattr fsetxattr getxattr lgetxattr fgetxattr
    listxattr llistxattr flistxattr removexattr lremovexattr fremovexattr setxattrat getxattrat listxattrat
    removexattrat name_to_handle_at inotify_init inotify_init1 inotify_add_watch inotify_rm_watch`,
  waiting: `
    select _newselect pselect6 pselect6_time64 poll ppoll ppoll_time64 epoll_create epoll_create1 epoll_ctl
    epoll_ctl_old epoll_wait epoll_wait_old epoll_pwait epoll_pwait2 eventfd eventfd2 signalfd signalfd4
    timerfd_create timerfd_settime timerfd_settime64 timerfd_gettime timerfd_gettime64`,
  memory: `
    brk mmap mmap2 munmap mremap mprotect madvise msync mincore mlock mlock2 munlock mlockall munlockall
    remap_file_pages memfd_create memfd_secret pkey_alloc pkey_free pkey_mprotect mseal map_shadow_stack
    process_mrelease membarrier`,
  processes: `
    fork vfork execve execveat exit exit_group wait4 waitid waitpid kill tkill tgkill pidfd_open
    pidfd_send_signal getpid gettid getppid getpgid getpgrp getsid setpgid setsid set_tid_address
    set_robust_list get_robust_list prctl arch_prctl set_thread_area get_thread_area set_tls rseq seccomp
    ptrace capget capset landlock_create_ruleset landlock_add_rule landlock_restrict_self
    breakpoint cacheflush uretprobe riscv_flush_icache riscv_hwprobe futex futex_time64 futex_waitv
    futex_wake futex_wait futex_requeue restart_syscall`,
  users: `
    getuid getuid32 geteuid geteuid32 getgid getgid32 getegid getegid32 getgroups getgroups32 getresuid
    getresuid32 getresgid getresgid32 setuid setuid32 setgid setgid32 setreuid setreuid32 setregid
    setregid32 setresuid setresuid32 setresgid setresgid32 setgroups setgroups32 setfsuid setfsuid32
    setfsgid setfsgid32`,
  scheduling: `
    sched_yield sched_getaffinity sched_setaffinity sched_getparam sched_setparam sched_getscheduler
    sched_setscheduler sched_getattr sched_setattr sched_get_priority_max sched_get_priority_min
    sched_rr_get_interval sched_rr_get_interval_time64 nice getpriority setpriority ioprio_get ioprio_set
    getcpu getrlimit ugetrlimit getrusage times`,
  signals: `
    rt_sigaction rt_sigprocmask rt_sigpending rt_sigsuspend rt_sigreturn rt_sigqueueinfo rt_tgsigqueueinfo
    rt_sigtimedwait rt_sigtimedwait_time64 sigaltstack sigaction sigprocmask sigpending sigsuspend sigreturn
    signal pause alarm getitimer setitimer`,
  time: `
    time gettimeofday clock_gettime clock_gettime64 clock_getres clock_getres_time64 clock_nanosleep
    clock_nanosleep_time64 nanosleep timer_create timer_settime timer_settime64 timer_gettime
    timer_gettime64 timer_getoverrun timer_delete`,
  sockets: `
    bind listen accept accept4 connect getsockname getpeername getsockopt setsockopt shutdown
    send sendto sendmsg sendmmsg recv recvfrom recvmsg recvmmsg recvmmsg_time64`,
  ipc: `
    shmget shmat shmdt shmctl semget semop semctl semtimedop semtimedop_time64 msgget msgsnd msgrcv msgctl
    mq_open mq_unlink mq_timedsend mq_timedsend_time64 mq_timedreceive mq_timedreceive_time64 mq_notify
    mq_getsetattr`,
  machine: `
    uname sysinfo getrandom get_mempolicy`,
};

/**
 * Sockets that may be made: family, type, protocols. Not among them are vsock, which no namespace holds, and what the
 * kernel would load a module for, as anybody may have it do (SCTP, DCCP, TIPC, families of netlink).
 */
const [unix, ipv4, ipv6, netlink] = [1, 2, 10, 16];
const [stream, datagram, tcp, udp, route] = [1, 2, 6, 17, 0];
const sockets = [ipv4, ipv6].flatMap((family) => [
  ...[0, tcp].map((protocol) => ({ family, type: stream, protocol })),
  ...[0, udp].map((protocol) => ({ family, type: datagram, protocol })),
]);
/** Of a type, without the flags that may be beside it. */
const typeMask = 0xf;
/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET: what makes namespaces. */
const namespaceFlags = 0x7e02_0000;
/** What `personality` may be: as it is by default, 32-bit addresses, no address randomisation, and asking for it. */
const personalities = [0x0, 0x8, 0x4_0000, 0x2_0000, 0x2_0008, 0xffff_ffff];
/**
 * What the kernel seems not to have, so that libraries do without: `clone3`, whose flags lie in memory, where no filter
 * looks, and asynchronous I/O, of which there is one measure for the whole machine (`fs.aio-max-nr`).
 */
const absent = 'clone3 io_setup io_submit io_cancel io_getevents io_pgetevents io_destroy'.split(' ');
const enosys = 38;

/** RLIMIT_CORE, and the limits that may be set: all others. */
const coreLimit = 4;
const otherLimits = Array.from({ length: 16 }, (_, limit) => limit).filter((limit) => limit !== coreLimit);

interface Rule {
  readonly names: readonly string[];
  readonly action: 'SCMP_ACT_ALLOW' | 'SCMP_ACT_ERRNO';
  readonly errnoRet?: number;
  readonly args?: readonly { index: number; value: number; valueTwo: number; op: string }[];
}

const allow = (names: readonly string[], args: NonNullable<Rule['args']> = []): Rule => ({
  names,
  action: 'SCMP_ACT_ALLOW',
  args,
});
const masked = (mask: number, value: number, index = 0) => ({
  ...{ index, value: mask, valueTwo: value, op: 'SCMP_CMP_MASKED_EQ' },
});
/** Of 32 bits, as the kernel takes all that is looked at here. */
const equal = (value: number, index = 0) => masked(0xffff_ffff, value, index);

/** Of all 64 bits. */
const compare = (op: 'EQ' | 'NE', value: number, index: number) => ({
  ...{ index, value, valueTwo: 0, op: `SCMP_CMP_${op}` },
});

/** The filter as `--security-opt seccomp=` takes it, whole. */
export function seccompProfile(): string {
  const syscalls: Rule[] = [
    allow(Object.values(allowed).flatMap((names) => names.trim().split(/\s+/))),
    allow(['socket', 'socketpair'], [equal(unix)]),
    allow(['socket'], [equal(netlink), equal(route, 2)]),
    ...sockets.map(({ family, type, protocol }) =>
      allow(['socket'], [equal(family), masked(typeMask, type, 1), equal(protocol, 2)]),
    ),
    ...personalities.map((persona) => allow(['personality'], [equal(persona)])),
    // First argument everywhere but on s390, where the engine's own default is of no use either.
    allow(['clone'], [masked(namespaceFlags, 0)]),
    { names: absent, action: 'SCMP_ACT_ERRNO', errnoRet: enosys },
    ...otherLimits.flatMap((limit) => [
      allow(['setrlimit'], [equal(limit)]),
      allow(['prlimit64'], [equal(limit, 1)]),
    ]),
    // That of dumps may be read, and stays as it is: see container-spec.ts. Most that set it want no dump, which they get.
    allow(['prlimit64'], [equal(coreLimit, 1), compare('EQ', 0, 2)]),
    { names: ['setrlimit'], action: 'SCMP_ACT_ERRNO', errnoRet: 0, args: [equal(coreLimit)] },
    {
      ...{ names: ['prlimit64'], action: 'SCMP_ACT_ERRNO', errnoRet: 0 },
      args: [equal(coreLimit, 1), compare('NE', 0, 2)],
    },
  ];
  return JSON.stringify({ defaultAction: 'SCMP_ACT_ERRNO', defaultErrnoRet: 1, syscalls });
}
