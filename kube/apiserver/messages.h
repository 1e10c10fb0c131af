#ifndef KUBE_APISERVER_MESSAGES_H
#define KUBE_APISERVER_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include "kube/apiserver/server.h"

/*
 * messages: what built-in kinds are made of, for bodies in protobuf and for the schemas in OpenAPI.
 * The table is messages.def.
 * Tests: tests/unit/kube/apiserver/test_protobuf.c, tests/unit/kube/apiserver/test_strict.c
 */
struct message {
	/* "core.v1.PodSpec" */
	const char *name;
	const char *fields;
};
enum message_type {
	MESSAGE_STRING,
	MESSAGE_BYTES,
	MESSAGE_BOOL,
	MESSAGE_INT,
	/* a message that is a list of strings */
	MESSAGE_STRINGS,
	MESSAGE_TIME,
	MESSAGE_MICRO_TIME,
	MESSAGE_QUANTITY,
	MESSAGE_INT_OR_STRING,
	/* any JSON */
	MESSAGE_ANY,
	MESSAGE_MESSAGE,
};
struct message_field {
	unsigned number;
	/* of: the message's name */
	char name[64], of[96];
	enum message_type type;
	/* of that type */
	bool list, map;
	bool keeps_zero, is_inline;
	/* sent in JSON, whatever it is */
	bool always;
};

/* group "" is core; NULL when the table does not know it.  DeleteOptions is in every group. */
const struct message *message_of_kind(const char *group, const char *version, const char *kind);
const struct message *message_find(const char *name);
/* From the first (*at NULL) to the last. */
bool message_next(const struct message *m, const char **at, struct message_field *f);

/* An object in protobuf, with the envelope that Kubernetes puts around it; NULL with the fault
 * set. */
json_t *protobuf_decode(const char *data, size_t len, struct fault *f);

/* Leaves out members that say nothing, adds those that kube-apiserver always sends
 * (normalize.c). */
void message_normalize(const struct message *m, json_t *obj);

/* "io.k8s.api.core.v1.Pod", in the arena. */
const char *message_component(const char *name, struct arena *a);
/* The schema of a message, and of all that it refers to, into `components`, by those names. */
void messages_add_schemas(const struct message *m, json_t *components, struct arena *a);

#endif
