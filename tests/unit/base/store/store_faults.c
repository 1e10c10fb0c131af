#include "tests/unit/base/store/store_faults.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/mem.h"
#include "base/str.h"

/* The content of a file that would survive a power cut. */
struct image {
	char *path, *data;
	size_t len;
};

struct faulty_file {
	sqlite3_file base;
	/* NULL: a temporary file. */
	struct image *image;
	/* The real file, stored behind this struct in the same allocation. */
	sqlite3_file *real;
};

static sqlite3_vfs *real_vfs;
static sqlite3_vfs faulty_vfs;
static struct image images[8];
static unsigned left, syncs;
static int code;
static bool happened;

void store_faults_set(unsigned nth, int fail_code)
{
	left = nth;
	code = fail_code;
	happened = false;
}

int store_faults_happened(void)
{
	return happened;
}

unsigned store_faults_syncs(void)
{
	return syncs;
}

static bool fails(void)
{
	if (left == 0)
		return false;
	if (left > 1) {
		left--;
		return false;
	}
	happened = true;
	return true;
}

static sqlite3_file *real_of(sqlite3_file *f)
{
	return ((struct faulty_file *)f)->real;
}

static int f_close(sqlite3_file *f)
{
	return real_of(f)->pMethods->xClose(real_of(f));
}

static int f_read(sqlite3_file *f, void *to, int n, sqlite3_int64 at)
{
	return real_of(f)->pMethods->xRead(real_of(f), to, n, at);
}

static int f_write(sqlite3_file *f, const void *from, int n, sqlite3_int64 at)
{
	if (!fails())
		return real_of(f)->pMethods->xWrite(real_of(f), from, n, at);
	/* A real disk may have written a part of the data before it fails: write the first half. */
	(void)real_of(f)->pMethods->xWrite(real_of(f), from, n / 2, at);
	return code;
}

static int f_truncate(sqlite3_file *f, sqlite3_int64 size)
{
	return fails() ? code : real_of(f)->pMethods->xTruncate(real_of(f), size);
}

static int take_image(sqlite3_file *f)
{
	struct image *i = ((struct faulty_file *)f)->image;
	sqlite3_int64 size;
	int rc = real_of(f)->pMethods->xFileSize(real_of(f), &size);

	if (rc != SQLITE_OK || !i)
		return rc;
	free(i->data);
	i->data = mem_alloc((size_t)size + 1);
	i->len = (size_t)size;
	return size ? real_of(f)->pMethods->xRead(real_of(f), i->data, (int)size, 0) : SQLITE_OK;
}

/* Nothing is synced for real, because the tests would depend on the speed of the disk. */
static int f_sync(sqlite3_file *f, int flags)
{
	(void)flags;
	syncs++;
	return fails() ? code : take_image(f);
}

static int f_size(sqlite3_file *f, sqlite3_int64 *out)
{
	return real_of(f)->pMethods->xFileSize(real_of(f), out);
}

static int f_lock(sqlite3_file *f, int how)
{
	return real_of(f)->pMethods->xLock(real_of(f), how);
}

static int f_unlock(sqlite3_file *f, int how)
{
	return real_of(f)->pMethods->xUnlock(real_of(f), how);
}

static int f_reserved(sqlite3_file *f, int *out)
{
	return real_of(f)->pMethods->xCheckReservedLock(real_of(f), out);
}

static int f_control(sqlite3_file *f, int op, void *arg)
{
	return real_of(f)->pMethods->xFileControl(real_of(f), op, arg);
}

static int f_sector(sqlite3_file *f)
{
	return real_of(f)->pMethods->xSectorSize(real_of(f));
}

static int f_character(sqlite3_file *f)
{
	return real_of(f)->pMethods->xDeviceCharacteristics(real_of(f));
}

static const sqlite3_io_methods methods = {
	.iVersion = 1, /* without shared memory, which the store must not need */
	.xClose = f_close,
	.xRead = f_read,
	.xWrite = f_write,
	.xTruncate = f_truncate,
	.xSync = f_sync,
	.xFileSize = f_size,
	.xLock = f_lock,
	.xUnlock = f_unlock,
	.xCheckReservedLock = f_reserved,
	.xFileControl = f_control,
	.xSectorSize = f_sector,
	.xDeviceCharacteristics = f_character,
};

static struct image *image_of(const char *path)
{
	for (size_t i = 0; path && i < sizeof(images) / sizeof(*images); i++) {
		if (!images[i].path)
			images[i].path = mem_strdup(path);
		if (str_eq(images[i].path, path))
			return &images[i];
	}
	return NULL;
}

static int f_delete(sqlite3_vfs *v, const char *path, int sync_folder)
{
	struct image *i = image_of(path);

	(void)v;
	if (fails())
		return code;
	if (i) {
		free(i->data);
		i->data = NULL;
		i->len = 0;
	}
	return real_vfs->xDelete(real_vfs, path, sync_folder);
}

void store_faults_forget(void)
{
	for (size_t i = 0; i < sizeof(images) / sizeof(*images); i++) {
		free(images[i].path);
		free(images[i].data);
		images[i] = (struct image){0};
	}
}

void store_faults_lose_unsynced(void)
{
	for (size_t i = 0; i < sizeof(images) / sizeof(*images) && images[i].path; i++) {
		FILE *out = access(images[i].path, F_OK) == 0 ? fopen(images[i].path, "wb") : NULL;

		if (!out)
			continue;
		if ((images[i].len && fwrite(images[i].data, images[i].len, 1, out) != 1) ||
		    fclose(out) != 0)
			abort();
	}
}

static int f_open(sqlite3_vfs *v, const char *name, sqlite3_file *f, int flags, int *out)
{
	struct faulty_file *file = (struct faulty_file *)f;
	int rc;

	(void)v;
	file->real = (sqlite3_file *)(file + 1);
	file->image = image_of(name);
	rc = real_vfs->xOpen(real_vfs, name, file->real, flags, out);
	file->base.pMethods = file->real->pMethods ? &methods : NULL;
	return rc;
}

void store_faults_install(void)
{
	if (real_vfs)
		return;
	real_vfs = sqlite3_vfs_find(NULL);
	faulty_vfs = *real_vfs;
	faulty_vfs.zName = "faulty";
	faulty_vfs.szOsFile += (int)sizeof(struct faulty_file);
	faulty_vfs.xOpen = f_open;
	faulty_vfs.xDelete = f_delete;
	if (sqlite3_vfs_register(&faulty_vfs, 1) != SQLITE_OK)
		abort();
}
