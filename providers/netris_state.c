#include "providers/netris_state.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"

/* Once the last answer about the controller's release is this many ms old, the release is requested
 * again. */
#define RELEASE_MS (6 * 3600 * 1000)

/* --- release ---------------------------------------------------------------------------------- */

/* Stores the release of the controller. If the controller reports none, it counts as unknown, which
 * is allowed, because drover checks the content of each reply anyway. */
static void on_release(struct netris_objects *o, const struct err *e, void *arg)
{
	struct fabric_state *f = arg;
	enum netris_release was = f->release;

	f->release_asked = NULL;
	/* Keep the release that was reported before, because this request failed. */
	if (e && f->release_at >= 0)
		return;
	f->release_at = loop_now(loop_of(f->group));
	f->release = netris_release_of(o ? o->version->build : NULL, f->release_text);
	if (f->release != was && f->release != NETRIS_RELEASE_COVERED)
		log_warn("release of Netris", LOG_S("release", f->release_text));
}

void netris_state_ask_release(struct fabric_state *f)
{
	const struct netris_call c = {.done = on_release, .arg = f};

	if (!f->release_asked &&
	    (f->release_at < 0 || loop_now(loop_of(f->group)) - f->release_at > RELEASE_MS))
		f->release_asked = netris_read(f->n, NETRIS_VERSION, &c);
}

bool netris_state_may_change(const struct fabric_state *f)
{
	return f->release_at >= 0 && f->release != NETRIS_RELEASE_OLD;
}

bool netris_state_release(const struct fabric_state *f, char *text, size_t size)
{
	if (f->release_at < 0)
		return false;
	str_copy(text, size, f->release_text);
	return true;
}

/* --- names ------------------------------------------------------------------------------------ */

char *netris_state_cluster(const struct fabric_state *f, const char *segment)
{
	return str_starts(segment, NETRIS_STATE_TENANTS)
		       ? mem_printf("%s-%s", f->prefix, segment + strlen(NETRIS_STATE_TENANTS))
		       : mem_strdup(segment);
}

void netris_state_free_names(char **names)
{
	for (size_t i = 0; names[i]; i++)
		free(names[i]);
	free(names);
}

char **netris_state_copy_names(const char *const *names)
{
	size_t n = 0;
	char **all;

	while (names && names[n])
		n++;
	all = mem_calloc(n + 1, sizeof(*all));
	for (size_t i = 0; i < n; i++)
		all[i] = mem_strdup(names[i]);
	return all;
}
