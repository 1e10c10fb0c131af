#include "providers/ec2/post.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"

void ec2_post_sign(struct ec2_post *p, const struct sigv4_credentials *keys, struct http_call *call)
{
	const struct http_header signed_headers[] = {{"Host", p->host},
						     {"Content-Type", call->content_type},
						     {"X-Amz-Target", p->target}};
	struct sigv4_request r = {.method = "POST",
				  .path = "/",
				  .headers = signed_headers,
				  .nheaders = p->target ? 3 : 2,
				  .body = call->body,
				  .body_len = call->body_len,
				  .region = p->region,
				  .service = p->service,
				  .at = p->at};

	free(p->authorization);
	p->authorization = sigv4_authorization(&r, keys);
	p->headers[0] = (struct http_header){"X-Amz-Date", sigv4_date(p->date, r.at)};
	p->headers[1] = (struct http_header){"Authorization", p->authorization};
	call->method = "POST";
	call->path = "/";
	call->headers = p->headers;
	p->headers[2] = signed_headers[2];
	call->nheaders = p->target ? 3 : 2;
	call->secret_header = "X-Amz-Security-Token";
	call->secret_value = keys->session_token;
}

void ec2_post_done(struct ec2_post *p)
{
	free(p->authorization);
	p->authorization = NULL;
}

char *ec2_post_host(const char *url)
{
	const char *host = strstr(url, "://") + 3;

	return mem_strndup(host, strcspn(host, "/"));
}

int64_t ec2_post_ahead(const struct http_reply *r, int64_t of)
{
	const char *text = http_reply_header(r, "Date");
	int64_t date;

	return text && http_date(text, &date) ? date - of : 0;
}
