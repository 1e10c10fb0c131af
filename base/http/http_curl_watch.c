#include "base/http/http_curl_watch.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/mem.h"

struct watch {
	struct watches *of;
	void *arg;
	int fd;
	/* True: the descriptor is a socket that this module opened. */
	bool ours;
	/* Inode of the socket, which identifies it; only if `ours` is set. */
	ino_t inode;
	/* True: libcurl wants events of the descriptor now. */
	bool wanted;
	struct loop_fd *loop_fd;
};

void watches_init(struct watches *ws, struct loop_group *group,
		  void (*fn)(int fd, int events, void *arg))
{
	*ws = (struct watches){.group = group, .fn = fn};
}

static struct watch *watch_of(const struct watches *ws, int fd)
{
	assert(fd >= 0);
	return (size_t)fd < ws->n ? ws->v[fd] : NULL;
}

static ino_t inode_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 ? st.st_ino : 0;
}

/* True if fd is still the socket that was opened here. It may be another one, because libcurl
 * closes a socket whose connection failed without a notice, and the kernel reuses the number. */
static bool is_ours(const struct watch *w)
{
	return w->ours && w->inode && inode_of(w->fd) == w->inode;
}

static void watch_free(struct watch *w)
{
	if (!w)
		return;
	w->of->v[w->fd] = NULL;
	loop_fd_free(w->loop_fd);
	free(w);
}

void watches_done(struct watches *ws)
{
	for (size_t i = 0; i < ws->n; i++)
		watch_free(ws->v[i]);
	free(ws->v);
	*ws = (struct watches){0};
}

static void on_fd(int events, void *arg)
{
	struct watch *w = arg;

	if (w->wanted)
		w->of->fn(w->fd, events, w->arg); /* fn() may free w: do not use w afterwards. */
	else
		/* An event on an idle connection usually means that the server closed it. Stop
		 * watching: libcurl checks the connection before it reuses it. */
		/* mutant: idle-watch-spins */
		loop_fd_want(w->loop_fd, 0);
}

static struct watch *watch_new(struct watches *ws, int fd, void *arg)
{
	struct watch *w = mem_new(struct watch);

	if ((size_t)fd >= ws->n) {
		size_t n = (size_t)fd + 64;

		ws->v = mem_realloc_array(ws->v, n, sizeof(struct watch *));
		memset(ws->v + ws->n, 0, (n - ws->n) * sizeof(struct watch *));
		ws->n = n;
	}
	w->of = ws;
	w->arg = arg;
	w->fd = fd;
	ws->v[fd] = w;
	return w;
}

void watch_opened(struct watches *ws, int fd, void *arg)
{
	struct watch *w;

	/* Drop an old entry of this number: its descriptor was closed without a notice. */
	watch_free(watch_of(ws, fd));
	w = watch_new(ws, fd, arg);
	w->ours = true;
	w->inode = inode_of(fd);
}

void watch_closed(struct watches *ws, int fd)
{
	watch_free(watch_of(ws, fd));
}

void watch_want(struct watches *ws, int fd, int events, void *arg)
{
	struct watch *w = watch_of(ws, fd);

	if (w && !(w->wanted && events) && !is_ours(w)) {
		watch_free(w);
		w = NULL;
	}
	if (!w && !events)
		return;
	if (!w)
		w = watch_new(ws, fd, arg);
	w->wanted = events;
	if (!w->loop_fd)
		w->loop_fd = loop_fd(ws->group, fd, on_fd, w);
	loop_fd_want(w->loop_fd, events ? events : LOOP_READ);
}
