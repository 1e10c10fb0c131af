/*
 * httpd_callers: stores one entry for each address, with the number of the address's open
 * connections and its token bucket.
 * Tests: tests/unit/base/httpd/test_httpd_callers.c
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/httpd/httpd_callers.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"

#define BURST 4
/* Number of entries above which entries without effect (no connection, full bucket) are dropped. */
#define FORGET_ABOVE 1024
#define KEY 48

struct httpd_callers {
	/* Maps an address to its struct httpd_caller. */
	struct map *map;
	unsigned limit;
	size_t forget_at;
};

struct httpd_caller {
	const struct httpd_callers *all;
	unsigned connections;
	int64_t millitokens, filled_at;
};

struct httpd_callers *httpd_callers_new(unsigned limit)
{
	struct httpd_callers *c = mem_new(struct httpd_callers);

	c->map = map_new(free);
	c->limit = limit;
	c->forget_at = FORGET_ABOVE;
	return c;
}

void httpd_callers_free(struct httpd_callers *c)
{
	if (!c)
		return;
	map_free(c->map);
	free(c);
}

static void write_key(const struct sockaddr *a, char out[static KEY])
{
	struct in6_addr net;

	str_copy(out, KEY, "unknown");
	if (a && a->sa_family == AF_INET) {
		inet_ntop(AF_INET, &((const struct sockaddr_in *)a)->sin_addr, out, KEY);
	} else if (a && a->sa_family == AF_INET6) {
		net = ((const struct sockaddr_in6 *)a)->sin6_addr;
		if (!IN6_IS_ADDR_V4MAPPED(&net))
			memset(net.s6_addr + 8, 0, 8);
		inet_ntop(AF_INET6, &net, out, KEY);
	}
}

static int64_t full(const struct httpd_callers *c)
{
	return (int64_t)c->limit * BURST * 1000;
}

static void fill(struct httpd_caller *who, int64_t now)
{
	int64_t most = full(who->all), since = now - who->filled_at;

	/* Limit the time since the last refill: after BURST seconds the bucket is full anyway, and
	 * a longer time could make the product below overflow. */
	if (since > BURST * 1000)
		since = BURST * 1000;
	who->millitokens += since * who->all->limit;
	if (who->millitokens > most)
		who->millitokens = most;
	who->filled_at = now;
}

static bool has_token(struct httpd_caller *who, int64_t now)
{
	fill(who, now);
	return who->millitokens >= 1000;
}

static void take_token(struct httpd_caller *who, int64_t now)
{
	fill(who, now);
	who->millitokens -= who->millitokens < 1000 ? who->millitokens : 1000;
}

bool httpd_callers_admit(struct httpd_callers *c, const struct sockaddr *address, int64_t now)
{
	struct httpd_caller *who;
	char key[KEY];

	if (!c->limit)
		return true;
	write_key(address, key);
	who = map_get(c->map, key);
	return !who || (who->connections < c->limit && has_token(who, now));
}

/* Drops entries without connections and with full buckets. */
static void forget(struct httpd_callers *c, int64_t now)
{
	struct map_iter it;

	map_for_each (it, c->map) {
		struct httpd_caller *who = it.value;

		fill(who, now);
		if (!who->connections && who->millitokens == full(c))
			map_del(c->map, it.key);
	}
	c->forget_at = map_size(c->map) * 2 > FORGET_ABOVE ? map_size(c->map) * 2 : FORGET_ABOVE;
}

struct httpd_caller *httpd_callers_enter(struct httpd_callers *c, const struct sockaddr *address,
					 int64_t now)
{
	struct httpd_caller *who;
	char key[KEY];

	write_key(address, key);
	who = map_get(c->map, key);
	if (!who) {
		if (map_size(c->map) >= c->forget_at)
			forget(c, now);
		who = mem_new(struct httpd_caller);
		*who = (struct httpd_caller){.all = c, .millitokens = full(c), .filled_at = now};
		map_put(c->map, key, who);
	}
	who->connections++;
	take_token(who, now);
	return who;
}

void httpd_callers_leave(struct httpd_caller *who)
{
	who->connections--;
}

void httpd_caller_refused(struct httpd_caller *who, int64_t now)
{
	take_token(who, now);
}

bool httpd_caller_exhausted(struct httpd_caller *who, int64_t now)
{
	return who->all->limit && !has_token(who, now);
}
