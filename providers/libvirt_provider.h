#ifndef PROVIDERS_LIBVIRT_PROVIDER_H
#define PROVIDERS_LIBVIRT_PROVIDER_H

/* libvirt_provider: settings of Provider type libvirt (provider_spec.libvirt). */

/* One libvirt host, reached through the helper process drover-libvirt. */
struct provider_libvirt {
	/* uri: URI of the libvirt host. pool: name of the storage pool for boot media and new
	 * drives. */
	const char *uri, *pool;
	/* Path of the program drover-libvirt; NULL: not installed */
	const char *helper;
	/* URIs of the libvirt hosts that drover may open, compared byte by byte. NULL-terminated;
	 * NULL: none. */
	const char *const *allowed;
};

#endif
