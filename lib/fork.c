// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * fork() copies locks in their state, and a child has one thread: a lock that another thread
 * held would never be released there.  So fork() takes the locks of all handles first.
 */
#include "handle.h"

/* Protects the list of handles.  Taken before the lock of a handle. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct twheel *handles;

/* Did pthread_atfork() succeed?  Written before there are threads. */
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
 * Not at the first open: a fork() that is running then ignores handlers registered meanwhile.
 * The priority puts this before the constructors of the program, which may open a wheel.
 */
__attribute__((constructor(1000))) static void prepare(void)
{
	prepared = !pthread_atfork(before, after, after);
}

bool twheel_fork_add(struct twheel *w)
{
	if (!prepared)
		return false;
	pthread_mutex_lock(&lock);
	w->next = handles;
	if (w->next)
		w->next->link = &w->next;
	w->link = &handles;
	handles = w;
	pthread_mutex_unlock(&lock);
	return true;
}

void twheel_fork_remove(struct twheel *w)
{
	pthread_mutex_lock(&lock);
	*w->link = w->next;
	if (w->next)
		w->next->link = w->link;
	pthread_mutex_unlock(&lock);
}
