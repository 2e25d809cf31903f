// SPDX-License-Identifier: GPL-2.0
/* The records as a table of text. */
#include <stdio.h>

#include "record.h"

/* From the start, in ns; "-" for what has not happened. */
static void write_time(FILE *file, uint64_t time, uint64_t start)
{
	if (time)
		fprintf(file, "\t%llu", (unsigned long long)(time - start));
	else
		fputs("\t-", file);
}

static void write_line(FILE *file, uint32_t i, const struct plan *plan,
		       const struct records *records, uint64_t start)
{
	const struct client_record *client = &records->client[i];
	const struct server_record *server = &records->server[i];

	fprintf(file, "%u\t%s\t%u\t%u\t%u\t%u\t%llu", i, plan->silent ? "silent" : "talks",
		plan->messages, client->said, server->heard, server->cuts,
		(unsigned long long)plan->last);
	write_time(file, client->last_said, start);
	write_time(file, server->last_heard, start);
	write_time(file, server->event_read, start);
	write_time(file, server->cut, start);
	write_time(file, server->cut_done, start);
	write_time(file, client->saw_close, start);
	fputc('\n', file);
}

void records_write(FILE *file, const struct schedule *schedule,
		   const struct records *records, uint64_t start)
{
	uint32_t i;

	fprintf(file, "# timeout_ns %llu seed %llu; times in ns from the start\n"
		"# connection\tplan\tmessages\tsaid\theard\tcuts\tplanned_last\tlast_said\t"
		"last_heard\tevent_read\tcut\tcut_done\tsaw_close\n",
		(unsigned long long)schedule->timeout, (unsigned long long)schedule->seed);
	for (i = 0; i < schedule->connections; i++)
		write_line(file, i, &schedule->plans[i], records, start);
}
