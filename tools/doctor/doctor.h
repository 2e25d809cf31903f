/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The checks of twheel doctor.  Each checks one thing and reports it in one sentence.  Checks only
 * read, except that they open and close wheels of their own.
 */
#ifndef TWHEEL_DOCTOR_H
#define TWHEEL_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define LINE_LEN	256
/* When the timer that is tried is due, and how long to wait for it. */
#define DUE_MS		20
#define PATIENCE_MS	2000
/* Several lines in one sentence, or in one command. */
#define TEXT_LEN	1024

/**
 * struct module_file - twheel.ko as it lies in /lib/modules
 * @path: where; "" if there is none
 * @version: of the release it is built from
 * @srcversion: a sum over its source
 * @vermagic: the kernel it is built for, and how
 * @signer: owner of the key that has signed it; "" if unknown
 * @key: that key's number, in hexadecimal; "" if unknown
 * @is_signed: it has a signature
 */
struct module_file {
	char path[LINE_LEN];
	char version[LINE_LEN];
	char srcversion[LINE_LEN];
	char vermagic[LINE_LEN];
	char signer[LINE_LEN];
	char key[LINE_LEN];
	bool is_signed;
};

/**
 * struct facts - what several checks need to know
 * @release: of the running kernel
 * @sudo: the beginning of a command that needs root; "" if this program is root
 * @program: this program's path
 * @debian: packages come as on Debian, not as on Fedora, if at all
 * @container: the kind of container this runs in, "docker" for example; "": none is found
 * @private_dev: /dev is not the kernel's own, so it has only the nodes that it was given
 * @loaded: the module is in the kernel
 * @version: of the loaded one
 * @srcversion: the same
 * @file: what modprobe would load
 * @stray: a file for this kernel that modprobe does not know of; "" if there is none
 * @others: the other kernels that have one, with commas between
 * @refused: the module can't be loaded, and an earlier check has said why
 * @reachable: the node is there and may be opened
 * @wheel: opens, and is of this program's ABI
 * @features: of the device
 * @works: a timer came
 * @library: handle of dlopen(), or NULL
 */
struct facts {
	char release[LINE_LEN];
	const char *sudo;
	char program[LINE_LEN];
	bool debian;
	char container[LINE_LEN];
	bool private_dev;
	bool loaded;
	char version[LINE_LEN];
	char srcversion[LINE_LEN];
	struct module_file file;
	char stray[LINE_LEN];
	char others[TEXT_LEN];
	bool refused;
	bool reachable;
	bool wheel;
	unsigned long long features;
	bool works;
	void *library;
};

/* SILENT: nothing to report; UNKNOWN: it can't be seen from here. */
enum verdict { SILENT, GOOD, PROBLEM, UNKNOWN };

/**
 * struct finding - what a check says
 * @verdict: in a word
 * @text: in a sentence
 * @type: the command to type, or ""
 */
struct finding {
	enum verdict verdict;
	char text[TEXT_LEN];
	char type[TEXT_LEN];
};

void say(struct finding *finding, enum verdict verdict, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* A command that is too long is left out, because a truncated one may do something else. */
void type(struct finding *finding, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Append to the text in @buf, as far as there is room; false: it was truncated. */
bool append(char *buf, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* One word for the shell; false: it is too long, or it would do something to the terminal. */
bool quote(char *buf, size_t size, const char *word);

/* The first line of a file, without its end; "" and false if there is none. */
bool read_line(const char *path, char *buf, size_t size);

/* The cgroup of a process, as a path from the root; false: no cgroup2 here, or too long. */
bool cgroup_of(pid_t pid, char *buf, size_t size);

/* The service of systemd that a process belongs to; false: none, or one with an odd name. */
bool service_of(pid_t pid, char *buf, size_t size);

void facts_gather(struct facts *facts);

/* In the order in which they depend on each other. */
void check_kernel(struct facts *facts, struct finding *finding);
void check_headers(struct facts *facts, struct finding *finding);
void check_module(struct facts *facts, struct finding *finding);
void check_signature(struct facts *facts, struct finding *finding);
void check_loaded(struct facts *facts, struct finding *finding);
void check_node(struct facts *facts, struct finding *finding);
void check_permission(struct facts *facts, struct finding *finding);
void check_open(struct facts *facts, struct finding *finding);
void check_features(struct facts *facts, struct finding *finding);
void check_limits(struct facts *facts, struct finding *finding);
void check_timer(struct facts *facts, struct finding *finding);
void check_library(struct facts *facts, struct finding *finding);
void check_fallback(struct facts *facts, struct finding *finding);

#endif
