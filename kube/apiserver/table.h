#ifndef KUBE_APISERVER_TABLE_H
#define KUBE_APISERVER_TABLE_H

#include "kube/apiserver/server.h"

/*
 * table: objects as rows of text (meta.k8s.io/v1 Table), as requested by `kubectl get`. Columns of
 * built-in kinds are in table_kinds.c; custom kinds use additionalPrinterColumns.
 */
struct table;
/* NULL: the client requested no table. */
struct table *table_new(const struct request *rq);
void table_free(struct table *t);
/* Return one row, and a whole Table of one object; malloc'd. */
char *table_row(const struct table *t, json_t *obj);
char *table_of(const struct table *t, json_t *obj);
/* Returns a Table without rows that has the revision a watch has reached. */
char *table_bookmark(const struct table *t, json_t *meta);
/* Writes {"kind":"Table",...,"rows":[ ; then follow rows, then "],..." as in any list. */
void table_begin(const struct table *t, struct buf *b);

struct column {
	const char *name, *type, *format;
	/* 0: always shown. */
	int priority;
	/* path of a member; otherwise: the value if it is absent, or null. */
	const char *path, *otherwise;
	/* Computes the cell if path is NULL; NULL: null. */
	json_t *(*cell)(const json_t *obj, int64_t wall_ms);
};
/* Ends at a column without a name. */
const struct column *table_columns(const struct resource *r);

#endif
