#ifndef TESTS_CONTRACT_CLIENT_KEEPER_H
#define TESTS_CONTRACT_CLIENT_KEEPER_H

#include "kube/config.h"

/*
 * keeper: starts and kills the API server against which drover's client is tested.
 *
 * With the variables DROVER_CLIENT_KUBECONFIG and DROVER_CLIENT_CONTROL, the caller provides the
 * server. The second variable names a file descriptor: one byte written to it makes the caller kill
 * the server (SIGKILL) and restart it with the same state; one byte read from it means that the
 * server answers again. Without these variables, a child process does the same with an embedded
 * server in a temporary folder.
 */
struct keeper;
/* Returns true if the caller provides the server. */
bool keeper_is_given(void);
/* Forks, so call before the first thread is started. */
struct keeper *keeper_new(void);
void keeper_free(struct keeper *k);
const struct kube_config *keeper_config(const struct keeper *k);
/* Blocks until the server answers again. */
void keeper_restart_server(struct keeper *k);

#endif
