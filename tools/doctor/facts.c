// SPDX-License-Identifier: GPL-2.0
/* What several checks need to know: the kernel, the module's files, where this runs. */
#include <ctype.h>
#include <ftw.h>
#include <mntent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <libkmod.h>

#include "array.h"
#include "doctor/doctor.h"

#define MODULES		"/lib/modules/"
#define NAME_CHARACTERS	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@:_.-"

/* nftw() hands nothing on. */
static struct facts *found;

bool append(char *buf, size_t size, const char *format, ...)
{
	size_t len = strlen(buf);
	va_list args;
	int more;

	va_start(args, format);
	more = vsnprintf(buf + len, size - len, format, args);
	va_end(args);
	return more < (int)(size - len);
}

bool quote(char *buf, size_t size, const char *word)
{
	/* A word that is safe for a shell is not quoted: that is easier to read. */
	const char *mark = word[strspn(word, NAME_CHARACTERS "/+,=")] ? "'" : "";
	bool fits;

	*buf = 0;
	fits = append(buf, size, "%s", mark);
	for (; *word && fits; word++) {
		if (iscntrl((unsigned char)*word))
			return false;
		fits = *word == '\'' ? append(buf, size, "'\\''") :
				       append(buf, size, "%c", *word);
	}
	return fits && append(buf, size, "%s", mark);
}

bool read_line(const char *path, char *buf, size_t size)
{
	FILE *file = fopen(path, "re");
	bool got;

	*buf = 0;
	if (!file)
		return false;
	got = fgets(buf, size, file);
	fclose(file);
	buf[strcspn(buf, "\n")] = 0;
	return got;
}

bool cgroup_of(pid_t pid, char *buf, size_t size)
{
	static const char unified[] = "0::";
	char path[64];
	bool is = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	while (!is && fgets(buf, size, file))
		is = !strncmp(buf, unified, strlen(unified));
	fclose(file);
	/* Half a path is another one. */
	if (!is || !strchr(buf, '\n'))
		return false;
	memmove(buf, buf + strlen(unified), strlen(buf + strlen(unified)) + 1);
	buf[strcspn(buf, "\n")] = 0;
	return true;
}

bool service_of(pid_t pid, char *buf, size_t size)
{
	static const char slice[] = "/system.slice/", suffix[] = ".service";
	char cgroup[LINE_LEN];
	const char *name = cgroup + strlen(slice);
	size_t len;

	/* Only root puts anything into that slice; a name goes into a command all the same. */
	if (!cgroup_of(pid, cgroup, sizeof(cgroup)) || strncmp(cgroup, slice, strlen(slice)))
		return false;
	len = strspn(name, NAME_CHARACTERS);
	if (name[len] || len < strlen(suffix) || strcmp(name + len - strlen(suffix), suffix))
		return false;
	snprintf(buf, size, "%s", name);
	return true;
}

/* Is a file, given from the kernel's folder on, in what depmod has written? */
static bool is_in_modules_dep(const char *release, const char *file)
{
	const size_t len = strlen(file);
	char path[LINE_LEN], *line = NULL;
	bool is = false;
	size_t size = 0;
	FILE *dep;

	snprintf(path, sizeof(path), MODULES "%.128s/modules.dep", release);
	dep = fopen(path, "re");
	if (!dep)
		return false;
	while (!is && getline(&line, &size, dep) > 0)
		is = !strncmp(line, file, len) && line[len] == ':';
	free(line);
	fclose(dep);
	return is;
}

/* twheel.ko, compressed or not. */
static bool is_module(const char *name)
{
	static const char ko[] = "twheel.ko";

	return !strncmp(name, ko, strlen(ko)) && (!name[strlen(ko)] || name[strlen(ko)] == '.');
}

static int visit(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	char release[LINE_LEN];
	const char *file;

	(void)st;
	if (flag != FTW_F || !is_module(path + ftw->base))
		return 0;
	snprintf(release, sizeof(release), "%s", path + strlen(MODULES));
	release[strcspn(release, "/")] = 0;
	file = path + strlen(MODULES) + strlen(release) + 1;
	if (strcmp(release, found->release)) {
		if (!strstr(found->others, release))
			append(found->others, sizeof(found->others), "%s%s",
			       *found->others ? ", " : "", release);
	} else if (is_in_modules_dep(release, file)) {
		snprintf(found->file.path, sizeof(found->file.path), "%s", path);
	} else {
		snprintf(found->stray, sizeof(found->stray), "%s", path);
	}
	return 0;
}

static void read_info(struct module_file *file)
{
	const struct {
		const char *key;
		char *value;
	} wanted[] = {
		{ "version", file->version },
		{ "srcversion", file->srcversion },
		{ "vermagic", file->vermagic },
		{ "signer", file->signer },
		{ "sig_key", file->key },
	};
	struct kmod_list *list = NULL, *entry;
	struct kmod_module *module = NULL;
	struct kmod_ctx *ctx = kmod_new(NULL, NULL);
	size_t i;

	if (!ctx)
		return;
	/* Log nothing: a broken file shows by its missing fields. */
	kmod_set_log_priority(ctx, 0);
	if (!kmod_module_new_from_path(ctx, file->path, &module))
		kmod_module_get_info(module, &list);
	kmod_list_foreach(entry, list) {
		const char *key = kmod_module_info_get_key(entry);

		file->is_signed |= !strcmp(key, "sig_id");
		for (i = 0; i < ARRAY_SIZE(wanted); i++) {
			if (!strcmp(key, wanted[i].key))
				snprintf(wanted[i].value, LINE_LEN, "%s",
					 kmod_module_info_get_value(entry));
		}
	}
	kmod_module_info_free_list(list);
	kmod_module_unref(module);
	kmod_unref(ctx);
}

static void find_modules(struct facts *facts)
{
	found = facts;
	nftw(MODULES, visit, 16, FTW_PHYS);
	if (*facts->file.path)
		read_info(&facts->file);
}

static void find_container(struct facts *facts)
{
	const char *told = getenv("container");

	/* systemd, docker and podman leave a mark each. */
	if (read_line("/run/systemd/container", facts->container, sizeof(facts->container)))
		return;
	if (!access("/.dockerenv", F_OK))
		told = "docker";
	else if (!access("/run/.containerenv", F_OK))
		told = "podman";
	snprintf(facts->container, sizeof(facts->container), "%s", told ? told : "");
}

static bool is_dev_private(void)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	struct mntent *mount;
	bool private = false;

	if (!mounts)
		return false;
	/* The last one lies on top. */
	while ((mount = getmntent(mounts))) {
		if (!strcmp(mount->mnt_dir, "/dev"))
			private = strcmp(mount->mnt_type, "devtmpfs");
	}
	endmntent(mounts);
	return private;
}

void facts_gather(struct facts *facts)
{
	struct utsname kernel;
	ssize_t len;

	memset(facts, 0, sizeof(*facts));
	uname(&kernel);
	snprintf(facts->release, sizeof(facts->release), "%s", kernel.release);
	facts->sudo = geteuid() ? "sudo " : "";
	len = readlink("/proc/self/exe", facts->program, sizeof(facts->program) - 1);
	/* One that fills it may have been longer. */
	facts->program[len > 0 && len < (ssize_t)sizeof(facts->program) - 1 ? len : 0] = 0;
	facts->debian = !access("/etc/debian_version", F_OK);
	find_container(facts);
	facts->private_dev = is_dev_private();
	facts->loaded = !access("/sys/module/twheel", F_OK);
	read_line("/sys/module/twheel/version", facts->version, sizeof(facts->version));
	read_line("/sys/module/twheel/srcversion", facts->srcversion, sizeof(facts->srcversion));
	find_modules(facts);
}
