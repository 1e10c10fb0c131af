/*
 * boot_media: keeps the image in memory and serves HTTP ranges of it with the boot block of one
 * machine inserted. endpoint.c handles hellos, orders and reports; it never sees the bytes of the
 * image.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "controller/agent/boot_media.h"
#include "controller/agent/boot_image.h"
#include "base/list.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/secret.h"
#include "base/str.h"

#define MEDIA_MAX (256u << 20)

/* Argument of the HTTP route. There are two: one for the TLS listener, one for the plain HTTP
 * listener. */
struct door {
	struct boot_media *media;
	bool tls;
};

struct boot_media {
	struct door plain, tls;
	/* Token in the URL -> struct boot_media_item */
	struct map *items;
	char *path;
	char *data;
	size_t size, block_at;
};

struct boot_media_item {
	struct boot_media *media;
	char *token;
	/* PROTO_BOOT_BLOCK bytes; contains the boot secret */
	char *block;
	struct boot_media_readers allowed;
	bool tls_only;
	struct list readers;
};

struct media_reader {
	struct list link;
	/* Item that is being downloaded; NULL after the item was closed */
	struct boot_media_item *item;
};

struct boot_media *boot_media_new(void)
{
	struct boot_media *m = mem_new(struct boot_media);

	m->items = map_new(NULL);
	m->plain = (struct door){.media = m};
	m->tls = (struct door){.media = m, .tls = true};
	return m;
}

void boot_media_free(struct boot_media *m)
{
	struct map_iter it;

	if (!m)
		return;
	map_for_each (it, m->items)
		boot_media_close(it.value);
	map_free(m->items);
	free(m->path);
	free(m->data);
	free(m);
}

static int read_file(const char *path, char **data, size_t *size, struct err *e)
{
	FILE *f = fopen(path, "rb");
	struct stat st;
	char *p;

	if (!f)
		return err_errno(e, errno, "agent image %s", path);
	if (fstat(fileno(f), &st) < 0 || !S_ISREG(st.st_mode) || st.st_size < PROTO_BOOT_BLOCK ||
	    st.st_size > MEDIA_MAX) {
		fclose(f);
		return err_set(e, ERR_INVALID, 0,
			       "agent image %s: must be a regular file of %d bytes "
			       "to 256 MiB",
			       path, PROTO_BOOT_BLOCK);
	}
	p = malloc((size_t)st.st_size);
	if (!p || fread(p, 1, (size_t)st.st_size, f) != (size_t)st.st_size) {
		free(p);
		fclose(f);
		return err_set(e, ERR_UNAVAILABLE, 0,
			       "agent image %s: cannot be read "
			       "completely",
			       path);
	}
	fclose(f);
	*data = p;
	*size = (size_t)st.st_size;
	return 0;
}

int boot_media_load(struct boot_media *m, const char *path, const char *key, struct err *e)
{
	static const char mark[] = PROTO_BOOT_MARK;
	char *data = NULL, *hit, *second;
	size_t size = 0, at;

	if (m->data && str_eq(path, m->path))
		return 0;
	if (read_file(path, &data, &size, e) < 0)
		return -1;
	if (key && boot_image_check(path, data, size, key, e) < 0) {
		free(data);
		return -1;
	}
	hit = memmem(data, size, mark, sizeof(mark) - 1);
	at = hit ? (size_t)(hit - data) : 0;
	second = hit ? memmem(hit + 1, size - at - 1, mark, sizeof(mark) - 1) : NULL;
	if (!hit || second || at + PROTO_BOOT_BLOCK > size) {
		free(data);
		return err_set(e, ERR_INVALID, 0,
			       "agent image %s: must contain one boot block, found %s", path,
			       second ? "several" : "none");
	}
	for (size_t i = sizeof(mark) - 1; i < PROTO_BOOT_BLOCK; i++)
		if (data[at + i] != ' ') {
			free(data);
			return err_set(e, ERR_INVALID, 0,
				       "agent image %s: its boot block is not contiguous", path);
		}
	free(m->data);
	free(m->path);
	m->data = data;
	m->size = size;
	m->block_at = at;
	m->path = mem_strdup(path);
	return 0;
}

struct boot_media_item *boot_media_open(struct boot_media *m, const char *token,
					const struct proto_boot *b,
					const struct boot_media_readers *r, struct err *e)
{
	struct boot_media_item *i = mem_new(struct boot_media_item);

	i->block = mem_alloc(PROTO_BOOT_BLOCK);
	list_init(&i->readers);
	if (!m->data) {
		free(i->block);
		free(i);
		err_note(e, ERR_INVALID, 0, "no agent image is configured");
		return NULL;
	}
	if (proto_boot_write(b, i->block, e) < 0) {
		free(i->block);
		free(i);
		return NULL;
	}
	i->media = m;
	i->allowed = *r;
	i->token = mem_strdup(token);
	map_put(m->items, token, i);
	return i;
}

void boot_media_tls_only(struct boot_media_item *i, bool only)
{
	i->tls_only = only;
}

void boot_media_close(struct boot_media_item *i)
{
	if (!i)
		return;
	list_for_each (r, &i->readers, struct media_reader, link) {
		list_remove(&r->link);
		r->item = NULL;
	}
	if (map_get(i->media->items, i->token) == i)
		map_del(i->media->items, i->token);
	secret_wipe(i->block, PROTO_BOOT_BLOCK);
	free(i->block);
	free(i->token);
	free(i);
}

static int64_t read_image(char *out, size_t max, uint64_t pos, void *arg)
{
	struct media_reader *r = arg;
	const struct boot_media *m;
	size_t n, from, to;

	if (!r->item)
		return -2;
	m = r->item->media;
	if (pos >= m->size)
		return -2;
	n = m->size - pos < max ? (size_t)(m->size - pos) : max;
	memcpy(out, m->data + pos, n);
	from = pos > m->block_at ? pos : m->block_at;
	to = pos + n < m->block_at + PROTO_BOOT_BLOCK ? pos + n : m->block_at + PROTO_BOOT_BLOCK;
	if (from < to)
		memcpy(out + (from - pos), r->item->block + (from - m->block_at), to - from);
	return (int64_t)n;
}

static void read_done(void *arg)
{
	struct media_reader *r = arg;

	if (r->item)
		list_remove(&r->link);
	free(r);
}

static void on_get(struct httpd_req *q, void *arg)
{
	const struct door *door = arg;
	const struct boot_media *m = door->media;
	struct boot_media_item *i = map_get(m->items, str_or(httpd_segment(q, 0), ""));
	struct httpd_content c;
	struct media_reader *r;

	if (!i || /* mutant: media-in-the-clear */ (i->tls_only && !door->tls) ||
	    /* mutant: media-for-all */
	    !i->allowed.may_read(httpd_identity(q)->address, i->allowed.arg)) {
		/* Closes the connection, because a Service keeps an open connection at the replica
		 * that accepted it, also if that replica leads no longer. */
		httpd_reply_header(q, "Connection", "close");
		httpd_reply_json(q, 404, "{\"error\":\"no such medium\"}");
		return;
	}
	r = mem_new(struct media_reader);
	r->item = i;
	list_push_back(&i->readers, &r->link);
	c = (struct httpd_content){
		.read = read_image,
		.done = read_done,
		.arg = r,
		.size = m->size,
		.content_type = "application/octet-stream",
	};
	httpd_reply_content(q, &c);
}

void boot_media_routes(struct boot_media *m, struct httpd *d, bool tls)
{
	httpd_route(d, "GET", "/boot/{}/drover-agent.iso", 0, on_get, tls ? &m->tls : &m->plain);
}
