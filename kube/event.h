#ifndef KUBE_EVENT_H
#define KUBE_EVENT_H

#include "base/own.h"
#include "kube/client.h"

/*
 * kube_events: writes core/v1 events of one cluster. Events may be lost, so they must never carry
 * state. Repetitions of the same object, reason and note within 10 minutes are one event, whose
 * count and lastTimestamp increase (patched at most every 30 s). At most 25 new events per object
 * and minute are written; 1,024 series are tracked. An event that cannot be written is dropped.
 */
struct kube_events;
struct kube_events *kube_events_new(struct loop_group *g, struct kube_client *c,
				    const char *controller, const char *instance);
/* Frees ev; must be called before its client is freed. */
void kube_events_free(struct kube_events *ev);
DEFINE_OWN(kube_events)

struct kube_ref {
	const char *api_version, *kind, *ns, *name, *uid;
};
/* Writes an event about the object regarding. type: "Normal" or "Warning"; reason: CamelCase;
 * action: what was tried; note: text, truncated at 1 kB. Events of cluster-scoped objects are in
 * namespace "default". */
void kube_event(struct kube_events *ev, const struct kube_ref *regarding, const char *type,
		const char *reason, const char *action, const char *note);

#endif
