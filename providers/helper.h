#ifndef PROVIDERS_HELPER_H
#define PROVIDERS_HELPER_H

#include "providers/child.h"
#include "providers/jobs.h"
#include "providers/provider.h"

/*
 * helper: machines that a process of its own switches (child.h): what the types libvirt and exec
 * have in common. docs/provider-protocol.md has the requests: observe, power, boot, media.
 *
 * A machine's address is TYPE://PROVIDER/NAME: what is asked is the Provider's, so that nothing in
 * a Machine leads anywhere. What changes a machine is preceded by a look of the same call, and
 * names the UUID that was seen there. There is no login and no session.
 * Tests: tests/contract/test_provider.c
 */
struct helper_words {
	/* scheme of addresses */
	const char *type;
	/* of the process, in errors */
	const char *self;
	/* what it has for machines: the member of a request that names one */
	const char *thing;
	/* it boots by HTTP */
	bool http;
};

struct helper {
	const struct helper_words *words;
	/* of the Provider */
	char *name;
	struct job_line line;
	struct child *child;
	/* calls of exec_elastic.c under way */
	struct list elastic;
};

struct provider_machine {
	/* first: a job's seat is its machine */
	struct job_seat seat;
	struct helper *helper;
	/* what its program calls it */
	char *name;
	/* of the job that runs */
	struct child_call *request;
};

/* p->state of a provider whose ops are those below. child: child_new()'s, taken; words: static.
 * rate: calls begun in a second, concurrent: at a time; where s says none. */
struct helper *helper_new(const struct helper_words *words, const struct provider_spec *s,
			  struct child *child, double rate, unsigned concurrent);

/* A job of kind whose request is this one alone, with the machine's name, operation and fence put
 * in. */
void helper_ask(struct provider_machine *m, enum job_kind kind, json_t *request /* taken */,
		const struct provider_call *c);

/* For struct provider_ops. */
void helper_close(struct provider *p);
struct provider_machine *helper_attach(struct provider *p, const struct provider_machine_spec *s,
				       struct err *e);
void helper_detach(struct provider *p, struct provider_machine *m);
void helper_observe(struct provider *p, struct provider_machine *m, const struct provider_call *c);
void helper_power(struct provider *p, struct provider_machine *m, bool on,
		  const struct provider_call *c);
void helper_boot(struct provider *p, struct provider_machine *m, enum provider_boot how,
		 const char *url, const struct provider_call *c);
void helper_media(struct provider *p, struct provider_machine *m, const char *url,
		  const struct provider_call *c);

#endif
