/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * baton: see baton.h. A kernel thread that sleeps and the carrier share thread-local memory. The
 * sleeper makes system calls by itself, because the C library's functions set errno.
 */
#include "tests/simulation/baton.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__) && !defined(BATON_BY_KERNEL)

#define STACK_SIZE 4096 /* of a kernel thread that sleeps */
#define FSGSBASE   2	/* of AT_HWCAP2 */

static long system_call(long number, long a, long b, long c)
{
	long res;
	register long d __asm__("r10") = 0;

	__asm__ volatile("syscall"
			 : "=a"(res)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(d)
			 : "rcx", "r11", "memory");
	return res;
}

/* Saves the registers that a function must keep, then the stack pointer to *save; loads the
 * registers that are saved on `stack`. Control words of floating point are the same in all threads.
 * `by_call`: only the kernel may change FS. */
void baton_switch(void **save, void *stack, uintptr_t tls, long by_call);
/* Saves registers in the same way; then calls fn(arg) on `stack`. fn does not return. */
void baton_sleep(void **save, void *stack, void (*fn)(void *), void *arg);
/* Loads the registers that are saved on `stack`. */
void baton_resume(void *stack) __attribute__((noreturn));

#define SAVE "push %rbp\n push %rbx\n push %r12\n push %r13\n push %r14\n push %r15\n"
#define LOAD "pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbx\n pop %rbp\n ret\n"

__asm__(".text\n"
	"baton_switch:\n" SAVE "mov %rsp, (%rdi)\n mov %rsi, %rsp\n"
	"test %rcx, %rcx\n jnz 1f\n wrfsbase %rdx\n" LOAD
	"1: mov $158, %eax\n mov $0x1002, %edi\n mov %rdx, %rsi\n syscall\n" LOAD /* arch_prctl */
	"baton_sleep:\n" SAVE "mov %rsp, (%rdi)\n mov %rsi, %rsp\n"
	"xor %ebp, %ebp\n mov %rcx, %rdi\n call *%rdx\n ud2\n"
	"baton_resume:\n mov %rdi, %rsp\n" LOAD);

static long by_call;
static struct baton *left; /* the thread that ends: the carrier lets its kernel thread go on */

/* Returns after the end of the thread's kernel thread, which gives back memory: in each run at the
 * same moment. */
static void let_end(struct baton *b)
{
	long pid = system_call(SYS_getpid, 0, 0, 0);
	int tid = b->tid;

	atomic_store(&b->has, 1);
	system_call(SYS_futex, (long)&b->has, FUTEX_WAKE_PRIVATE, 1);
	while (system_call(SYS_tgkill, pid, tid, 0) != -ESRCH)
		system_call(SYS_sched_yield, 0, 0, 0);
}

/* The first act of a thread that has got the baton. */
static void arrive(void)
{
	struct baton *b = left;

	left = NULL;
	if (b)
		let_end(b);
}

static uintptr_t own_tls(void)
{
	uintptr_t tls;

	__asm__("mov %%fs:0, %0" : "=r"(tls));
	return tls;
}

void baton_take(struct baton *b)
{
	by_call = !(getauxval(AT_HWCAP2) & FSGSBASE);
	b->tls = own_tls();
}

/* On the small stack. */
static void sleep_until_end(void *ctx)
{
	struct baton *b = ctx;

	atomic_store(&b->waits, 1);
	system_call(SYS_futex, (long)&b->waits, FUTEX_WAKE_PRIVATE, 1);
	while (!atomic_load(&b->has))
		system_call(SYS_futex, (long)&b->has, FUTEX_WAIT_PRIVATE, 0);
	baton_resume(b->stack);
}

/* The small stack is in this frame, which lasts as long as the thread. */
void baton_begin(struct baton *b, void (*fn)(void *arg), void *arg)
{
	_Alignas(16) char stack[STACK_SIZE];

	b->tls = own_tls();
	b->tid = (int)system_call(SYS_gettid, 0, 0, 0);
	baton_sleep(&b->stack, stack + sizeof(stack), sleep_until_end, b);
	arrive();
	fn(arg);
}

void baton_await(struct baton *b)
{
	while (!atomic_load(&b->waits))
		system_call(SYS_futex, (long)&b->waits, FUTEX_WAIT_PRIVATE, 0);
}

void baton_pass(struct baton *from, struct baton *to)
{
	baton_switch(&from->stack, to->stack, to->tls, by_call);
	arrive();
}

void baton_leave(struct baton *from, struct baton *to)
{
	left = from;
	baton_switch(&from->stack, to->stack, to->tls, by_call);
	/* here the kernel thread of `from` goes on */
}

#else

static void wait_for(atomic_int *is)
{
	while (!atomic_load(is))
		syscall(SYS_futex, is, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

static void set(atomic_int *is)
{
	atomic_store(is, 1);
	syscall(SYS_futex, is, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void baton_take(struct baton *b)
{
}

void baton_begin(struct baton *b, void (*fn)(void *arg), void *arg)
{
	set(&b->waits);
	wait_for(&b->has);
	atomic_store(&b->has, 0);
	fn(arg);
}

void baton_await(struct baton *b)
{
	wait_for(&b->waits);
}

void baton_pass(struct baton *from, struct baton *to)
{
	set(&to->has);
	wait_for(&from->has);
	atomic_store(&from->has, 0);
}

void baton_leave(struct baton *from, struct baton *to)
{
	set(&to->has);
}

#endif
