/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * confined: runs a program as the runtime of a container without any trust does.
 *
 *     confined UID COMMAND [ARGUMENT...]
 *
 * UID is user and group. The program has no other groups and no capabilities, and cannot regain
 * any;
 * no_new_privs is set. System calls are filtered as by Docker's default profile for a container
 * without capabilities: calls outside the profile fail with EPERM, and clone3() with ENOSYS.
 */
#include <errno.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#else
#define ARCH 0 /* unknown here: no filter */
#endif

/* The last call that the profile knows: any newer call is denied. */
#define LAST_KNOWN 449 /* futex_waitv */
#define NAMESPACES                                                                                 \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |             \
		CLONE_NEWPID | CLONE_NEWNET)

static const int denied[] = {
	SYS_acct,
	SYS_add_key,
	SYS_bpf,
	SYS_chroot,
	SYS_clock_settime,
	SYS_delete_module,
	SYS_fanotify_init,
	SYS_finit_module,
	SYS_fsconfig,
	SYS_fsmount,
	SYS_fsopen,
	SYS_fspick,
	SYS_get_mempolicy,
	SYS_init_module,
	SYS_io_uring_enter,
	SYS_io_uring_register,
	SYS_io_uring_setup,
	SYS_kcmp,
	SYS_kexec_load,
	SYS_keyctl,
	SYS_mbind,
	SYS_migrate_pages,
	SYS_mount,
	SYS_mount_setattr,
	SYS_move_mount,
	SYS_move_pages,
	SYS_name_to_handle_at,
	SYS_nfsservctl,
	SYS_open_by_handle_at,
	SYS_open_tree,
	SYS_perf_event_open,
	SYS_pidfd_getfd,
	SYS_pivot_root,
	SYS_process_madvise,
	SYS_process_vm_readv,
	SYS_process_vm_writev,
	SYS_ptrace,
	SYS_quotactl,
	SYS_quotactl_fd,
	SYS_reboot,
	SYS_request_key,
	SYS_set_mempolicy,
	SYS_setdomainname,
	SYS_sethostname,
	SYS_setns,
	SYS_settimeofday,
	SYS_swapoff,
	SYS_swapon,
	SYS_syslog,
	SYS_umount2,
	SYS_unshare,
	SYS_userfaultfd,
	SYS_vhangup,
#ifdef SYS_iopl
	SYS_ioperm,
	SYS_iopl,
	SYS_sysfs,
	SYS_uselib,
	SYS_ustat,
#endif
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define LOAD(field)                                                                                \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offsetof(struct seccomp_data, field))
#define ANSWER(error) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))
#define ALLOW	      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
/* Skips n statements if not equal. */
#define UNLESS(value, n) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (n))

static void filter(void)
{
	static const struct sock_filter head[] = {
		LOAD(arch),
		UNLESS(ARCH, 3),
		LOAD(nr),
		BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, LAST_KNOWN, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JA, 1, 0, 0),
		ANSWER(EPERM),
		UNLESS(SYS_clone3, 1),
		ANSWER(ENOSYS),
		UNLESS(SYS_clone, 4),
		LOAD(args[0]),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, NAMESPACES, 0, 1),
		ANSWER(EPERM),
		ALLOW,
		UNLESS(SYS_socket, 4),
		LOAD(args[0]),
		UNLESS(AF_VSOCK, 1),
		ANSWER(EPERM),
		ALLOW,
		UNLESS(SYS_personality, 6),
		LOAD(args[0]),
		UNLESS(~0u, 1), /* the call only asks */
		ALLOW,
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, ~(unsigned)(PER_LINUX32 | UNAME26), 0, 1),
		ANSWER(EPERM),
		ALLOW,
	};
	static struct sock_filter all[COUNT(head) + 2 * COUNT(denied) + 1];
	struct sock_fprog program = {.len = COUNT(all), .filter = all};
	size_t n = COUNT(head);

	if (!ARCH)
		return;
	memcpy(all, head, sizeof(head));
	for (size_t i = 0; i < COUNT(denied); i++) {
		all[n++] = (struct sock_filter)UNLESS((unsigned)denied[i], 1);
		all[n++] = (struct sock_filter)ANSWER(EPERM);
	}
	all[n] = (struct sock_filter)ALLOW;
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		perror("confined: the filter");
		exit(125);
	}
}

static void must(int result, const char *what)
{
	if (result == 0)
		return;
	fprintf(stderr, "confined: %s: %s\n", what, strerror(errno));
	exit(125);
}

int main(int argc, char **argv)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {0};
	unsigned user;

	if (argc < 3 || sscanf(argv[1], "%u", &user) != 1) {
		fprintf(stderr, "usage: confined UID COMMAND [ARGUMENT...]\n");
		return 2;
	}
	must(setgroups(0, NULL), "setgroups");
	for (int cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		must(prctl(PR_CAPBSET_DROP, cap, 0, 0, 0), "PR_CAPBSET_DROP");
	must(setresgid(user, user, user), "setresgid");
	must(setresuid(user, user, user), "setresuid");
	must((int)syscall(SYS_capset, &header, none), "capset");
	must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs");
	filter();
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 127;
}
