#ifndef TESTS_CONTRACT_CLIENT_KEEPER_H
#define TESTS_CONTRACT_CLIENT_KEEPER_H

#include "kube/config.h"

/*
 * keeper: starts and kills the API server against which drover's client is tested.
 *
 * If the variables DROVER_CLIENT_KUBECONFIG and DROVER_CLIENT_CONTROL are set, the caller of the
 * program provides the server. The second variable names a file descriptor. One byte written to it
 * asks the caller to kill the server (SIGKILL) and to restart it with the same state. One byte read
 * from it means that the server answers again. Without these variables, a child process does the
 * same with an embedded server in a temporary directory.
 */
struct keeper;
/* True if the caller of the program provides the server. */
bool keeper_is_given(void);
/* Returns a new keeper with a running server. Forks, so call it before the first thread is
 * started. */
struct keeper *keeper_new(void);
void keeper_free(struct keeper *k);
const struct kube_config *keeper_config(const struct keeper *k);
/* Kills and restarts the server; blocks until the server answers again. */
void keeper_restart_server(struct keeper *k);

#endif
