// SPDX-License-Identifier: GPL-2.0
/* What the demo shows. */
#include "duration.h"
#include "output.h"
#include "report.h"
#include "stats.h"

void report_heading(const struct schedule *schedule)
{
	char connections[NUMBER_LEN], silent[NUMBER_LEN];
	char timeout[DURATION_LEN], ramp[DURATION_LEN], total[DURATION_LEN];
	char min_gap[DURATION_LEN], max_gap[DURATION_LEN];

	printf("%stwheel demo: %s real TCP connections, idle timeout %s, "
	       "one kernel timer each%s\n\n",
	       colour(stdout, BOLD), number(connections, schedule->connections),
	       duration_short(timeout, schedule->timeout), colour(stdout, PLAIN));
	printf("  The client opens them within %s.  Each sends a message every %s to %s,\n"
	       "  and %s of them fall silent by a schedule recorded beforehand (seed %llu).\n"
	       "  The server pushes a connection's timer in /dev/twheel back on every message\n"
	       "  and cuts the connection when its timer expires.  This takes about %s.\n\n",
	       duration_short(ramp, schedule->ramp), duration_short(min_gap, schedule->min_gap),
	       duration_short(max_gap, schedule->max_gap), number(silent, schedule->silent),
	       (unsigned long long)schedule->seed, duration_short(total, schedule->end));
	printf("%s%8s  %12s  %10s  %10s  %12s%s\n", colour(stdout, BOLD), "TIME", "CONNECTIONS",
	       "ARMED", "CUT", "MESSAGES", colour(stdout, PLAIN));
}

void report_progress(const struct progress *progress)
{
	bool terminal = is_terminal(stdout);
	char text[4][NUMBER_LEN];

	/* On a terminal one line that changes, elsewhere a line each time. */
	printf("%s%6.1f s  %12s  %10s  %10s  %12s%s", terminal ? "\r" : "",
	       (double)progress->time / NSEC_PER_SEC, number(text[0], progress->connections),
	       number(text[1], progress->armed), number(text[2], progress->cut),
	       number(text[3], progress->heard), terminal ? "" : "\n");
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

/* Only worth a line if it is not 0. */
static void trouble_row(const char *what, uint64_t value, const char *note)
{
	if (value)
		zero_row(what, value, note);
}

static void print_cuts(const struct report *report)
{
	const struct verdict *v = report->verdict;
	char note[160], text[NUMBER_LEN], bound[DURATION_LEN];

	head("cuts, judged by the schedule and the clocks of both ends");
	snprintf(note, sizeof(note), "of %s that fell silent", number(text, v->expected));
	row("cut on time", v->on_time, note);
	zero_row("cut early", v->early, "(must be 0)");
	snprintf(note, sizeof(note), "(must be 0: cut more than %s late, never, or while talking)",
		 duration_short(bound, report->bound));
	zero_row("missed", v->missed, note);
	snprintf(note, sizeof(note), "(the client was up to %s behind its schedule)",
		 duration_short(bound, report->totals->max_lag));
	trouble_row("  of these cut while talking", v->talking, note);
	trouble_row("stale events", report->totals->stale, "(of an arming that had ended)");
	trouble_row("contradictions", v->contradictions, "(client and server do not agree)");
	trouble_row("connections refused", report->totals->refused, "");
	if (!report->totals->client_done)
		printf("  the client did not come to its end\n");
}

static void print_lateness(const char *what, const struct lateness *late)
{
	char p50[DURATION_LEN], p99[DURATION_LEN], max[DURATION_LEN];

	printf("  %-34s %12s %10s %10s\n", what, duration_short(p50, late->p50),
	       duration_short(p99, late->p99), duration_short(max, late->max));
}

static void ratio_row(const char *what, uint64_t a, uint64_t b, const char *note)
{
	char text[NUMBER_LEN];

	printf("  %-34s %12s%s%s\n", what, ratio(text, a, b), *note ? "   " : "", note);
}

static void print_wheel(const struct report *report)
{
	const struct twheel_stats *stats = report->stats;
	char note[160], text[2][NUMBER_LEN];

	head("the wheel");
	snprintf(note, sizeof(note), "by %s messages", number(text[0], report->heard));
	row("timers pushed back", report->totals->rearms, note);
	row("timers fired", stats->fired, "");
	snprintf(note, sizeof(note), "%s moves in %s cascades", number(text[0], stats->moves),
		 number(text[1], stats->cascades));
	ratio_row("timers moved per cascade", stats->moves, stats->cascades, note);
	ratio_row("moves per arming", stats->moves, stats->arms, "");
	snprintf(note, sizeof(note), "%s interrupts, %s timers fired",
		 number(text[0], stats->interrupts), number(text[1], stats->fired));
	ratio_row("hrtimer interrupts per timer fired", stats->interrupts, stats->fired, note);
	printf("  %-34s %12s\n", "kernel memory of the wheel", bytes(text[0], stats->memory));
}

void report_table(const struct report *report)
{
	if (is_terminal(stdout))
		putchar('\n');
	print_cuts(report);
	printf("\n%s%-36s %12s %10s %10s%s\n", colour(stdout, BOLD),
	       "lateness, behind last message + timeout", "p50", "p99", "max",
	       colour(stdout, PLAIN));
	print_lateness("event read by the server", &report->verdict->event);
	print_lateness("connection closed", &report->verdict->close);
	print_wheel(report);
	putchar('\n');
}

static struct json_object *lateness_json(const struct lateness *late)
{
	struct json_object *object = json_new();

	json_number(object, "p50_ns", late->p50);
	json_number(object, "p99_ns", late->p99);
	json_number(object, "max_ns", late->max);
	return object;
}

void report_json(const struct report *report)
{
	struct json_object *line = json_new();
	const struct verdict *v = report->verdict;

	json_object_object_add(line, "good", json_object_new_boolean(v->good));
	json_number(line, "connections", report->schedule->connections);
	json_number(line, "seed", report->schedule->seed);
	json_number(line, "timeout_ns", report->schedule->timeout);
	json_number(line, "bound_ns", report->bound);
	json_number(line, "expected", v->expected);
	json_number(line, "cut", v->cut);
	json_number(line, "on_time", v->on_time);
	json_number(line, "early", v->early);
	json_number(line, "missed", v->missed);
	json_number(line, "talking", v->talking);
	json_number(line, "contradictions", v->contradictions);
	json_number(line, "stale", report->totals->stale);
	json_number(line, "refused", report->totals->refused);
	json_number(line, "client_lag_ns", report->totals->max_lag);
	json_number(line, "messages", report->heard);
	json_number(line, "rearms", report->totals->rearms);
	json_number(line, "rescued", report->totals->rescued);
	json_object_object_add(line, "event_lateness", lateness_json(&v->event));
	json_object_object_add(line, "cut_lateness", lateness_json(&v->close));
	json_object_object_add(line, "stats", stats_json(report->stats));
	json_line(line);
}

void report_last_line(FILE *file, const struct verdict *verdict)
{
	fprintf(file, "%sdemo: %llu cut, %llu early, %llu missed%s\n",
		colour(file, verdict->good ? GREEN : RED), (unsigned long long)verdict->cut,
		(unsigned long long)verdict->early, (unsigned long long)verdict->missed,
		colour(file, PLAIN));
}
