#include "tests/contract/fake_sqs.h"

#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>
#include "base/data/json.h"
#include "base/str.h"

#define MESSAGES_MOST 10

static void on_delete(struct fake_sqs *q, const json_t *asked)
{
	const json_t *entries = json_object_get(asked, "Entries");

	for (size_t i = 0; i < json_array_size(entries); i++) {
		const char *receipt = json_str_at(json_array_get(entries, i), "ReceiptHandle");

		for (size_t k = 0; k < json_array_size(q->messages); k++)
			if (str_eq(json_str_at(json_array_get(q->messages, k), "ReceiptHandle"),
				   receipt))
				json_array_remove(q->messages, k--);
	}
}

static void on_request(struct httpd_req *r, void *arg)
{
	struct fake_sqs *q = arg;
	size_t len;
	struct err e;
	const char *body = httpd_body(r, &len), *target = httpd_header(r, "X-Amz-Target");
	OWN_JSON asked = json_parse(body, len, &e);
	OWN_JSON reply = json_object();
	char *text;

	assert_non_null(strstr(httpd_header(r, "Authorization"),
			       "/eu-west-1/sqs/aws4_request, SignedHeaders=content-type;host;"
			       "x-amz-date;"));
	assert_non_null(strstr(httpd_header(r, "Authorization"), "x-amz-target,"));
	assert_string_equal(httpd_header(r, "Content-Type"), "application/x-amz-json-1.0");
	assert_string_equal(json_str_at(asked, "QueueUrl"), q->url);
	if (str_eq(target, "AmazonSQS.DeleteMessageBatch")) {
		on_delete(q, asked);
	} else {
		assert_string_equal(target, "AmazonSQS.ReceiveMessage");
		q->polls++;
		if (json_array_size(q->messages)) {
			json_t *some = json_array();

			for (size_t i = 0; i < MESSAGES_MOST; i++)
				json_array_append(some, json_array_get(q->messages, i));
			json_object_set_new(reply, "Messages", some);
		}
	}
	if (q->refusal) {
		json_object_set_new(reply, "message", json_string("refused"));
		json_object_set_new(reply, "__type",
				    json_sprintf("com.amazonaws.sqs#%s", q->refusal));
	}
	text = json_text(reply);
	httpd_reply_json(r, q->refusal ? 400 : 200, text);
	free(text);
}

void fake_sqs_start(struct fake_sqs *q, struct loop_group *g, const char *url)
{
	*q = (struct fake_sqs){.httpd = httpd_new(g), .messages = json_array(), .url = url};
	httpd_route(q->httpd, "POST", "/", 65536, on_request, q);
}

void fake_sqs_done(struct fake_sqs *q)
{
	httpd_free(q->httpd);
	json_decref(q->messages);
	*q = (struct fake_sqs){0};
}

void fake_sqs_put(struct fake_sqs *q, const char *body)
{
	json_array_append_new(q->messages, json_pack("{s:s, s:o}", "Body", body, "ReceiptHandle",
						     json_sprintf("receipt-%u", ++q->added)));
}

void fake_sqs_event(struct fake_sqs *q, const char *kind, const char *instance, int64_t at)
{
	char when[STR_TIME_SIZE];
	OWN_JSON o = json_pack("{s:s, s:s, s:s, s:{s:s}}", "source", "aws.ec2", "detail-type", kind,
			       "time", str_time(when, at), "detail", "instance-id", instance);
	char *text = json_text(o);

	fake_sqs_put(q, text);
	free(text);
}
