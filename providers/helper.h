#ifndef PROVIDERS_HELPER_H
#define PROVIDERS_HELPER_H

#include "providers/child.h"
#include "providers/jobs.h"
#include "providers/provider.h"

/*
 * helper: machines that a separate process switches (child.h); shared by the types libvirt and
 * exec. docs/provider-protocol.md specifies the requests observe, power, boot and media.
 *
 * The address of a machine is TYPE://PROVIDER/NAME: the process is chosen by the Provider, so no
 * field of a Machine can direct a request elsewhere. Each change is preceded by an observation
 * within the same call, and the change contains the UUID that was observed. There are no logins and
 * sessions.
 * Tests: tests/contract/test_provider.c
 */
struct helper_words {
	/* Provider type, and scheme of addresses. */
	const char *type;
	/* Name of the process in error texts. */
	const char *self;
	/* Member of a request that contains the name of the machine. */
	const char *thing;
	/* True if machines can boot by HTTP. */
	bool http;
};

struct helper {
	const struct helper_words *words;
	/* Name of the Provider. */
	char *name;
	struct job_line line;
	struct child *child;
	/* Pending calls of exec_elastic.c. */
	struct list elastic;
};

struct provider_machine {
	/* Must be first: a pointer to the seat is cast to a pointer to the machine. */
	struct job_seat seat;
	struct helper *helper;
	/* Name of the machine in requests to the process. */
	char *name;
	/* Request of the running job; NULL: none. */
	struct child_call *request;
};

/* Returns the state (p->state) of a provider that uses the functions below as its ops. Takes
 * ownership of child. words must be static. rate (calls started per second) and concurrent are used
 * if s sets none. */
struct helper *helper_new(const struct helper_words *words, const struct provider_spec *s,
			  struct child *child, double rate, unsigned concurrent);

/* Queues a job of kind whose only request is request, with the machine's name, operation and fence
 * added. Takes ownership of request. */
void helper_ask(struct provider_machine *m, enum job_kind kind, json_t *request,
		const struct provider_call *c);

/* Implementations for struct provider_ops. */
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
