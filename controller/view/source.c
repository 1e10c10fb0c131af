#include "controller/view/source.h"

#include "base/str.h"

bool view_source_leads(const struct view_source *s)
{
	const struct context *c = s->c;

	return c->ready && c->leading && kube_lease_held(c->lease);
}

const char *view_source_fleet(const struct view_source *s, char out[static VIEW_VERSION_SIZE])
{
	/* The minute is part of the version, because an explanation changes with the time too: a
	 * machine becomes slow, a deadline passes. */
	str_format(out, VIEW_VERSION_SIZE, "%016llx.%llu.%lld", (unsigned long long)s->process,
		   (unsigned long long)s->fleet, (long long)(loop_wall(s->c->loop) / 60000));
	return out;
}

const char *view_source_version(const struct view_source *s, uint64_t number,
				char out[static VIEW_VERSION_SIZE])
{
	str_format(out, VIEW_VERSION_SIZE, "%016llx.%llu", (unsigned long long)s->process,
		   (unsigned long long)number);
	return out;
}

const char *view_source_queue(const struct view_source *s, char out[static VIEW_VERSION_SIZE])
{
	return view_source_version(s, waiting_number(s->waiting), out);
}
