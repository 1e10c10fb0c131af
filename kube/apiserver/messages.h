#ifndef KUBE_APISERVER_MESSAGES_H
#define KUBE_APISERVER_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include "kube/apiserver/server.h"

/*
 * messages: the fields of built-in kinds, for protobuf bodies and OpenAPI schemas. The table is
 * messages.def.
 * Tests: tests/unit/kube/apiserver/test_protobuf.c, tests/unit/kube/apiserver/test_strict.c
 */
struct message {
	/* "core.v1.PodSpec". */
	const char *name;
	const char *fields;
};
enum message_type {
	MESSAGE_STRING,
	MESSAGE_BYTES,
	MESSAGE_BOOL,
	MESSAGE_INT,
	/* A message that is a list of strings. */
	MESSAGE_STRINGS,
	MESSAGE_TIME,
	MESSAGE_MICRO_TIME,
	MESSAGE_QUANTITY,
	MESSAGE_INT_OR_STRING,
	/* Any JSON value. */
	MESSAGE_ANY,
	MESSAGE_MESSAGE,
};
struct message_field {
	unsigned number;
	/* of: name of the message type. */
	char name[64], of[96];
	enum message_type type;
	/* A list or map of the type. */
	bool list, map;
	bool keeps_zero, is_inline;
	/* Present in JSON even if it is zero. */
	bool always;
};

/* group "" is core; NULL: not in the table. DeleteOptions is in every group. */
const struct message *message_of_kind(const char *group, const char *version, const char *kind);
const struct message *message_find(const char *name);
/* Iterates from the first field (*at NULL) to the last. */
bool message_next(const struct message *m, const char **at, struct message_field *f);

/* Decodes an object in protobuf with the envelope of Kubernetes; NULL with the fault set. */
json_t *protobuf_decode(const char *data, size_t len, struct fault *f);

/* Removes empty members, and adds those that kube-apiserver always sends (normalize.c). */
void message_normalize(const struct message *m, json_t *obj);

/* Returns "io.k8s.api.core.v1.Pod", in the arena. */
const char *message_component(const char *name, struct arena *a);
/* Adds the schema of a message, and of all messages that it refers to, to `components`, under those
 * names. */
void messages_add_schemas(const struct message *m, json_t *components, struct arena *a);

#endif
