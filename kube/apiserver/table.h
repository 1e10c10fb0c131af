#ifndef KUBE_APISERVER_TABLE_H
#define KUBE_APISERVER_TABLE_H

#include "kube/apiserver/server.h"

/*
 * table: objects as rows of text (meta.k8s.io/v1 Table), which is what `kubectl get` asks for.
 * Columns: of built-in kinds in table_kinds.c, of custom ones additionalPrinterColumns.
 */
struct table;
/* NULL: the client asked for none. */
struct table *table_new(const struct request *rq);
void table_free(struct table *t);
/* One row, and a whole Table of one object; malloc'd. */
char *table_row(const struct table *t, json_t *obj);
char *table_of(const struct table *t, json_t *obj);
/* A Table without rows that says how far a watch has got. */
char *table_bookmark(const struct table *t, json_t *meta);
/* {"kind":"Table",...,"rows":[ : then rows, then "],..." as in any list. */
void table_begin(const struct table *t, struct buf *b);

struct column {
	const char *name, *type, *format;
	/* 0: always shown */
	int priority;
	/* A member by its path; absent: `otherwise`, or null. */
	const char *path, *otherwise;
	/* Else what this says; NULL: null. */
	json_t *(*cell)(const json_t *obj, int64_t wall_ms);
};
/* Ends at a column without name. */
const struct column *table_columns(const struct resource *r);

#endif
