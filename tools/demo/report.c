// SPDX-License-Identifier: GPL-2.0
/* What the demo shows. */
#include <string.h>

#include "duration.h"
#include "json.h"
#include "output.h"
#include "report.h"
#include "stats.h"

static const char *how(const struct run *run)
{
	if (run->fallback)
		return "with a store to memory, because of --fallback";
	if (run->words)
		return "with a store to memory that it shares with the kernel";
	return run->no_words ? "with a system call, because of --no-words" :
			       "with a system call, because there are no words here";
}

static void print_heading(const struct run *run)
{
	const struct schedule *schedule = &run->schedule;
	char connections[NUMBER_LEN], silent[NUMBER_LEN];
	char timeout[DURATION_LEN], ramp[DURATION_LEN], total[DURATION_LEN];
	char min_gap[DURATION_LEN], max_gap[DURATION_LEN];

	printf("%stwheel demo: %s real TCP connections, idle timeout %s, "
	       "one %stimer each%s\n\n",
	       colour(stdout, BOLD), number(connections, schedule->connections),
	       duration_short(timeout, schedule->timeout), run->fallback ? "" : "kernel ",
	       colour(stdout, PLAIN));
	printf("  The client opens them within %s.  Each sends a message every %s to %s,\n"
	       "  and %s of them fall silent by a schedule recorded beforehand (seed %llu).\n"
	       "  The server pushes a connection's timer in %s back on every message,\n"
	       "  %s,\n"
	       "  and cuts the connection when its timer expires.  This takes about %s.\n\n",
	       duration_short(ramp, schedule->ramp), duration_short(min_gap, schedule->min_gap),
	       duration_short(max_gap, schedule->max_gap), number(silent, schedule->silent),
	       (unsigned long long)schedule->seed,
	       run->fallback ? "its own process" : "/dev/twheel", how(run),
	       duration_short(total, schedule->end));
}

static void print_brief_heading(const struct run *run)
{
	char connections[NUMBER_LEN], timeout[DURATION_LEN], total[DURATION_LEN];

	printf("%sthe same with a system call for each change, to compare%s\n\n"
	       "  %s connections, idle timeout %s.  This takes about %s.\n\n",
	       colour(stdout, BOLD), colour(stdout, PLAIN),
	       number(connections, run->schedule.connections),
	       duration_short(timeout, run->schedule.timeout),
	       duration_short(total, run->schedule.end));
}

void report_heading(const struct run *run)
{
	if (run->brief)
		print_brief_heading(run);
	else
		print_heading(run);
	printf("%s%8s  %12s  %10s  %12s  %12s%s\n", colour(stdout, BOLD), "TIME", "CONNECTIONS",
	       "CUT", "MESSAGES", "TIMER CALLS", colour(stdout, PLAIN));
}

void report_progress(const struct progress *progress)
{
	bool terminal = is_terminal(stdout);
	char text[4][NUMBER_LEN];

	/* On a terminal one line that changes, elsewhere a line each time. */
	printf("%s%6.1f s  %12s  %10s  %12s  %12s%s", terminal ? "\r" : "",
	       (double)progress->time / NSEC_PER_SEC, number(text[0], progress->connections),
	       number(text[1], progress->cut), number(text[2], progress->heard),
	       number(text[3], progress->calls), terminal ? "" : "\n");
	fflush(stdout);
}

static void head(const char *text)
{
	printf("\n%s%s%s\n", colour(stdout, BOLD), text, colour(stdout, PLAIN));
}

static void row(const char *what, uint64_t value, const char *note)
{
	char text[NUMBER_LEN];

	printf("  %-34s %12s%s%s\n", what, number(text, value), *note ? "   " : "", note);
}

/* A count that has to be 0. */
static void zero_row(const char *what, uint64_t value, const char *note)
{
	char text[NUMBER_LEN];

	printf("  %-34s %s%12s%s%s%s\n", what, colour(stdout, value ? RED : GREEN),
	       number(text, value), colour(stdout, PLAIN), *note ? "   " : "", note);
}

/* Print a line only if it is not 0. */
static void trouble_row(const char *what, uint64_t value, const char *note)
{
	if (value)
		zero_row(what, value, note);
}

static void print_cuts(const struct run *run)
{
	const struct totals *totals = run->records.totals;
	const struct verdict *v = &run->verdict;
	char note[160], text[NUMBER_LEN], bound[DURATION_LEN];

	head("cuts, judged by the schedule and the clocks of both ends");
	snprintf(note, sizeof(note), "of %s that fell silent", number(text, v->expected));
	row("cut on time", v->on_time, note);
	zero_row("cut early", v->early, "(must be 0)");
	snprintf(note, sizeof(note), "(must be 0: cut more than %s late, never, or while talking)",
		 duration_short(bound, run->bound));
	zero_row("missed", v->missed, note);
	snprintf(note, sizeof(note), "(the client was up to %s behind its schedule)",
		 duration_short(bound, totals->max_lag));
	trouble_row("  of these cut while talking", v->talking, note);
	if (v->stalled)
		row("fell silent by themselves", v->stalled, note);
	trouble_row("stale events", totals->stale, "(of an arming that had ended)");
	trouble_row("contradictions", v->contradictions, "(client and server do not agree)");
	trouble_row("connections refused", totals->refused, "");
	if (!totals->client_done)
		printf("  the client did not finish\n");
}

static void print_lateness(const char *what, const struct lateness *late)
{
	char p50[DURATION_LEN], p99[DURATION_LEN], max[DURATION_LEN];

	printf("  %-34s %12s %10s %10s\n", what, duration_short(p50, late->p50),
	       duration_short(p99, late->p99), duration_short(max, late->max));
}

static void print_wheel(const struct run *run)
{
	const struct twheel_stats *stats = &run->stats;
	char text[3][NUMBER_LEN];

	head("the wheel");
	row("timers fired", stats->fired, "");
	printf("  %-34s %12s   %s interrupts, %s timers fired\n",
	       "hrtimer interrupts per timer fired",
	       ratio(text[0], stats->interrupts, stats->fired),
	       number(text[1], stats->interrupts), number(text[2], stats->fired));
	printf("  %-34s %12s\n", "kernel memory of the wheel", bytes(text[0], stats->memory));
}

void report_table(const struct run *run)
{
	if (is_terminal(stdout))
		putchar('\n');
	print_cuts(run);
	if (!run->brief) {
		printf("\n%s%-36s %12s %10s %10s%s\n", colour(stdout, BOLD),
		       "lateness, after last message + timeout", "p50", "p99", "max",
		       colour(stdout, PLAIN));
		print_lateness("event taken by the server", &run->verdict.event);
		print_lateness("connection closed", &run->verdict.close);
		/* A wheel in the process has no counters. */
		if (!run->fallback)
			print_wheel(run);
	}
	putchar('\n');
}

/* The calls: a table of what was done, and a pair of columns for each run. */

static const struct {
	const char *words;
	const char *key;
} changes[NR_CHANGES] = {
	[ARMED] = { "armed, on accept", "armed" },
	[PUSHED_BACK] = { "pushed back, on a message", "pushed_back" },
	[CANCELLED] = { "cancelled, on close", "cancelled" },
	[EXPIRED] = { "expired, events taken", "expired" },
};

static uint64_t timer_calls(const struct run *run)
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i < NR_CHANGES; i++)
		sum += run->records.totals->timers[i].calls;
	return sum;
}

static void print_change(const struct run * const *runs, int nr, enum change change)
{
	char text[2][NUMBER_LEN];
	int i;

	printf("  %-29s", changes[change].words);
	for (i = 0; i < nr; i++) {
		const struct tally *tally = &runs[i]->records.totals->timers[change];

		printf(" %12s %11s", number(text[0], tally->times), number(text[1], tally->calls));
	}
	putchar('\n');
}

/* All system calls for timers, per timer pushed back. */
static char *per_push(char *buf, const struct run *run)
{
	uint64_t pushes = run->records.totals->timers[PUSHED_BACK].times;

	if (pushes)
		snprintf(buf, NUMBER_LEN, "%.4f", (double)timer_calls(run) / pushes);
	else
		strcpy(buf, "-");
	return buf;
}

void report_calls(const struct run *run, const struct run *without)
{
	const struct run * const runs[] = { run, without };
	const int nr = without ? 2 : 1;
	char text[NUMBER_LEN];
	int i;

	printf("%s%-31s", colour(stdout, BOLD), "system calls for timers");
	for (i = 0; i < nr; i++)
		printf(" %24s", runs[i]->words ? "with words" : "without words");
	printf("%s\n%31s", colour(stdout, PLAIN), "");
	for (i = 0; i < nr; i++)
		printf(" %12s %11s", "times", "calls");
	putchar('\n');
	for (i = 0; i < NR_CHANGES; i++)
		print_change(runs, nr, i);
	printf("  %-29s", "all");
	for (i = 0; i < nr; i++)
		printf(" %24s", number(text, timer_calls(runs[i])));
	printf("\n%s  %-29s", colour(stdout, BOLD), "per timer pushed back");
	for (i = 0; i < nr; i++)
		printf(" %24s", per_push(text, runs[i]));
	printf("%s\n  %-29s", colour(stdout, PLAIN), "in addition: epoll_wait, recv");
	for (i = 0; i < nr; i++)
		printf(" %24s", number(text, runs[i]->records.totals->socket_calls));
	printf("\n\n");
}

static struct json_object *lateness_json(const struct lateness *late)
{
	struct json_object *object = json_new();

	json_number(object, "p50_ns", late->p50);
	json_number(object, "p99_ns", late->p99);
	json_number(object, "max_ns", late->max);
	return object;
}

static struct json_object *timers_json(const struct tally *timers)
{
	struct json_object *object = json_new(), *tally;
	int i;

	for (i = 0; i < NR_CHANGES; i++) {
		tally = json_new();
		json_number(tally, "times", timers[i].times);
		json_number(tally, "calls", timers[i].calls);
		json_object_object_add(object, changes[i].key, tally);
	}
	return object;
}

static struct json_object *run_json(const struct run *run)
{
	const struct totals *totals = run->records.totals;
	const struct verdict *v = &run->verdict;
	struct json_object *object = json_new();

	json_object_object_add(object, "good", json_object_new_boolean(v->good));
	json_object_object_add(object, "words", json_object_new_boolean(run->words));
	json_number(object, "connections", run->schedule.connections);
	json_number(object, "seed", run->schedule.seed);
	json_number(object, "timeout_ns", run->schedule.timeout);
	json_number(object, "bound_ns", run->bound);
	json_number(object, "expected", v->expected);
	json_number(object, "cut", v->cut);
	json_number(object, "on_time", v->on_time);
	json_number(object, "early", v->early);
	json_number(object, "missed", v->missed);
	json_number(object, "talking", v->talking);
	json_number(object, "stalled", v->stalled);
	json_number(object, "contradictions", v->contradictions);
	json_number(object, "stale", totals->stale);
	json_number(object, "refused", totals->refused);
	json_number(object, "client_lag_ns", totals->max_lag);
	json_number(object, "messages", totals->heard);
	json_object_object_add(object, "timers", timers_json(totals->timers));
	json_number(object, "timer_calls", timer_calls(run));
	json_number(object, "socket_calls", totals->socket_calls);
	json_object_object_add(object, "event_lateness", lateness_json(&v->event));
	json_object_object_add(object, "cut_lateness", lateness_json(&v->close));
	json_object_object_add(object, "fallback", json_object_new_boolean(run->fallback));
	if (!run->fallback)
		json_object_object_add(object, "stats", stats_json(&run->stats));
	return object;
}

void report_json(const struct run *run, const struct run *without, bool good)
{
	struct json_object *line = json_new(), *runs = json_object_new_array();

	json_object_array_add(runs, run_json(run));
	if (without)
		json_object_array_add(runs, run_json(without));
	json_object_object_add(line, "good", json_object_new_boolean(good));
	json_object_object_add(line, "runs", runs);
	json_line(line);
}

void report_last_line(FILE *file, const struct run *run, const struct run *without, bool good)
{
	struct verdict sum = run->verdict;

	if (without) {
		sum.cut += without->verdict.cut;
		sum.early += without->verdict.early;
		sum.missed += without->verdict.missed;
	}
	fprintf(file, "%sdemo: %llu cut, %llu early, %llu missed%s\n",
		colour(file, good ? GREEN : RED), (unsigned long long)sum.cut,
		(unsigned long long)sum.early, (unsigned long long)sum.missed,
		colour(file, PLAIN));
}
