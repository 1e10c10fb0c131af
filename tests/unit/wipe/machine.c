#include "tests/unit/wipe/machine.h"

#include <assert.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MARK "a tenant's bytes"
#define STEP (1 << 20)

void machine_init(struct machine *m)
{
	memset(m, 0, sizeof(*m));
	snprintf(m->dir, sizeof(m->dir), "/tmp/drover-machine-XXXXXX");
	assert(mkdtemp(m->dir));
	snprintf(m->sys, sizeof(m->sys), "%s/sys", m->dir);
	snprintf(m->dev, sizeof(m->dev), "%s/dev", m->dir);
	snprintf(m->proc, sizeof(m->proc), "%s/proc", m->dir);
	m->host = (struct host){
		.sys = m->sys, .dev = m->dev, .proc = m->proc, .files_are_drives = true};
	assert(!mkdir(m->dev, 0755));
	machine_file(m, "sys/class/dmi/id/product_uuid", "4C4C4544-0000-1000-8000-000000000001\n");
	machine_file(m, "sys/class/dmi/id/product_serial", "J7XK2T3\n");
	machine_file(m, "proc/meminfo", "MemTotal:       2097152 kB\nMemFree: 1 kB\n");
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st, (void)type, (void)at;
	return remove(path);
}

void machine_done(struct machine *m)
{
	nftw(m->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

void machine_file(struct machine *m, const char *path, const char *text)
{
	char full[512];
	FILE *f;

	snprintf(full, sizeof(full), "%s/%s", m->dir, path);
	for (char *slash = full + strlen(m->dir) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(full, 0755);
		*slash = '/';
	}
	f = fopen(full, "w");
	assert(f);
	fputs(text, f);
	fclose(f);
}

void machine_remove(struct machine *m, const char *path)
{
	char full[512];

	snprintf(full, sizeof(full), "%s/%s", m->dir, path);
	assert(!unlink(full));
}

static int open_drive(struct machine *m, const char *name, int flags)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", m->dev, name);
	fd = open(path, flags | O_CLOEXEC, 0600);
	assert(fd >= 0);
	return fd;
}

void machine_drive(struct machine *m, const char *name, const char *wwn, int64_t bytes)
{
	char path[128], text[64];
	int fd = open_drive(m, name, O_RDWR | O_CREAT);

	assert(!ftruncate(fd, bytes));
	close(fd);
	for (int64_t at = 4096; at < bytes; at += STEP)
		machine_poke(m, name, MARK, strlen(MARK), at);
	snprintf(path, sizeof(path), "sys/block/%s/size", name);
	snprintf(text, sizeof(text), "%lld\n", (long long)bytes / 512);
	machine_file(m, path, text);
	snprintf(path, sizeof(path), "sys/block/%s/wwid", name);
	machine_file(m, path, wwn);
	snprintf(path, sizeof(path), "sys/block/%s/nsid", name);
	machine_file(m, path, "1\n");
}

void machine_peek(struct machine *m, const char *name, void *out, size_t len, int64_t off)
{
	int fd = open_drive(m, name, O_RDONLY);

	assert(pread(fd, out, len, off) == (ssize_t)len);
	close(fd);
}

void machine_poke(struct machine *m, const char *name, const void *data, size_t len, int64_t off)
{
	int fd = open_drive(m, name, O_WRONLY);

	assert(pwrite(fd, data, len, off) == (ssize_t)len);
	close(fd);
}

size_t machine_residue(struct machine *m, const char *name)
{
	int fd = open_drive(m, name, O_RDONLY);
	char got[sizeof(MARK)] = "";
	size_t left = 0;

	for (int64_t at = 4096; pread(fd, got, strlen(MARK), at) == (ssize_t)strlen(MARK);
	     at += STEP)
		left += !memcmp(got, MARK, strlen(MARK));
	close(fd);
	return left;
}
