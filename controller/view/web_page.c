#include "controller/view/web_page.h"

#include <string.h>

#include "base/crypto.h"
#include "base/str.h"

/* Embeds the bytes of the file controller/view/web/NAME, through the assembler. */
#define EMBED(name_, file_)                                                                        \
	__asm__(".section .rodata\n"                                                               \
		"web_" #name_ ":\n.incbin \"controller/view/web/" file_ "\"\n"                     \
		"web_" #name_ "_end:\n.byte 0\n.previous\n");                                      \
	extern const char web_##name_[] __attribute__((visibility("hidden")));                     \
	extern const char web_##name_##_end[] __attribute__((visibility("hidden")))
EMBED(html, "index.html");
EMBED(css, "page.css");
EMBED(js, "page.js");
EMBED(icon, "icon.svg");

static const struct file {
	const char *path, *type, *text, *end;
} files[] = {
	{"/", "text/html; charset=utf-8", web_html, web_html_end},
	{"/page.css", "text/css; charset=utf-8", web_css, web_css_end},
	{"/page.js", "text/javascript; charset=utf-8", web_js, web_js_end},
	{"/icon.svg", "image/svg+xml", web_icon, web_icon_end},
};

/* Scripts, styles and requests are allowed for the page's own origin only. */
static const char policy[] =
	"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src "
	"'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
	"require-trusted-types-for 'script'";

static void on_file(struct httpd_req *q, void *arg)
{
	const struct file *f = arg;
	const size_t len = (size_t)(f->end - f->text);
	uint8_t digest[CRYPTO_SHA256];
	char tag[2 * CRYPTO_SHA256 + 3], hex[2 * CRYPTO_SHA256 + 1];

	crypto_sha256(f->text, len, digest);
	str_hex(hex, digest, sizeof(digest));
	str_format(tag, sizeof(tag), "\"%s\"", hex);
	httpd_reply_header(q, "Content-Security-Policy", policy);
	httpd_reply_header(q, "X-Content-Type-Options", "nosniff");
	httpd_reply_header(q, "Referrer-Policy", "no-referrer");
	httpd_reply_header(q, "Cache-Control", "no-cache");
	httpd_reply_header(q, "ETag", tag);
	if (str_eq(httpd_header(q, "If-None-Match"), tag))
		httpd_reply(q, 304, NULL, "", 0);
	else
		httpd_reply(q, 200, f->type, f->text, len);
}

void web_page_routes(struct httpd *d)
{
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		httpd_route(d, "GET", files[i].path, 0, on_file, (void *)&files[i]);
}
