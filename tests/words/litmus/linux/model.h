/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What litmus tests of the kernel's memory model may call, for a compiler that is to check
 * them; nothing runs.
 */
#define READ_ONCE(x)		(x)
#define WRITE_ONCE(x, value)	((x) = (value))

void smp_mb(void);	/* nothing is ordered here */
int smp_load_acquire(int *from);	/* nor here */
void smp_store_release(int *to, int value);	/* nor here */
int xchg(int *at, int value);
int xchg_relaxed(int *at, int value);
int xchg_release(int *at, int value);
int cmpxchg(int *at, int old, int value);
