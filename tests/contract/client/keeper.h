#ifndef TESTS_CONTRACT_CLIENT_KEEPER_H
#define TESTS_CONTRACT_CLIENT_KEEPER_H

#include "kube/config.h"

/*
 * keeper: who starts the server that drover's client is tried on, and kills it.
 *
 * With the variables DROVER_CLIENT_KUBECONFIG and DROVER_CLIENT_CONTROL the server is somebody
 * else's: the second is a descriptor to which one byte is written to have it killed (SIGKILL) and
 * started again on the same state, and from which one byte is read when it answers.  Without, a
 * process of our own does the same with an embedded server in a folder of its own.
 */
struct keeper;
/* the server is somebody else's */
bool keeper_is_given(void);
/* Forks: before the first thread. */
struct keeper *keeper_new(void);
void keeper_free(struct keeper *k);
const struct kube_config *keeper_config(const struct keeper *k);
/* blocks */
void keeper_restart_server(struct keeper *k);

#endif
