// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * fork() copies a mutex as it is. A child has one thread, so a lock that another thread
 * of the parent held then would never be released in it: so fork() waits until it has all
 * of them.
 */
#include <errno.h>

#include "handle.h"

/* Of all handles. It is taken before the lock of any of them. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct twheel *handles;

/* Had pthread_atfork() memory for it?  Written before there are threads. */
static bool prepared;

static void before(void)
{
	pthread_mutex_lock(&lock);
	for (struct twheel *w = handles; w; w = w->next)
		pthread_mutex_lock(&w->lock);
}

static void after(void)
{
	for (struct twheel *w = handles; w; w = w->next)
		pthread_mutex_unlock(&w->lock);
	pthread_mutex_unlock(&lock);
}

/*
 * At the start, because fork() calls nothing of what is registered while it runs: a handle
 * that is opened then would have its lock copied as it is.  Also before the constructors of
 * the program, which may open one.
 */
__attribute__((constructor(1000))) static void prepare(void)
{
	prepared = !pthread_atfork(before, after, after);
}

int twheel_fork_add(struct twheel *w)
{
	if (!prepared)
		return -ENOMEM;
	pthread_mutex_lock(&lock);
	w->next = handles;
	if (w->next)
		w->next->link = &w->next;
	w->link = &handles;
	handles = w;
	pthread_mutex_unlock(&lock);
	return 0;
}

/* Does nothing for a handle that was not added.  Only the lock tells: others write its link. */
void twheel_fork_remove(struct twheel *w)
{
	pthread_mutex_lock(&lock);
	if (w->link) {
		*w->link = w->next;
		if (w->next)
			w->next->link = w->link;
	}
	pthread_mutex_unlock(&lock);
}
