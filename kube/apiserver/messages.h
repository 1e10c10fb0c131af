#ifndef KUBE_APISERVER_MESSAGES_H
#define KUBE_APISERVER_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include "kube/apiserver/server.h"

/*
 * messages: the fields of built-in kinds, for protobuf bodies and OpenAPI schemas. As in protobuf,
 * a message is the type of an object or of a part of an object. The table of messages is
 * messages.def.
 * Tests: tests/unit/kube/apiserver/test_protobuf.c, tests/unit/kube/apiserver/test_strict.c
 */
struct message {
	/* Name, for example "core.v1.PodSpec". */
	const char *name;
	const char *fields;
};
enum message_type {
	MESSAGE_STRING,
	MESSAGE_BYTES,
	MESSAGE_BOOL,
	MESSAGE_INT,
	/* A protobuf message that contains only a list of strings; JSON has the list itself. */
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
	/* name: name of the field in JSON; of: name of the field's message type, if type is
	 * MESSAGE_MESSAGE. */
	char name[64], of[96];
	enum message_type type;
	/* list: the field is a list of values of the type. map: the field maps strings to such
	 * values. */
	bool list, map;
	bool keeps_zero, is_inline;
	/* True: the field is present in JSON even if it is zero. */
	bool always;
};

/* Returns the message (type) of a kind; NULL: not in the table. group "" is the core group; the
 * kind DeleteOptions is found in every group. */
const struct message *message_of_kind(const char *group, const char *version, const char *kind);
const struct message *message_find(const char *name);
/* Iterates over the fields of m: sets *f to the field at position *at (*at NULL: the first) and
 * moves *at to the next field. False: no more fields. */
bool message_next(const struct message *m, const char **at, struct message_field *f);

/* Decodes an object in protobuf with the envelope of Kubernetes; NULL with the fault set. */
json_t *protobuf_decode(const char *data, size_t len, struct fault *f);

/* Removes members of obj that kube-apiserver omits because they are empty, then adds the members
 * that it always sends (normalize.c). */
void message_normalize(const struct message *m, json_t *obj);

/* Returns the OpenAPI name of a message ("io.k8s.api.core.v1.Pod"), in the arena. */
const char *message_component(const char *name, struct arena *a);
/* Adds the OpenAPI schema of m, and of all messages that m refers to, to the object components,
 * under the names from message_component(). */
void messages_add_schemas(const struct message *m, json_t *components, struct arena *a);

#endif
