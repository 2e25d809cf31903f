/* SPDX-License-Identifier: GPL-2.0 */
/*
 * As much of KUnit as our suites use, for running them in user space. The names
 * are those of <kunit/test.h>. What is printed is a line of TAP for each case, as
 * vm/kunit makes of the kernel's log; parameters are comments.
 *
 * The program takes the names of suites and cases to run; without, it runs all.
 */
#ifndef TWHEEL_TESTS_KUNIT_H
#define TWHEEL_TESTS_KUNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include "../compat/user.h"

/* As in the kernel: numbers of different signedness are compared. */
#pragma GCC diagnostic ignored "-Wsign-compare"

#define KUNIT_PARAM_DESC_SIZE	128

#define strscpy(to, from, size)	snprintf(to, size, "%s", from)

struct kunit {
	void		*priv;
	const void	*param_value;

	const char	*name;
	bool		failed;
	jmp_buf		out;
};

struct kunit_case {
	void		(*run_case)(struct kunit *test);
	const char	*name;
	const void	*(*generate_params)(const void *prev, char *desc);
};

struct kunit_suite {
	const char		name[256];
	int			(*init)(struct kunit *test);
	void			(*exit)(struct kunit *test);
	struct kunit_case	*test_cases;
};

#define KUNIT_CASE(fn)			{ .run_case = fn, .name = #fn }
#define KUNIT_CASE_PARAM(fn, gen)	{ .run_case = fn, .name = #fn, .generate_params = gen }

#define KUNIT_ARRAY_PARAM(name, array, get_desc)				\
	static const void *name##_gen_params(const void *prev, char *desc)	\
	{									\
		__typeof__(&(array)[0]) next_ = prev ? prev : (array);		\
										\
		next_ += !!prev;						\
		if (next_ == (array) + ARRAY_SIZE(array))			\
			return NULL;						\
		get_desc(next_, desc);						\
		return next_;							\
	}

#define GFP_KERNEL	0

__attribute__((format(printf, 5, 6)))
static inline void kunit_fail(struct kunit *test, const char *file, int line,
			      bool leave, const char *format, ...)
{
	va_list args;

	test->failed = true;
	printf("# %s: %s FAILED at %s:%d\n# ", test->name,
	       leave ? "ASSERTION" : "EXPECTATION", file, line);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
	if (leave)
		longjmp(test->out, 1);
}

#define KUNIT_COMPARE(test, leave, left, op, right, format, ...) do {		\
	__typeof__(left) left_ = (left);					\
	__typeof__(right) right_ = (right);					\
										\
	if (!(left_ op right_))							\
		kunit_fail(test, __FILE__, __LINE__, leave,			\
			   "Expected %s %s %s, but they are %lld and %lld; " format, \
			   #left, #op, #right, (long long)left_,		\
			   (long long)right_, ##__VA_ARGS__);			\
} while (0)

#define KUNIT_CHECK(test, leave, is, condition, format, ...) do {		\
	if ((bool)(condition) != (is))						\
		kunit_fail(test, __FILE__, __LINE__, leave,			\
			   "Expected %s to be %s; " format, #condition,	\
			   (is) ? "true" : "false", ##__VA_ARGS__);		\
} while (0)

#define KUNIT_EXPECT_EQ(test, l, r)	KUNIT_COMPARE(test, false, l, ==, r, "")
#define KUNIT_EXPECT_NE(test, l, r)	KUNIT_COMPARE(test, false, l, !=, r, "")
#define KUNIT_EXPECT_LE(test, l, r)	KUNIT_COMPARE(test, false, l, <=, r, "")
#define KUNIT_EXPECT_GT(test, l, r)	KUNIT_COMPARE(test, false, l, >, r, "")
#define KUNIT_EXPECT_GE(test, l, r)	KUNIT_COMPARE(test, false, l, >=, r, "")
#define KUNIT_ASSERT_TRUE(test, c)	KUNIT_CHECK(test, true, true, c, "")
#define KUNIT_ASSERT_EQ(test, l, r)	KUNIT_COMPARE(test, true, l, ==, r, "")
#define KUNIT_ASSERT_LT(test, l, r)	KUNIT_COMPARE(test, true, l, <, r, "")
#define KUNIT_ASSERT_LE(test, l, r)	KUNIT_COMPARE(test, true, l, <=, r, "")
#define KUNIT_ASSERT_GT(test, l, r)	KUNIT_COMPARE(test, true, l, >, r, "")
#define KUNIT_ASSERT_GE(test, l, r)	KUNIT_COMPARE(test, true, l, >=, r, "")
#define KUNIT_ASSERT_NOT_NULL(test, p)	KUNIT_CHECK(test, true, true, p, "")

#define KUNIT_ASSERT_TRUE_MSG(test, c, ...)	KUNIT_CHECK(test, true, true, c, __VA_ARGS__)
#define KUNIT_ASSERT_EQ_MSG(test, l, r, ...)	KUNIT_COMPARE(test, true, l, ==, r, __VA_ARGS__)

/* Run a case once; true if it passed. */
static inline bool kunit_run(const struct kunit_suite *suite, const struct kunit_case *c,
			     const void *param)
{
	struct kunit *test = calloc(1, sizeof(*test));
	bool passed;

	test->name = c->name;
	test->param_value = param;
	if (!setjmp(test->out)) {
		if (suite->init && suite->init(test))
			kunit_fail(test, suite->name, 0, true, "init failed");
		c->run_case(test);
	}
	if (suite->exit)
		suite->exit(test);
	passed = !test->failed;
	free(test);
	return passed;
}

/* Run a case with each of its parameters; true if all passed. */
static inline bool kunit_run_params(const struct kunit_suite *suite,
				    const struct kunit_case *c)
{
	char desc[KUNIT_PARAM_DESC_SIZE] = "";
	const void *param = NULL;
	bool passed = true;
	int n = 0;

	while ((param = c->generate_params(param, desc))) {
		bool good = kunit_run(suite, c, param);

		printf("#     %s %d %s\n", good ? "ok" : "not ok", ++n, desc);
		passed &= good;
	}
	return passed;
}

/* Is it named, or its suite, or nothing? */
static inline bool kunit_wanted(const struct kunit_suite *suite,
				const struct kunit_case *c, char **names)
{
	if (!*names)
		return true;
	for (; *names; names++)
		if (!strcmp(suite->name, *names) || !strcmp(c->name, *names))
			return true;
	return false;
}

/* Run a suite, or only count its cases; returns how many failed, or there are. */
static inline int kunit_run_suite(const struct kunit_suite *suite, char **names,
				  bool count, int *number)
{
	int n = 0;

	for (const struct kunit_case *c = suite->test_cases; c->run_case; c++) {
		bool good = false;

		if (!kunit_wanted(suite, c, names))
			continue;
		if (!count) {
			good = c->generate_params ? kunit_run_params(suite, c)
						  : kunit_run(suite, c, NULL);
			printf("%s %d %s.%s\n", good ? "ok" : "not ok", ++*number,
			       suite->name, c->name);
			fflush(stdout);
		}
		n += !good;
	}
	return n;
}

static inline int kunit_main(struct kunit_suite **suites, int nr, char **names)
{
	int cases = 0, failed = 0, number = 0;

	for (int i = 0; i < nr; i++)
		cases += kunit_run_suite(suites[i], names, true, NULL);
	printf("TAP version 13\n1..%d\n", cases);
	for (int i = 0; i < nr; i++)
		failed += kunit_run_suite(suites[i], names, false, &number);
	return failed > 0 || !cases;
}

#define kunit_test_suites(...)						\
	int main(int argc, char **argv)					\
	{								\
		struct kunit_suite *suites[] = { __VA_ARGS__ };		\
									\
		(void)argc;						\
		exit(kunit_main(suites, ARRAY_SIZE(suites), argv + 1));	\
	}

#endif /* TWHEEL_TESTS_KUNIT_H */
