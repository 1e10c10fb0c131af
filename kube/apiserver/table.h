#ifndef KUBE_APISERVER_TABLE_H
#define KUBE_APISERVER_TABLE_H

#include "kube/apiserver/server.h"

/*
 * table: shows objects as rows of text (meta.k8s.io/v1 Table), as requested by `kubectl get`.
 * Columns of built-in kinds are in table_kinds.c; custom kinds use additionalPrinterColumns.
 */
struct table;
/* Returns the Table that the client requested; NULL: the client requested no Table. */
struct table *table_new(const struct request *rq);
void table_free(struct table *t);
/* Returns a text that is equal for two Tables of a kind if both show its objects alike, in the
 * arena. */
const char *table_form(const struct table *t, struct arena *a);
/* table_row() returns the text of one row, table_of() that of a whole Table with one object; both
 * are malloc'd. */
char *table_row(const struct table *t, json_t *obj);
char *table_of(const struct table *t, json_t *obj);
/* Returns the text of a Table for a bookmark, malloc'd. Such a Table shows no object, only the
 * revision up to which a watch has reported changes. */
char *table_bookmark(const struct table *t, json_t *meta);
/* Writes the beginning of a Table, {"kind":"Table",...,"rows":[ to b. The caller then writes rows
 * from table_row(), "]" and the list's metadata, as for any other list. */
void table_begin(const struct table *t, struct buf *b);

struct column {
	const char *name, *type, *format;
	/* 0: the column is always shown; above 0: only with -o wide. */
	int priority;
	/* path: path of the member to show. otherwise: text of the cell if the member is absent;
	 * NULL: the cell is null. */
	const char *path, *otherwise;
	/* Computes the cell if path is NULL; a result of NULL means a cell that is null. */
	json_t *(*cell)(const json_t *obj, int64_t wall_ms);
};
/* Returns the columns of a built-in kind; the array ends with a column whose name is NULL. */
const struct column *table_columns(const struct resource *r);

#endif
