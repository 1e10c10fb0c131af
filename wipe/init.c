#include "wipe/init.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/random.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "wipe/host.h"

#define MODULES "/lib/modules/agent"
/*
 * Waiting times for drives. When a module has been inserted, the kernel has completed the probes
 * that the module started (async_synchronize_full() in do_init_module()), so NVMe namespaces and
 * SATA disks exist by then. The waiting times below are for drives behind SAS expanders, whose
 * links come up one by one, and for memory cards, which the kernel detects in the background.
 */
#define QUIET_MS 200 /* All drives are considered present if no new drive appeared for this time. */
#define QUIET_SAS_MS 2500
#define SETTLE_MS 60000
#define MAX_LOADED 64
#define MODULE_MAX (64 << 20)

/* --- process 1 ------------------------------------------------------------------------------- */

void init_mounts(void)
{
	int fd;

	mkdir("/proc", 0555);
	mkdir("/sys", 0555);
	mkdir("/dev", 0755);
	mkdir("/etc", 0755);
	(void)!mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
	(void)!mount("sysfs", "/sys", "sysfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
	(void)!mount("devtmpfs", "/dev", "devtmpfs", MS_NOSUID | MS_NOEXEC, NULL);
	fd = open("/dev/console", O_RDWR | O_CLOEXEC);
	if (fd >= 0) {
		dup2(fd, 0);
		dup2(fd, 1);
		dup2(fd, 2);
		if (fd > 2)
			close(fd);
	}
	/* Has the kernel reap orphans that it hands to process 1; the agent itself starts no
	 * children. */
	signal(SIGCHLD, SIG_IGN);
}

static void *gather_entropy(void *arg)
{
	char byte;

	(void)!getrandom(&byte, 1, 0);
	return arg;
}

void init_entropy(void)
{
	pthread_t t;

	if (!pthread_create(&t, NULL, gather_entropy, NULL))
		pthread_detach(t);
}

void init_power_off(void)
{
	sync();
	reboot(RB_POWER_OFF);
	for (;;)
		pause();
}

static void nap(int ms)
{
	struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};

	nanosleep(&t, NULL);
}

/* --- modules --------------------------------------------------------------------------------- */

struct modules {
	/* Contents of the files `alias` and `dep` in MODULES. */
	char *alias, *dep;
	char *loaded[MAX_LOADED];
	size_t nloaded;
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool loading;
	struct modules m;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static char *slurp(const char *path)
{
	struct stat st;
	char *text;

	if (stat(path, &st) < 0)
		return mem_strdup("");
	text = mem_alloc((size_t)st.st_size + 1);
	text[host_bytes(text, (size_t)st.st_size, path)] = '\0';
	return text;
}

bool init_clock_is_wrong(int64_t now_ms, int64_t told_ms, int64_t slack_ms)
{
	return now_ms / 1000 < told_ms / 1000 || now_ms - told_ms > slack_ms;
}

int init_alias_fits(const char *pattern, const char *modalias)
{
	return fnmatch(pattern, modalias, 0) == 0;
}

/* Returns the uncompressed module with its signature, as the kernel requires; NULL: missing or
 * damaged. */
static char *unpack(const char *name, size_t *len)
{
	char path[256], *packed, *out;
	struct stat st;
	unsigned long long size;
	size_t n;

	snprintf(path, sizeof(path), MODULES "/%s.ko.zst", name);
	if (stat(path, &st) < 0 || st.st_size > MODULE_MAX)
		return NULL;
	packed = mem_alloc((size_t)st.st_size);
	n = host_bytes(packed, (size_t)st.st_size, path);
	size = ZSTD_getFrameContentSize(packed, n);
	if (size > MODULE_MAX) {
		/* `size` also exceeds MODULE_MAX if it has one of the values for "unknown" and
		 * "error". */
		free(packed);
		return NULL;
	}
	out = mem_alloc((size_t)size);
	*len = ZSTD_decompress(out, (size_t)size, packed, n);
	free(packed);
	if (ZSTD_isError(*len)) {
		free(out);
		return NULL;
	}
	return out;
}

static void insert(struct modules *m, const char *name)
{
	size_t len = 0;
	char *module;

	for (size_t i = 0; i < m->nloaded; i++)
		if (str_eq(m->loaded[i], name))
			return;
	if (m->nloaded == MAX_LOADED)
		return;
	m->loaded[m->nloaded++] = mem_strdup(name);
	module = unpack(name, &len);
	if (!module || (syscall(SYS_init_module, module, len, "") < 0 && errno != EEXIST))
		log_warn("cannot load module", LOG_S("name", name),
			 LOG_S("error", module ? strerror(errno) : "missing or damaged"));
	free(module);
}

/* Inserts the module's dependencies in the order of the file `dep`, then the module. */
static void load(struct modules *m, const char *name)
{
	OWN(arena) a = arena_new();
	char *save_line, *text = arena_strdup(a, m->dep);

	for (char *line = strtok_r(text, "\n", &save_line); line;
	     line = strtok_r(NULL, "\n", &save_line)) {
		char *save, *word = strtok_r(line, " ", &save);

		if (!str_eq(word, name))
			continue;
		while ((word = strtok_r(NULL, " ", &save)))
			insert(m, word);
	}
	insert(m, name);
}

static void load_for(struct modules *m, const char *modalias)
{
	OWN(arena) a = arena_new();
	char *save_line, *text = arena_strdup(a, m->alias);

	for (char *line = strtok_r(text, "\n", &save_line); line;
	     line = strtok_r(NULL, "\n", &save_line)) {
		char *space = strrchr(line, ' ');

		if (!space)
			continue;
		*space = '\0';
		if (init_alias_fits(line, modalias))
			load(m, space + 1);
	}
}

/* Loads modules for each device of the bus whose modalias contains `part` (NULL: for each
 * device). */
static void load_bus(struct modules *m, const char *bus, const char *part)
{
	OWN(arena) a = arena_new();
	const char **names;
	size_t n = host_names(a, arena_printf(a, "/sys/bus/%s/devices", bus), &names);

	for (size_t i = 0; i < n; i++) {
		const char *alias = host_line(a, "/sys/bus/%s/devices/%s/modalias", bus, names[i]);

		if (alias && (!part || strstr(alias, part)))
			load_for(m, alias);
	}
}

void init_network_modules(void)
{
	state.m.alias = slurp(MODULES "/alias");
	state.m.dep = slurp(MODULES "/dep");
	load_bus(&state.m, "pci", "bc02");
	load_bus(&state.m, "virtio", "d00000001");
}

/* --- waiting for drives ----------------------------------------------------------------------- */

static size_t count_drives(bool *starting)
{
	OWN(arena) a = arena_new();
	const char **names;
	size_t drives = host_names(a, "/sys/block", &names);
	size_t n = host_names(a, "/sys/class/nvme", &names);

	for (size_t i = 0; i < n; i++) {
		const char *s = host_line(a, "/sys/class/nvme/%s/state", names[i]);

		if (str_eq(s, "new") || str_eq(s, "connecting") || str_eq(s, "resetting"))
			*starting = true;
	}
	return drives;
}

static void wait_for_drives(void)
{
	OWN(arena) a = arena_new();
	const char **names;
	size_t last = 0;
	int quiet = 0, want = QUIET_MS;
	size_t n = host_names(a, "/sys/class/scsi_host", &names);

	for (size_t i = 0; i < n; i++) {
		const char *name = host_line(a, "/sys/class/scsi_host/%s/proc_name", names[i]);

		if (!str_eq(name, "ahci") && !str_eq(name, "ata_piix"))
			want = QUIET_SAS_MS;
	}
	if (host_names(a, "/sys/class/mmc_host", &names))
		want = QUIET_SAS_MS;
	for (int waited = 0; waited < SETTLE_MS && quiet < want; waited += 20) {
		bool starting = false;
		size_t now = count_drives(&starting);

		quiet = now == last && !starting ? quiet + 20 : 0;
		last = now;
		nap(20);
	}
}

static void *load_storage(void *arg)
{
	size_t before;

	(void)arg;
	do {
		/* Repeats, because a loaded driver may reveal a further bus: the driver vmd reveals
		 * one with NVMe drives. */
		before = state.m.nloaded;
		load_bus(&state.m, "pci", NULL);
		load_bus(&state.m, "virtio", NULL);
	} while (state.m.nloaded > before);
	wait_for_drives();
	pthread_mutex_lock(&state.lock);
	state.loading = false;
	pthread_cond_broadcast(&state.changed);
	pthread_mutex_unlock(&state.lock);
	return NULL;
}

void init_storage_modules(void)
{
	pthread_t t;

	state.loading = true;
	if (pthread_create(&t, NULL, load_storage, NULL) != 0)
		load_storage(NULL);
	else
		pthread_detach(t);
}

void init_settle(void)
{
	pthread_mutex_lock(&state.lock);
	while (state.loading)
		pthread_cond_wait(&state.changed, &state.lock);
	pthread_mutex_unlock(&state.lock);
}
