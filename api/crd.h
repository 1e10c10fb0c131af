#ifndef API_CRD_H
#define API_CRD_H

#include "base/buf.h"
#include "api/kinds.h"

/*
 * crd: prints the CustomResourceDefinitions and the reference page from the field tables of api/.
 * The printed texts are stored as deploy/crds/ and docs/reference.md; a test checks that the stored
 * texts are current.
 */
void crd_write(const struct object_kind *k, struct buf *out);
/* Prints the CustomResourceDefinitions of all kinds as one YAML stream. */
void crds_write(struct buf *out);
void crds_reference(struct buf *out);

#endif
