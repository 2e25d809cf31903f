// SPDX-License-Identifier: GPL-2.0
/* /dev/twheel: is it there, who may open it, does it open? */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "array.h"
#include "device.h"
#include "doctor/doctor.h"

/* The number of the device now: its minor may change with each load. */
#define SYS_DEV		"/sys/class/misc/twheel/dev"
#define GROUP		"twheel"

/* What gives a container, or a service, the device. */
static void type_give(const struct facts *facts, struct finding *finding)
{
	static const char * const ways[][2] = {
		{ "docker", "docker run --device=/dev/twheel ..." },
		{ "podman", "podman run --device=/dev/twheel ..." },
		{ "systemd-nspawn",
		  "systemd-nspawn --bind=/dev/twheel --property='DeviceAllow=/dev/twheel rw' ..." },
		{ "lxc", "lxc config device add NAME twheel unix-char path=/dev/twheel" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ways); i++) {
		if (!strcmp(facts->container, ways[i][0])) {
			type(finding, "%s", ways[i][1]);
			return;
		}
	}
	type(finding, "systemd-run -p PrivateDevices=no -p 'DeviceAllow=/dev/twheel rw' ...");
}

static bool is_contained(const struct facts *facts)
{
	return *facts->container || facts->private_dev;
}

/* "10 120" */
static void describe_number(char *buf, size_t size, const char *dev)
{
	snprintf(buf, size, "%.32s", dev);
	buf[strcspn(buf, ":")] = ' ';
}

static void type_node(const struct facts *facts, struct finding *finding, const char *dev)
{
	char number[40];

	if (is_contained(facts)) {
		type_give(facts, finding);
		return;
	}
	describe_number(number, sizeof(number), dev);
	type(finding, "%srm -rf " WHEEL_PATH " && %smknod -m 600 " WHEEL_PATH " c %s",
	     facts->sudo, facts->sudo, number);
}

void check_node(struct facts *facts, struct finding *finding)
{
	char dev[LINE_LEN], is[40];
	struct stat st;

	/* Without the module it cannot be there, which was reported. */
	if (!facts->loaded)
		return;
	read_line(SYS_DEV, dev, sizeof(dev));
	if (stat(WHEEL_PATH, &st)) {
		say(finding, PROBLEM, "no " WHEEL_PATH " here, though the module is loaded: %s",
		    is_contained(facts) ?
			    "give it to the container, or to the service with PrivateDevices=" :
			    "it was removed");
		type_node(facts, finding, dev);
		return;
	}
	snprintf(is, sizeof(is), "%u:%u", major(st.st_rdev), minor(st.st_rdev));
	if (!S_ISCHR(st.st_mode)) {
		say(finding, PROBLEM,
		    WHEEL_PATH " is not a device, but something else of that name");
		type_node(facts, finding, dev);
	} else if (*dev && strcmp(dev, is)) {
		say(finding, PROBLEM,
		    WHEEL_PATH " is device %s, but twheel has been %s since it was loaded again",
		    is, dev);
		type_node(facts, finding, dev);
	} else {
		facts->reachable = true;
		say(finding, GOOD, WHEEL_PATH " is device %s", is);
	}
}

/* Permission */

/* Is this user in a group, whatever this session began with? */
static bool is_member(gid_t group)
{
	const struct passwd *user = getpwuid(geteuid());
	int nr = 0, i;
	gid_t *groups;
	bool is = false;

	if (!user)
		return false;
	getgrouplist(user->pw_name, user->pw_gid, NULL, &nr);
	groups = calloc(nr, sizeof(*groups));
	if (groups && getgrouplist(user->pw_name, user->pw_gid, groups, &nr) >= 0) {
		for (i = 0; i < nr; i++)
			is |= groups[i] == group;
	}
	free(groups);
	return is;
}

/* The user who must join the group; copied, because getpwuid()'s result does not last. */
static void name_user(char *buf, size_t size)
{
	const struct passwd *user = getpwuid(geteuid());

	snprintf(buf, size, "%s", user ? user->pw_name : "USER");
}

static void describe_node(char *buf, size_t size, const struct stat *st)
{
	const struct passwd *owner = getpwuid(st->st_uid);
	const struct group *group = getgrgid(st->st_gid);

	*buf = 0;
	append(buf, size, "mode %04o, ", st->st_mode & 07777);
	if (owner)
		append(buf, size, "%s:", owner->pw_name);
	else
		append(buf, size, "%u:", st->st_uid);
	if (group)
		append(buf, size, "%s", group->gr_name);
	else
		append(buf, size, "%u", st->st_gid);
}

static void explain_denied(const struct facts *facts, struct finding *finding,
			   const struct stat *st)
{
	const mode_t shared = 0060;
	const bool is_shared = st->st_gid && (st->st_mode & shared) == shared;
	const struct group *group = getgrgid(st->st_gid);
	char node[LINE_LEN], user[LINE_LEN];

	name_user(user, sizeof(user));
	describe_node(node, sizeof(node), st);
	if (is_shared && group && is_member(st->st_gid)) {
		say(finding, PROBLEM,
		    "%s is in group %s, but this session is older: log in again, or, for this "
		    "shell only, type",
		    user, group->gr_name);
		type(finding, "newgrp %s", group->gr_name);
	} else if (is_shared && group) {
		say(finding, PROBLEM, "%s, and %s is not in that group: join it and log in again",
		    node, user);
		type(finding, "%susermod -aG %s %s", facts->sudo, group->gr_name, user);
	} else if (getgrnam(GROUP)) {
		say(finding, PROBLEM,
		    "%s, although there is a group " GROUP ": udev has not applied its rule",
		    node);
		type(finding, "%sudevadm control --reload && %sudevadm trigger --action=add "
			      "--name-match=twheel",
		     facts->sudo, facts->sudo);
	} else {
		say(finding, PROBLEM,
		    "%s: be root, or share it with a group until the next reboot, and log in again",
		    node);
		type(finding, "%sgroupadd -r " GROUP " && %susermod -aG " GROUP " %s && "
			      "%schgrp " GROUP " " WHEEL_PATH " && %schmod 660 " WHEEL_PATH,
		     facts->sudo, facts->sudo, user, facts->sudo, facts->sudo);
	}
}

void check_permission(struct facts *facts, struct finding *finding)
{
	char node[LINE_LEN];
	struct stat st;

	if (!facts->reachable || stat(WHEEL_PATH, &st))
		return;
	/* EPERM comes from the cgroup's list of devices, which check_open() explains. */
	facts->reachable = !eaccess(WHEEL_PATH, R_OK | W_OK) || errno == EPERM;
	if (facts->reachable) {
		describe_node(node, sizeof(node), &st);
		say(finding, GOOD, "%s", node);
	} else {
		explain_denied(facts, finding, &st);
	}
}

/* Open */

static void explain_refused(const struct facts *facts, struct finding *finding, int err)
{
	char service[LINE_LEN];
	struct statvfs fs;

	if (err == -EPERM) {
		say(finding, PROBLEM,
		    "its mode permits it, but the cgroup's list of devices does not");
		if (!*facts->container && service_of(getpid(), service, sizeof(service)))
			type(finding, "%ssystemctl set-property %s 'DeviceAllow=/dev/twheel rw'",
			     facts->sudo, service);
		else
			type_give(facts, finding);
	} else if (err == -EACCES && !statvfs(WHEEL_PATH, &fs) && fs.f_flag & ST_NODEV) {
		say(finding, PROBLEM,
		    "its mode permits it, but its file system is mounted nodev");
		type_give(facts, finding);
	} else if (err == -EACCES) {
		say(finding, PROBLEM,
		    "its mode permits it, but AppArmor, SELinux or the like does not: see the "
		    "kernel's log");
		type(finding, "%sdmesg | grep -i denied", facts->sudo);
	} else {
		say(finding, PROBLEM, "%s", strerror(-err));
	}
}

void check_open(struct facts *facts, struct finding *finding)
{
	struct twheel_features features;
	int wheel, err;

	if (!facts->reachable)
		return;
	wheel = wheel_open();
	if (wheel < 0) {
		facts->reachable = false;
		explain_refused(facts, finding, wheel);
		return;
	}
	err = wheel_features(wheel, &features);
	close(wheel);
	if (err || features.abi != TWHEEL_ABI) {
		if (err)
			say(finding, PROBLEM, "the module, %s, does not support this program, %s",
			    *facts->version ? facts->version : "?", VERSION);
		else
			say(finding, PROBLEM,
			    "the module, %s, has ABI %u, and this program, %s, wants %d",
			    facts->version, features.abi, VERSION, TWHEEL_ABI);
		type(finding, "%smodprobe -r twheel && %smodprobe twheel", facts->sudo,
		     facts->sudo);
		return;
	}
	facts->wheel = true;
	facts->features = features.features;
	say(finding, GOOD, "ABI %u", features.abi);
}
