#ifndef PROVIDERS_BCM_PROVIDER_H
#define PROVIDERS_BCM_PROVIDER_H

/* provider: settings of Provider type bcm (provider_spec.manager). */
struct secret;

/* The system that manages the machines of a provider: the BCM head node. */
struct provider_manager {
	/* URL of the manager, such as https://head:8081 */
	const char *endpoint;
	/* CA certificates and certificate fingerprint of the manager, as in struct
	 * http_peer_spec */
	const char *ca_pem, *pin_sha256;
	/* Client certificate. Together with key_pem it is the login, and user and password are not
	 * sent. */
	const char *cert_pem;
	const struct secret *key_pem;
	const char *user;
	const struct secret *password;
};

#endif
