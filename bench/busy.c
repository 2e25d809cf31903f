// SPDX-License-Identifier: GPL-2.0
/*
 * How long the processors have been busy: everything that is not idle, from the interrupt that ends
 * it to the next entry.
 *
 * /proc/stat is not exact enough. 6.1 measures idle time from the entry to the next interrupt. 7.3
 * does so only after the tick was stopped; an idle span shorter than a tick is counted by the tick,
 * which runs right before or after the timers' own interrupts and sees little of what they do. So a
 * BPF program measures idle spans here, on all kernels alike.
 */
#include <linux/bpf.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench.h"

#define CPUS_MAX	256

/* Of each processor, ns: idle so far; since when it is idle, or 0. */
struct idle {
	uint64_t	sum;
	uint64_t	since;
};

#define SUM	offsetof(struct idle, sum)
#define SINCE	offsetof(struct idle, since)

/* What is idle ends with these, or else with the exit that cpu_idle tells. */
static const char *const interrupts[] = {
	"local_timer_entry", "reschedule_entry", "call_function_entry",
	"call_function_single_entry", "irq_handler_entry",
};

/* At rest: busy for less than 5 % of each of three seconds. */
#define REST_SPANS	3
#define REST_BUSY	0.05
#define REST_TRIES	60

static int map = -1;

static long bpf(int command, union bpf_attr *attr)
{
	return syscall(SYS_bpf, command, attr, sizeof(*attr));
}

#define INSN(c, d, s, o, i)							\
	((struct bpf_insn){ .code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i) })
#define LOAD(d, s, o)		INSN(BPF_LDX | BPF_MEM | BPF_DW, d, s, o, 0)
#define STORE(d, o, s)		INSN(BPF_STX | BPF_MEM | BPF_DW, d, s, o, 0)
#define MOVE(d, s)		INSN(BPF_ALU64 | BPF_MOV | BPF_X, d, s, 0, 0)
#define SET(d, i)		INSN(BPF_ALU64 | BPF_MOV | BPF_K, d, 0, 0, i)
#define ADD(d, s)		INSN(BPF_ALU64 | BPF_ADD | BPF_X, d, s, 0, 0)
#define SUBTRACT(d, s)		INSN(BPF_ALU64 | BPF_SUB | BPF_X, d, s, 0, 0)
#define SKIP_IF_0(d, o)		INSN(BPF_JMP | BPF_JEQ | BPF_K, d, 0, o, 0)
#define CALL(f)			INSN(BPF_JMP | BPF_CALL, 0, 0, 0, f)

/* Run a program at each event: end an idle span, and begin one unless the state is an exit. */
static void attach(const char *event, struct bpf_insn state)
{
	const struct bpf_insn program[] = {
		state,						/* r6: -1 is an exit */
		INSN(BPF_ST | BPF_MEM | BPF_W, 10, 0, -4, 0),
		MOVE(2, 10),
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, 2, 0, 0, -4),
		INSN(BPF_LD | BPF_IMM | BPF_DW, 1, BPF_PSEUDO_MAP_FD, 0, map),
		INSN(0, 0, 0, 0, 0),
		CALL(BPF_FUNC_map_lookup_elem),
		SKIP_IF_0(0, 11),
		MOVE(7, 0),
		CALL(BPF_FUNC_ktime_get_ns),
		LOAD(1, 7, SINCE),
		SKIP_IF_0(1, 4),
		LOAD(2, 7, SUM),
		ADD(2, 0),
		SUBTRACT(2, 1),
		STORE(7, SUM, 2),
		INSN(BPF_JMP32 | BPF_JNE | BPF_K, 6, 0, 1, -1),
		SET(0, 0),
		STORE(7, SINCE, 0),
		SET(0, 0),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	union bpf_attr load = {
		.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
		.insns = (uintptr_t)program,
		.insn_cnt = sizeof(program) / sizeof(*program),
		.license = (uintptr_t)"GPL",
	};
	union bpf_attr point = {
		.raw_tracepoint.name = (uintptr_t)event,
		.raw_tracepoint.prog_fd = bpf(BPF_PROG_LOAD, &load),
	};

	if ((int)point.raw_tracepoint.prog_fd < 0 || bpf(BPF_RAW_TRACEPOINT_OPEN, &point) < 0)
		die("BPF at %s: %m", event);
}

static void begin(void)
{
	union bpf_attr create = {
		.map_type = BPF_MAP_TYPE_PERCPU_ARRAY,
		.key_size = sizeof(uint32_t),
		.value_size = sizeof(struct idle),
		.max_entries = 1,
	};

	map = bpf(BPF_MAP_CREATE, &create);
	if (map < 0)
		die("BPF map: %m");
	for (size_t i = 0; i < sizeof(interrupts) / sizeof(*interrupts); i++)
		attach(interrupts[i], SET(6, -1));
	attach("cpu_idle", LOAD(6, 1, 0));
}

double busy_seconds(void)
{
	long nr = sysconf(_SC_NPROCESSORS_CONF);
	struct idle idle[CPUS_MAX] = {};
	uint32_t key = 0;
	union bpf_attr look = {
		.key = (uintptr_t)&key,
		.value = (uintptr_t)idle,
	};
	uint64_t now, sum = 0;

	if (map < 0)
		begin();
	if (nr > CPUS_MAX)
		die("%ld processors are too many", nr);
	look.map_fd = map;
	if (bpf(BPF_MAP_LOOKUP_ELEM, &look))
		die("BPF map: %m");
	now = now_ns();
	for (long cpu = 0; cpu < nr; cpu++)
		sum += idle[cpu].sum + (idle[cpu].since ? now - idle[cpu].since : 0);
	return ((double)now * nr - sum) / NSEC;
}

/*
 * With one processor, what the kernel's own threads do is part of every figure: those of 7.3 take
 * most of it in the first second, and those that free an io_uring's requests run after its close.
 * With icount idle time passes at once.
 */
void wait_until_idle(void)
{
	unsigned int quiet = 0;

	for (unsigned int tries = 0; icount && quiet < REST_SPANS; tries++) {
		double busy = busy_seconds();

		if (tries == REST_TRIES)
			die("this machine does not come to rest");
		sleep_until(now_ns() + NSEC);
		quiet = busy_seconds() - busy < REST_BUSY ? quiet + 1 : 0;
	}
}
