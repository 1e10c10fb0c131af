#include "tests/unit/testing.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/str.h"
#include "tests/unit/wipe/apart.h"

#define FORBIDDEN 77
#define LIMIT_MS 60000

char apart_said[1 << 16];
/* Descriptors of the TAP device, the only device of the host that the process gets: one per
 * interface */
static int tun[2], used;

static int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), rc = -1;

	if (fd < 0)
		return -1;
	if (write(fd, text, strlen(text)) == (ssize_t)strlen(text))
		rc = 0;
	close(fd);
	return rc;
}

/* Makes a new, empty file system the root. *outside: descriptor of the old root. Returns -1 if
 * namespaces are not permitted. */
static int leave(int *outside)
{
	char users[64], groups[64];

	str_format(users, sizeof(users), "0 %u 1\n", (unsigned)geteuid());
	str_format(groups, sizeof(groups), "0 %u 1\n", (unsigned)getegid());
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET) < 0)
		return -1;
	/* A TAP device belongs to the network namespace in which it is opened, so open it after
	 * unshare(). */
	for (size_t i = 0; i < sizeof(tun) / sizeof(tun[0]); i++)
		tun[i] = open("/dev/net/tun", O_RDWR | O_CLOEXEC);
	if (write_file("/proc/self/setgroups", "deny") < 0 ||
	    write_file("/proc/self/uid_map", users) < 0 ||
	    write_file("/proc/self/gid_map", groups) < 0 ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return -1;
	*outside = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return *outside < 0 || mount("none", "/tmp", "tmpfs", 0, "size=64m") < 0 ||
			       chroot("/tmp") < 0 || chdir("/") < 0
		       ? -1
		       : 0;
}

static void child(void (*fn)(void *arg), void *arg)
{
	int outside;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (leave(&outside) < 0)
		_exit(FORBIDDEN);
	fn(arg);
	fflush(NULL);
	/* Returns to the old root, because the coverage counters are written there. */
	if (fchdir(outside) < 0 || chroot(".") < 0 || umount2("/tmp", MNT_DETACH) < 0)
		_exit(1);
	test_exit(0);
}

void apart_run(void (*fn)(void *arg), void *arg)
{
	struct pollfd f = {.events = POLLIN};
	int out[2], status;
	size_t len = 0;
	ssize_t n;
	pid_t pid;

	assert_int_equal(pipe(out), 0);
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		dup2(out[1], 1);
		dup2(out[1], 2);
		close(out[0]);
		close(out[1]);
		child(fn, arg);
	}
	close(out[1]);
	f.fd = out[0];
	while (poll(&f, 1, LIMIT_MS) > 0 &&
	       (n = read(out[0], apart_said + len, sizeof(apart_said) - 1 - len)) > 0)
		len += (size_t)n;
	apart_said[len] = '\0';
	close(out[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == FORBIDDEN)
		fail_msg("user, mount and network namespaces are forbidden here: run this as root");
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		fail_msg("status %x: %s", (unsigned)status, apart_said);
}

void apart_assert_said(const char *what)
{
	if (!strstr(apart_said, what))
		fail_msg("want '%s' in: %s", what, apart_said);
}

/* --- called in the process with its own namespaces -------------------------------------------- */

static void must(bool well, const char *what)
{
	if (well)
		return;
	printf("%s: %s\n", what, strerror(errno));
	fflush(stdout);
	_exit(1);
}

void apart_file(const char *path, const void *data, size_t len)
{
	char part[256];
	int fd;

	for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		str_format(part, sizeof(part), "%.*s", (int)(slash - path), path);
		must(mkdir(part, 0755) == 0 || errno == EEXIST, part);
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	must(fd >= 0 && write(fd, data, len) == (ssize_t)len, path);
	close(fd);
}

static void sysfs_file(const char *nic, const char *name, const char *text)
{
	char path[128];

	str_format(path, sizeof(path), "/sys/class/net/%s/%s", nic, name);
	apart_file(path, text, strlen(text));
}

int apart_nic(const char *name, const char *mac, int carrier)
{
	struct ifreq r = {.ifr_flags = IFF_TAP | IFF_NO_PI};
	int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), fd = tun[used++];
	unsigned b[6];
	char path[128];

	str_copy(r.ifr_name, sizeof(r.ifr_name), name);
	if (fd < 0)
		_exit(FORBIDDEN);
	must(ioctl(fd, TUNSETIFF, &r) == 0, name);
	must(sscanf(mac, "%x:%x:%x:%x:%x:%x", &b[0], &b[1], &b[2], &b[3], &b[4], &b[5]) == 6, mac);
	r.ifr_hwaddr.sa_family = ARPHRD_ETHER;
	for (int i = 0; i < 6; i++)
		r.ifr_hwaddr.sa_data[i] = (char)b[i];
	must(ioctl(s, SIOCSIFHWADDR, &r) == 0, mac);
	close(s);
	str_format(path, sizeof(path), "%s\n", mac);
	sysfs_file(name, "address", path);
	sysfs_file(name, "carrier", carrier ? "1\n" : "0\n");
	str_format(path, sizeof(path), "/sys/class/net/%s/device", name);
	must(symlink("../../../0000:01:00.0", path) == 0, path);
	return fd;
}
