#include "base/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/mem.h"

/*
 * The bytes are in separate pages, marked MADV_DONTDUMP. Thousands of BMC passwords must not take a
 * page each. So secrets of up to 4 KiB share chunks of memory, each of which is divided into slots
 * of one size. A freed slot is cleared and put on the free list of its size class; chunks are never
 * unmapped. A larger secret has a mapping of its own.
 */
enum { SMALLEST = 64, CLASSES = 4, CHUNK = 64 * 1024 };

union slot {
	/* Next free slot of the size class; used only while this slot is free. */
	union slot *next;
	char bytes[SMALLEST];
};

static struct {
	pthread_mutex_t lock;
	/* Lists of free slots of 64, 256, 1024 and 4096 bytes. */
	union slot *free[CLASSES];
} slots = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct secret {
	size_t len;
	/* Number of bytes allocated for data. */
	size_t room;
	char *data;
};

/* Clears memory. The compiler barrier keeps the compiler from removing the memset() as a dead
 * store. */
void secret_wipe(void *p, size_t len)
{
	if (!p || !len)
		return;
	memset(p, 0, len);
	__asm__ volatile("" : : "r"(p) : "memory");
}

static void *map_pages(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || madvise(p, size, MADV_DONTDUMP) < 0)
		abort();
	return p;
}

/* Returns the size class whose slots have at least need bytes, and the slot size in *size; CLASSES:
 * no class is large enough. */
static unsigned class_of(size_t need, size_t *size)
{
	unsigned c = 0;

	for (*size = SMALLEST; c < CLASSES && *size < need; c++)
		*size *= 4;
	return c;
}

static void cut_chunk(unsigned c, size_t size)
{
	char *chunk = map_pages(CHUNK);

	for (size_t at = 0; at + size <= CHUNK; at += size) {
		union slot *s = (union slot *)(void *)(chunk + at);

		s->next = slots.free[c];
		slots.free[c] = s;
	}
}

static char *take_room(size_t need, size_t *room)
{
	unsigned c = class_of(need, room);
	union slot *s;

	if (c == CLASSES) {
		*room = need;
		return map_pages(need);
	}
	pthread_mutex_lock(&slots.lock);
	if (!slots.free[c])
		cut_chunk(c, *room);
	s = slots.free[c];
	slots.free[c] = s->next;
	pthread_mutex_unlock(&slots.lock);
	return s->bytes;
}

static void give_room(char *data, size_t room)
{
	size_t size;
	unsigned c = class_of(room, &size);
	union slot *s = (union slot *)(void *)data;

	secret_wipe(data, room);
	if (c == CLASSES) {
		munmap(data, room);
		return;
	}
	pthread_mutex_lock(&slots.lock);
	s->next = slots.free[c];
	slots.free[c] = s;
	pthread_mutex_unlock(&slots.lock);
}

struct secret *secret_new(const void *data, size_t len)
{
	struct secret *s = mem_new(struct secret);

	if (len > SIZE_MAX / 2)
		abort();
	s->data = take_room(len + 1, &s->room);
	s->len = len;
	if (len)
		memcpy(s->data, data, len);
	s->data[len] = '\0';
	return s;
}

struct secret *secret_from_str(const char *s)
{
	return secret_new(s, strlen(s));
}

struct secret *secret_copy(const struct secret *s)
{
	return s ? secret_new(s->data, s->len) : NULL;
}

void secret_free(struct secret *s)
{
	if (!s)
		return;
	give_room(s->data, s->room);
	free(s);
}

const char *secret_expose(const struct secret *s)
{
	return s->data;
}

size_t secret_len(const struct secret *s)
{
	return s->len;
}

/* Compares in a time that depends on the lengths only, not on the contents. */
bool secret_equal_bytes(const struct secret *a, const void *b, size_t len)
{
	const volatile unsigned char *x = (const unsigned char *)a->data, *y = b;
	unsigned char differ = 0;

	if (a->len != len)
		return false;
	for (size_t i = 0; i < len; i++)
		differ |= x[i] ^ y[i];
	return differ == 0;
}

bool secret_equal(const struct secret *a, const struct secret *b)
{
	return secret_equal_bytes(a, b->data, b->len);
}

/* Writes all bytes in one call. No loop is needed, because a memory file accepts all bytes or fails
 * for lack of memory. */
static bool fill(int fd, const struct secret *s)
{
	ssize_t n = write(fd, s->data, s->len);

	if (n >= 0 && (size_t)n != s->len)
		errno = ENOSPC;
	return n >= 0 && (size_t)n == s->len &&
	       fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) ==
		       0;
}

int secret_file(const struct secret *s, struct err *e)
{
	int fd = memfd_create("secret", MFD_CLOEXEC | MFD_ALLOW_SEALING), why;

	if (fd >= 0 && fill(fd, s))
		return fd;
	why = errno;
	if (fd >= 0)
		close(fd);
	return err_errno(e, why, "a file in memory");
}
