/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The memory of a machine on which a store is not seen at once.
 *
 * Each processor has a store buffer. A store goes into it; the process memory()
 * below takes it out again at some later time, and only then do the others see
 * it. A processor sees its own stores at once.
 *
 *	default		total store order, as on x86: first in, first out
 *	-DANY_ORDER	stores to different words leave in any order, as on arm64;
 *			those to one word in theirs. A store with release leaves
 *			after all that went in before it.
 *
 * A buffer may be emptied at once, so sequential consistency is among what both
 * allow. Loads that are carried out early are not here (see docs/words.md and
 * litmus/).
 *
 * An atomic block is one step. A store into one's own buffer is nobody else's
 * business, and taking a lock or finding the buffer empty can't be undone by
 * others; so these share a step with the load beside them, and there are fewer
 * orders to try.
 */
#define DEPTH 4

typedef processor {
	byte n;			/* stores in the buffer */
	byte word[DEPTH];	/* oldest first */
	byte value[DEPTH];
}

byte mem[WORDS];
processor cpu[CPUS];

#define EMPTY(c) (cpu[c].n == 0)

/* What processor c sees: its newest store to the word, or memory. */
#define PENDING(c, w, i) (cpu[c].n > i && cpu[c].word[i] == (w))
#define LOAD(c, w)							\
	(PENDING(c, w, 3) -> cpu[c].value[3] :				\
	(PENDING(c, w, 2) -> cpu[c].value[2] :				\
	(PENDING(c, w, 1) -> cpu[c].value[1] :				\
	(PENDING(c, w, 0) -> cpu[c].value[0] : mem[w]))))

inline store(c, where, what)
{
	cpu[c].n < DEPTH;		/* or it waits for room */
	cpu[c].word[cpu[c].n] = where;
	cpu[c].value[cpu[c].n] = what;
	cpu[c].n++
}

/* A full barrier: all stores of c are seen by all before it goes on. */
#define barrier(c) EMPTY(c)

/* Takes the k-th store of processor c out of its buffer. */
inline leave(c, k)
{
	TELL3("processor %d: all see word %d = %d\n", c, cpu[c].word[k], cpu[c].value[k])
	mem[cpu[c].word[k]] = cpu[c].value[k];
	cpu[c].n--;
	at = k;
	do
	:: at < cpu[c].n ->
		cpu[c].word[at] = cpu[c].word[at + 1];
		cpu[c].value[at] = cpu[c].value[at + 1];
		at++
	:: else ->
		break
	od;
	/* Equal states are to look equal. */
	cpu[c].word[cpu[c].n] = 0;
	cpu[c].value[cpu[c].n] = 0;
	at = 0
}

/* May the k-th store pass those before it? */
#define OTHER(c, k, i) (cpu[c].word[i] != cpu[c].word[k])
#define FREE(c, k) (cpu[c].n > k && !RELEASE(cpu[c].word[k]) && OTHER(c, k, 0))
#define PASS_1(c) (FREE(c, 1))
#define PASS_2(c) (FREE(c, 2) && OTHER(c, 2, 1))
#define PASS_3(c) (FREE(c, 3) && OTHER(c, 3, 1) && OTHER(c, 3, 2))

active proctype memory()
{
	byte at;

end:
	do
	:: d_step { !EMPTY(0) -> leave(0, 0) }
	:: d_step { !EMPTY(1) -> leave(1, 0) }
#if CPUS > 2
	:: d_step { !EMPTY(2) -> leave(2, 0) }
#endif
#ifdef ANY_ORDER
	:: d_step { PASS_1(0) -> leave(0, 1) }
	:: d_step { PASS_2(0) -> leave(0, 2) }
	:: d_step { PASS_3(0) -> leave(0, 3) }
	:: d_step { PASS_1(1) -> leave(1, 1) }
	:: d_step { PASS_2(1) -> leave(1, 2) }
	:: d_step { PASS_3(1) -> leave(1, 3) }
#if CPUS > 2
	:: d_step { PASS_1(2) -> leave(2, 1) }
	:: d_step { PASS_2(2) -> leave(2, 2) }
	:: d_step { PASS_3(2) -> leave(2, 3) }
#endif
#endif
	od
}
