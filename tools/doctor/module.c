// SPDX-License-Identifier: GPL-2.0
/* The module: installed for the running kernel, trusted by it, loaded, and the one installed. */
#include <ctype.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array.h"
#include "doctor/doctor.h"
#include "target.h"

/* The version of the newest source that dkms can build; false: there is none. */
static bool dkms_version(char *buf, size_t size)
{
	static const char prefix[] = "/usr/src/twheel-";
	glob_t sources;
	bool found = !glob("/usr/src/twheel-*/dkms.conf", 0, NULL, &sources);
	size_t i, newest = 0;

	if (found) {
		for (i = 1; i < sources.gl_pathc; i++) {
			if (strverscmp(sources.gl_pathv[i], sources.gl_pathv[newest]) > 0)
				newest = i;
		}
		snprintf(buf, size, "%s", sources.gl_pathv[newest] + strlen(prefix));
		buf[strcspn(buf, "/")] = 0;
	}
	globfree(&sources);
	return found;
}

/* The source tree that this program was built in; false: in none, or it was installed. */
static bool source_tree(const struct facts *facts, char *tree, size_t size)
{
	static const char built[] = "/tools/build/twheel";
	const size_t len = strlen(facts->program);

	if (len < strlen(built) || strcmp(facts->program + len - strlen(built), built))
		return false;
	snprintf(tree, size, "%.*s", (int)(len - strlen(built)), facts->program);
	return true;
}

/* How the module gets built and installed here. */
static void type_build(const struct facts *facts, struct finding *finding)
{
	char version[LINE_LEN], tree[LINE_LEN], word[TEXT_LEN];

	if (dkms_version(version, sizeof(version)))
		type(finding, "%sdkms install --force twheel/%s -k %s", facts->sudo, version,
		     facts->release);
	else if (source_tree(facts, tree, sizeof(tree)) && quote(word, sizeof(word), tree))
		type(finding, "make -C %s module && %smake -C %s load", word, facts->sudo, word);
	else
		type(finding, "%s%s install twheel-dkms", facts->sudo,
		     facts->debian ? "apt" : "dnf");
}

/* Is a file built for the running kernel?  Its vermagic begins with the release. */
static bool is_for_this(const struct facts *facts)
{
	const size_t len = strlen(facts->release);

	return !strncmp(facts->file.vermagic, facts->release, len) &&
	       facts->file.vermagic[len] == ' ';
}

void check_module(struct facts *facts, struct finding *finding)
{
	const struct module_file *file = &facts->file;

	if (*file->path && (is_for_this(facts) || facts->loaded)) {
		say(finding, GOOD, "%s, %s", file->version, file->path);
		return;
	}
	/* A loaded module works, wherever it came from, until the next reboot. */
	if (facts->loaded || *facts->container)
		return;
	if (*file->path && !*file->vermagic)
		say(finding, PROBLEM, "%s can't be read, or is no module", file->path);
	else if (*file->path)
		say(finding, PROBLEM, "%s is built for %.*s, but %s is running", file->path,
		    (int)strcspn(file->vermagic, " "), file->vermagic, facts->release);
	else if (*facts->stray)
		say(finding, PROBLEM, "%s is there, but modprobe does not know it", facts->stray);
	else if (*facts->others)
		say(finding, PROBLEM, "installed for %s, but %s is running", facts->others,
		    facts->release);
	else
		say(finding, PROBLEM, "not installed for any kernel");
	if (*facts->stray && !*file->path)
		type(finding, "%sdepmod -a", facts->sudo);
	else
		type_build(facts, finding);
	facts->refused = true;
}

/* Secure Boot and lockdown */

#define EFIVARS		"/sys/firmware/efi/efivars/"
#define SECURE_BOOT	"SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
/* Of the boot loader's variables. */
#define SHIM		"605dab50-e046-4300-abb6-3dd810dd8b23"

/* All of a file, for free(); NULL. */
static void *read_all(const char *path, size_t *size)
{
	FILE *file = fopen(path, "re");
	/* A list of keys has a few KiB. */
	const size_t max = 1 << 20;
	void *buf;

	if (!file)
		return NULL;
	buf = malloc(max);
	*size = buf ? fread(buf, 1, max, file) : 0;
	fclose(file);
	return buf;
}

/* Why the kernel requires a signature of a module; NULL: it does not. */
static const char *enforcement(void)
{
	char line[LINE_LEN];

	if (read_line("/sys/kernel/security/lockdown", line, sizeof(line)) &&
	    !strstr(line, "[none]"))
		return "lockdown";
	if (read_line("/sys/module/module/parameters/sig_enforce", line, sizeof(line)) &&
	    *line == 'Y')
		return "module.sig_enforce";
	return NULL;
}

static bool is_secure_boot(void)
{
	size_t size = 0;
	unsigned char *variable = read_all(EFIVARS SECURE_BOOT, &size);
	/* Four bytes of attributes come first. */
	bool is = variable && size == 5 && variable[4] == 1;

	free(variable);
	return is;
}

/*
 * Return the content of the DER element at @p, and its length; NULL: it is not of kind @tag.
 */
static const unsigned char *der_enter(const unsigned char *p, const unsigned char *end,
				      unsigned char tag, size_t *len)
{
	size_t octets;

	if (!p || end - p < 2 || *p++ != tag)
		return NULL;
	*len = *p++;
	if (*len & 0x80) {
		octets = *len & 0x7f;
		if (octets > 4 || (size_t)(end - p) < octets)
			return NULL;
		for (*len = 0; octets; octets--)
			*len = *len << 8 | *p++;
	}
	return *len <= (size_t)(end - p) ? p : NULL;
}

/* The number of a certificate in hexadecimal; "": it is none, or has an odd one. */
static void read_serial(const unsigned char *cert, size_t size, char *text, size_t text_size)
{
	enum { INTEGER = 0x02, SEQUENCE = 0x30, VERSION_FIELD = 0xa0 };
	const unsigned char *end = cert + size, *p, *version;
	size_t len;

	*text = 0;
	p = der_enter(cert, end, SEQUENCE, &len);
	p = der_enter(p, end, SEQUENCE, &len);
	version = der_enter(p, end, VERSION_FIELD, &len);
	p = der_enter(version ? version + len : p, end, INTEGER, &len);
	for (; p && len; p++, len--)
		append(text, text_size, "%02X", *p);
}

/* Is it the same number?  With colons or without, and whatever zeros it begins with. */
static bool same_number(const char *a, const char *b)
{
	static const char nothing[] = "0: \t\n";

	a += strspn(a, nothing);
	b += strspn(b, nothing);
	if (!*a || !*b)
		return false;
	while (*a && toupper((unsigned char)*a) == toupper((unsigned char)*b)) {
		a += 1 + strspn(a + 1, nothing + 1);
		b += 1 + strspn(b + 1, nothing + 1);
	}
	return !*a && !*b;
}

/* Was the module signed with the key of a certificate?  A number is unique to who gave it. */
static bool is_signed_with(const struct module_file *file, const char *path)
{
	size_t size = 0;
	unsigned char *cert = read_all(path, &size);
	char serial[LINE_LEN];
	bool is = false;

	if (cert) {
		read_serial(cert, size, serial, sizeof(serial));
		is = same_number(serial, file->key) && *file->signer &&
		     memmem(cert, size, file->signer, strlen(file->signer));
	}
	free(cert);
	return is;
}

/* The certificate of the key that signed the module; NULL: none of those of dkms. */
static const char *certificate(const struct module_file *file)
{
	static const char * const paths[] = {
		"/var/lib/shim-signed/mok/MOK.der", "/var/lib/dkms/mok.pub",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(paths); i++) {
		if (is_signed_with(file, paths[i]))
			return paths[i];
	}
	return NULL;
}

enum listed { UNREADABLE, MISSING, LISTED };

/* Is a certificate in a list that the boot loader shim keeps, maybe in several files? */
static enum listed look_up(const char *pattern, const char *path)
{
	size_t size = 0, cert_size = 0, i;
	void *cert = read_all(path, &cert_size), *list;
	enum listed result = UNREADABLE;
	glob_t files;

	if (cert && cert_size && !glob(pattern, 0, NULL, &files)) {
		for (i = 0; i < files.gl_pathc && result != LISTED; i++) {
			list = read_all(files.gl_pathv[i], &size);
			if (list)
				result = memmem(list, size, cert, cert_size) ? LISTED : MISSING;
			free(list);
		}
		globfree(&files);
	}
	free(cert);
	return result;
}

/* The keys that the kernel was given when it booted. */
static enum listed look_up_enrolled(const char *cert)
{
	enum listed result = look_up(EFIVARS "MokListRT*-" SHIM, cert);

	return result == UNREADABLE ? look_up("/sys/firmware/efi/mok-variables/MokListRT*", cert) :
				      result;
}

/* Signed, by a key that has a certificate here: does the kernel know it? */
static void explain_key(struct facts *facts, struct finding *finding, const char *cert)
{
	enum listed enrolled = look_up_enrolled(cert);

	facts->refused = enrolled == MISSING;
	if (enrolled == LISTED) {
		say(finding, GOOD, "by %s, whose key is enrolled", facts->file.signer);
	} else if (look_up(EFIVARS "MokNew-" SHIM, cert) == LISTED) {
		say(finding, PROBLEM,
		    "the key %s waits to be enrolled: after a reboot choose Enroll MOK",
		    cert);
		type(finding, "%sreboot", facts->sudo);
	} else if (enrolled == UNREADABLE) {
		say(finding, UNKNOWN,
		    "by %s; %s whether %s is enrolled", facts->file.signer,
		    geteuid() ? "only root can see" : "the firmware does not say", cert);
	} else {
		say(finding, PROBLEM,
		    "signed, but the key %s is not enrolled: after the reboot choose Enroll MOK",
		    cert);
		type(finding, "%smokutil --import %s && %sreboot", facts->sudo, cert, facts->sudo);
	}
}

void check_signature(struct facts *facts, struct finding *finding)
{
	const struct module_file *file = &facts->file;
	const char *enforced = enforcement(), *cert = certificate(file);

	/* The kernel has accepted a loaded module; and without a file there is nothing to check. */
	if (facts->loaded || facts->refused || !*file->path)
		return;
	if (!enforced) {
		say(finding, GOOD, "the kernel asks for none");
		return;
	}
	if (is_secure_boot())
		enforced = "Secure Boot";
	if (!file->is_signed) {
		facts->refused = true;
		say(finding, PROBLEM,
		    "the kernel accepts only signed modules (%s), and this one is not signed: dkms "
		    "signs what it builds",
		    enforced);
		type_build(facts, finding);
	} else if (!cert) {
		say(finding, UNKNOWN,
		    "the kernel accepts only keys that it knows (%s), and the key of %s is not "
		    "found on this machine",
		    enforced, *file->signer ? file->signer : "this signature");
	} else {
		explain_key(facts, finding, cert);
	}
}

/* The one that is loaded */

/* The services and processes that must end before the module can be removed. */
struct users {
	/* " nginx.service foo.service", in the command twice: so there is always room. */
	char services[TEXT_LEN / 2 - 128];
	/* "twheel (12), ..." */
	char processes[TEXT_LEN / 2];
	size_t nr_services;
	size_t nr_processes;
	/* "systemd (1)": it keeps wheels for services; "" */
	char manager[LINE_LEN];
	/* All are named. */
	bool complete;
};

static void add_service(struct users *users, const char *name)
{
	const size_t len = strlen(name);
	const char *p = users->services;

	while ((p = strstr(p, name))) {
		if (p[-1] == ' ' && (!p[len] || p[len] == ' '))
			return;
		p += len;
	}
	users->nr_services++;
	users->complete &= append(users->services, sizeof(users->services), " %s", name);
}

static void add_user(struct users *users, const struct target *holder)
{
	char service[LINE_LEN];

	if (target_is_manager(holder)) {
		snprintf(users->manager, sizeof(users->manager), "%s (%d)", holder->comm,
			 holder->pid);
	} else if (service_of(holder->pid, service, sizeof(service))) {
		add_service(users, service);
	} else {
		users->complete &= append(users->processes, sizeof(users->processes),
					  "%s%s (%d)", users->nr_processes ? ", " : "",
					  holder->comm, holder->pid);
		users->nr_processes++;
	}
}

static void type_reload(const struct facts *facts, struct finding *finding,
			const struct users *users)
{
	const char *sudo = facts->sudo;

	/* Services are started again whatever happens. */
	if (*users->services)
		type(finding,
		     "%ssystemctl stop%s && %smodprobe -r twheel && %smodprobe twheel; "
		     "%ssystemctl start%s",
		     sudo, users->services, sudo, sudo, sudo, users->services);
	else
		type(finding, "%smodprobe -r twheel && %smodprobe twheel", sudo, sudo);
}

/* Processes hold wheels: say which have to end, and what to type then. */
static void explain_users(const struct facts *facts, struct finding *finding,
			  const struct target *holders, size_t nr)
{
	/* A longer list is hard to read. */
	const size_t most = 8;
	struct users users = { .complete = true };
	size_t i;

	for (i = 0; i < nr; i++)
		add_user(&users, &holders[i]);
	append(finding->text, sizeof(finding->text), ", or as soon as no wheel is held");
	if (!users.complete || users.nr_services + users.nr_processes > most) {
		append(finding->text, sizeof(finding->text),
		       "; now %zu processes hold some; list them with", nr);
		type(finding, "twheel stat");
		return;
	}
	if (*users.services)
		append(finding->text, sizeof(finding->text), "; services that hold some:%s",
		       users.services);
	if (*users.processes)
		append(finding->text, sizeof(finding->text),
		       "; processes that their owner has to end first: %s", users.processes);
	if (*users.manager)
		append(finding->text, sizeof(finding->text),
		       "; %s keeps some for a service (its file descriptor store), until "
		       "systemctl stop SERVICE",
		       users.manager);
	if (*users.services || *users.processes)
		type_reload(facts, finding, &users);
	else
		type(finding, "%sreboot", facts->sudo);
}

static void look_for_holders(const struct facts *facts, struct finding *finding)
{
	static const struct users none;
	char users[LINE_LEN];
	struct target *holders;
	size_t nr, denied;

	read_line("/sys/module/twheel/refcnt", users, sizeof(users));
	holders = target_holders(&nr, &denied);
	if (!strcmp(users, "0")) {
		append(finding->text, sizeof(finding->text),
		       ", or now, because nothing holds a wheel");
		type_reload(facts, finding, &none);
	} else if (denied && geteuid()) {
		append(finding->text, sizeof(finding->text),
		       "; only root can see who holds wheels until then");
		type(finding, "sudo twheel doctor");
	} else if (!nr) {
		append(finding->text, sizeof(finding->text),
		       "; until then something holds a wheel that no process has as a file");
		type(finding, "%sreboot", facts->sudo);
	} else {
		explain_users(facts, finding, holders, nr);
	}
	free(holders);
}

void check_loaded(struct facts *facts, struct finding *finding)
{
	const struct module_file *file = &facts->file;

	if (!facts->loaded && facts->refused) {
		say(finding, PROBLEM,
		    "not loaded, and can't be before the problem above is solved");
	} else if (!facts->loaded && *facts->container) {
		say(finding, PROBLEM,
		    "not loaded in the kernel of this container's host: run twheel doctor there");
		type(finding, "twheel doctor");
	} else if (!facts->loaded) {
		say(finding, PROBLEM, "not loaded");
		type(finding, "%smodprobe twheel", facts->sudo);
	} else if (!*file->path && !*facts->container) {
		say(finding, GOOD,
		    "%s; modprobe knows none for %s, so after a reboot it will be missing",
		    facts->version, facts->release);
	} else if (!*file->path || (!strcmp(facts->srcversion, file->srcversion) &&
				    !strcmp(facts->version, file->version))) {
		say(finding, GOOD, "%s", facts->version);
	} else {
		say(finding, PROBLEM,
		    "%s is loaded, but %s%s is installed: it will be loaded at the next reboot",
		    facts->version,
		    strcmp(facts->version, file->version) ? "" : "another build of ",
		    file->version);
		look_for_holders(facts, finding);
	}
}
