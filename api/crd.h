#ifndef API_CRD_H
#define API_CRD_H

#include "base/buf.h"
#include "api/kinds.h"

/*
 * crd: prints the CustomResourceDefinitions and the reference page from the field tables of api/.
 * deploy/crds/ and docs/reference.md are this output; a test keeps them equal.
 */
void crd_write(const struct object_kind *k, struct buf *out);
/* Prints all kinds as one YAML stream. */
void crds_write(struct buf *out);
void crds_reference(struct buf *out);

#endif
