#ifndef PROVIDERS_HELPER_H
#define PROVIDERS_HELPER_H

#include "providers/child.h"
#include "providers/jobs.h"
#include "providers/provider.h"

/*
 * helper: switches machines through a separate process (child.h); shared by the types libvirt and
 * exec. docs/provider-protocol.md specifies the requests observe, power, boot and media.
 *
 * The address of a machine is TYPE://PROVIDER/NAME. The Provider chooses the process, so no field
 * of a Machine can send a request to another process. Each change is preceded by an observation
 * within the same call, and the request for the change contains the UUID that was observed. There
 * are no logins and no sessions.
 * Tests: tests/contract/test_provider.c
 */
struct helper_words {
	/* Provider type, which is also the scheme of machine addresses */
	const char *type;
	/* Name of the process in error texts. */
	const char *self;
	/* Name of the request member that contains the machine's name */
	const char *thing;
	/* True if machines can boot by HTTP. */
	bool http;
};

struct helper {
	const struct helper_words *words;
	/* Name of the Provider. */
	char *name;
	struct job_queue queue;
	struct child *child;
	/* Pending calls of exec_elastic.c */
	struct list elastic;
};

struct helper_machine {
	struct provider_machine base;
	struct helper *helper;
	/* Name of the machine in requests to the process. */
	char *name;
	/* Request of the running job; NULL: none. */
	struct child_call *request;
};

/* Creates the private data (p->state) of a provider that uses the functions below. Takes ownership
 * of child; words must be static. rate (calls started per second) and concurrent are used if s does
 * not set them. */
struct helper *helper_new(const struct helper_words *words, const struct provider_spec *s,
			  struct child *child, double rate, unsigned concurrent);

/* Returns the machine that contains m, which helper_attach() returned. */
struct helper_machine *helper_machine_of(const struct provider_machine *m);

/* Queues a job of this kind that sends one request. Adds the machine's name, the operation and the
 * fence to the request. Takes ownership of request. */
void helper_ask(struct provider_machine *m, enum job_kind kind, json_t *request,
		const struct provider_call *c);

/* helper_close() to helper_media() implement the members of struct provider_ops of the same
 * names. */
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
