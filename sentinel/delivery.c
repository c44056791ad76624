/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/mail.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netdb.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <libesmtp.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/clock.h"
#include "sentinel/base/text.h"

/* How long a server may take to say goodbye once every answer is known. */
static const double farewell_seconds = 3;

/* libesmtp reports these neither as a status nor as an error number. */
static const struct {
	int event;
	const char *text;
} tls_faults[] = {
	{SMTP_EV_EXTNA_STARTTLS, "the server does not offer STARTTLS"},
	{SMTP_EV_WEAK_CIPHER, "the server's cipher is too weak"},
	{SMTP_EV_INVALID_PEER_CERTIFICATE, "the server's certificate is not valid"},
	{SMTP_EV_NO_PEER_CERTIFICATE, "the server shows no certificate"},
	{SMTP_EV_WRONG_PEER_CERTIFICATE, "the server's certificate is for another host"},
};

struct session {
	const struct policy_mail *policy;
	char *server; /* HOST:PORT */
	char *sender;
	const char *const *recipients;
	size_t count;
	const char *content;
	size_t length;
	struct delivery *deliveries;
	/* In the child only. */
	smtp_message_t message;
	smtp_recipient_t *handles; /* NULL: left out */
	char complaint[256];       /* the last 4xx or 5xx line, whatever it answered */
	const char *tls_fault;
	bool given; /* the content, to libesmtp */
	int report_fd;
};

static void session_free(struct session *session)
{
	free(session->server);
	free(session->sender);
	free(session->deliveries);
}

static void set_text(char text[static 256], const char *foreign)
{
	auto_free char *clean = text_one_line(foreign, 255);
	size_t length = strlen(clean);
	while (length && clean[length - 1] == ' ')
		length--;
	memcpy(text, clean, length);
	text[length] = '\0';
}

static int parse_server(const char *url, char **ret_server, struct error *err)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-";
	const char *host = text_starts_with(url, "smtp://") ? url + strlen("smtp://") : "";
	size_t host_length = strspn(host, letters);
	const char *port = host[host_length] == ':' ? host + host_length + 1 : "25";
	size_t port_length = strspn(port, "0123456789");
	long number = port_length && port_length <= 5 ? strtol(port, NULL, 10) : 0;
	const char *rest = host[host_length] == ':' ? port + port_length : host + host_length;
	const char *fault = NULL;
	if (!host_length || host_length > 253 || number < 1 || number > 65535 ||
	    (*rest && strcmp(rest, "/") != 0))
		fault = "must be smtp://HOST:PORT, the port from 1 to 65535";
	if (host[0] == '[')
		fault = "IPv6 addresses are not supported; give a name";
	if (text_starts_with(url, "smtps://"))
		fault = "TLS from the first byte is not supported; use smtp:// with security = "
			"starttls";
	auto_free char *shown = text_one_line(url, 100);
	if (fault)
		return error_set(err, ERROR_USAGE, "mail server \"%s\": %s", shown, fault);
	*ret_server = text_format("%.*s:%ld", (int)host_length, host, number);
	return 0;
}

static void explain(const struct session *session, char text[static 256])
{
	char buffer[128];
	const char *reason = session->tls_fault;
	if (!reason && smtp_errno() == SMTP_ERR_CLIENT_ERROR)
		reason = "TLS failed; its certificate must be valid and from an authority that "
			 "this host trusts";
	if (!reason && smtp_errno())
		reason = smtp_strerror(smtp_errno(), buffer, sizeof(buffer));
	auto_free char *words =
		text_format("%s: %s%s%s", session->server, reason ? reason : "session ended early",
			    session->complaint[0] ? "; it said: " : "", session->complaint);
	set_text(text, words);
}

/* The first status of the chain that is not 2xx decides. The recipient's stands before the
   message's: without any accepted recipient that one is a mere consequence. */
static void judge(const struct session *session, smtp_recipient_t recipient,
		  struct delivery *ret_delivery)
{
	const smtp_status_t *chain[] = {
		smtp_reverse_path_status(session->message),
		smtp_recipient_status(recipient),
		smtp_message_transfer_status(session->message),
	};
	const smtp_status_t *status = NULL;
	*ret_delivery = (struct delivery){.result = DELIVERY_ACCEPTED};
	for (size_t i = 0; i < array_length(chain); i++) {
		status = chain[i];
		if (status && status->code / 100 == 2)
			continue;
		ret_delivery->result =
			status && status->code / 100 == 5 ? DELIVERY_REFUSED : DELIVERY_RETRY;
		break;
	}
	bool answered =
		status && (ret_delivery->result != DELIVERY_RETRY || status->code / 100 == 4);
	ret_delivery->code = answered ? status->code : 0;
	if (answered)
		set_text(ret_delivery->text, status->text ? status->text : "");
	else
		explain(session, ret_delivery->text);
}

static void report(struct session *session)
{
	for (size_t i = 0; i < session->count; i++)
		if (session->handles[i])
			judge(session, session->handles[i], &session->deliveries[i]);
	const char *bytes = (const char *)session->deliveries;
	size_t left = session->count * sizeof(*session->deliveries);
	while (left) {
		ssize_t written = write(session->report_fd, bytes, left);
		if (written < 0)
			_exit(1);
		bytes += written;
		left -= (size_t)written;
	}
}

static const char *give_content(void **context, int *length, void *argument)
{
	struct session *session = argument;
	(void)context;
	if (!length) {
		session->given = false;
		return NULL;
	}
	*length = session->given ? 0 : (int)session->length;
	session->given = true;
	return session->content;
}

/* The answer is reported the moment it is known: a server that hangs at QUIT must not turn an
   accepted message into one that is sent again. */
static void note_event(smtp_session_t handle, int event, void *argument, ...)
{
	struct session *session = argument;
	(void)handle;
	if (event == SMTP_EV_MESSAGESENT)
		report(session);
	for (size_t i = 0; i < array_length(tls_faults); i++)
		if (tls_faults[i].event == event)
			session->tls_fault = tls_faults[i].text;
}

static void note_complaint(const char *bytes, int length, int writing, void *argument)
{
	struct session *session = argument;
	if (writing || length <= 0 || (bytes[0] != '4' && bytes[0] != '5'))
		return;
	auto_free char *line = strndup(bytes, (size_t)length < 256 ? (size_t)length : 255);
	if (line) {
		line[strcspn(line, "\r\n")] = '\0';
		set_text(session->complaint, line);
	}
}

static bool require_tls(smtp_session_t handle)
{
	/*
	 * A context of our own: libesmtp's is freed twice, and looks for its own store of CAs. Not
	 * TLS 1.3: when its session tickets arrive before our EHLO is written, libesmtp 1.1 waits
	 * for more to read and never writes.
	 */
	SSL_CTX *context = SSL_CTX_new(TLS_client_method());
	if (!context || !SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) ||
	    !SSL_CTX_set_max_proto_version(context, TLS1_2_VERSION) ||
	    !SSL_CTX_set_default_verify_paths(context))
		return false;
	SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
	return smtp_starttls_enable(handle, Starttls_REQUIRED) &&
	       smtp_starttls_set_ctx(handle, context);
}

static bool set_up(struct session *session, smtp_session_t handle)
{
	static const int timeouts[] = {Timeout_GREETING, Timeout_ENVELOPE, Timeout_DATA,
				       Timeout_TRANSFER, Timeout_DATA2};
	session->message = handle ? smtp_add_message(handle) : NULL;
	if (!session->message || !smtp_set_server(handle, session->server) ||
	    !smtp_set_reverse_path(session->message, session->sender) ||
	    !smtp_set_messagecb(session->message, give_content, session) ||
	    !smtp_set_eventcb(handle, note_event, session) ||
	    !smtp_set_monitorcb(handle, note_complaint, session, 0))
		return false;
	for (size_t i = 0; i < array_length(timeouts); i++)
		smtp_set_timeout(handle, timeouts[i] | Timeout_OVERRIDE_RFC2822_MINIMUM,
				 (long)session->policy->timeout_seconds * 1000);
	for (size_t i = 0; i < session->count; i++)
		if (session->deliveries[i].result != DELIVERY_REFUSED &&
		    !(session->handles[i] =
			      smtp_add_recipient(session->message, session->recipients[i])))
			return false;
	if (strcmp(session->policy->security, "starttls") == 0)
		return require_tls(handle);
	return smtp_starttls_enable(handle, Starttls_DISABLED);
}

/* libesmtp keeps global state, has no total time limit, and its faults end the process: all that
   stays in here. */
static _Noreturn void run_child(struct session *session, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	/* The operator's Ctrl-C reaches the parent; a message half sent is better finished. */
	static const int ignored[] = {SIGPIPE, SIGINT, SIGTERM, SIGHUP};
	for (size_t i = 0; i < array_length(ignored); i++)
		signal(ignored[i], SIG_IGN);
	session->handles = memory_array(session->count, sizeof(*session->handles));
	smtp_session_t handle = smtp_create_session();
	if (set_up(session, handle)) {
		smtp_start_session(handle);
		report(session);
	}
	_exit(0);
}

/* Reports until the child ends or its time is up; each replaces the one before. */
static size_t read_reports(int fd, double timeout_seconds, size_t report_size, struct text *reports)
{
	double deadline = clock_monotonic_seconds() + timeout_seconds;
	size_t known = 0;
	for (;;) {
		double left = deadline - clock_monotonic_seconds();
		struct pollfd polled = {fd, POLLIN, 0};
		if (left <= 0)
			return known;
		if (poll(&polled, 1, (int)(left * 1000) + 1) <= 0)
			continue;
		char buffer[4096];
		ssize_t got = read(fd, buffer, sizeof(buffer));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return known;
		text_append_bytes(reports, buffer, (size_t)got);
		double farewell = clock_monotonic_seconds() + farewell_seconds;
		if (!known && reports->length >= report_size && farewell < deadline)
			deadline = farewell;
		known = reports->length / report_size;
	}
}

static void describe_silence(const struct session *session, int status, struct delivery *delivery)
{
	bool timed_out = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
	auto_free char *words = timed_out
					? text_format("%s: no end within %lld s", session->server,
						      (long long)session->policy->timeout_seconds)
					: text_format("%s: the session broke down (wait status %d)",
						      session->server, status);
	set_text(delivery->text, words);
}

static int run_session(struct session *session, struct error *err)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_errno(err, ERROR_SYSTEM, "cannot make a pipe for mail");
	auto_close int read_end = ends[0];
	pid_t parent = getpid();
	pid_t pid = fork();
	if (pid == 0) {
		session->report_fd = ends[1];
		run_child(session, parent);
	}
	close(ends[1]);
	if (pid < 0)
		return error_errno(err, ERROR_SYSTEM, "cannot fork for mail");
	size_t size = session->count * sizeof(*session->deliveries);
	auto_text struct text reports = {0};
	size_t known =
		read_reports(read_end, (double)session->policy->timeout_seconds, size, &reports);
	kill(pid, SIGKILL);
	int status = 0;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	if (known)
		memcpy(session->deliveries, reports.data + (known - 1) * size, size);
	for (size_t i = 0; i < session->count && !known; i++)
		if (session->deliveries[i].result == DELIVERY_RETRY)
			describe_silence(session, status, &session->deliveries[i]);
	return 0;
}

int mail_deliver(const struct policy_mail *policy, const char *const *recipients,
		 size_t recipient_count, const char *content, size_t length,
		 struct delivery *ret_deliveries, struct error *err)
{
	auto_cleanup(session_free) struct session session = {
		.policy = policy,
		.recipients = recipients,
		.count = recipient_count,
		.content = content,
		.length = length,
		.deliveries = memory_array(recipient_count, sizeof(struct delivery)),
	};
	size_t valid = 0;
	if (length > INT_MAX)
		return error_set(err, ERROR_USAGE, "a mail of %zu bytes is too long", length);
	if (parse_server(policy->server, &session.server, err) < 0 ||
	    mail_address(policy->from, &session.sender, err) < 0)
		return -1;
	for (size_t i = 0; i < recipient_count; i++) {
		struct error fault = {0};
		bool fine = mail_check_address(recipients[i], &fault) == 0;
		session.deliveries[i].result = fine ? DELIVERY_RETRY : DELIVERY_REFUSED;
		set_text(session.deliveries[i].text, fault.message);
		valid += fine;
	}
	if (valid && run_session(&session, err) < 0)
		return -1;
	memcpy(ret_deliveries, session.deliveries, recipient_count * sizeof(*ret_deliveries));
	return 0;
}

/* Waits for the server's first words. */
static bool greets(int fd, double timeout_seconds)
{
	char greeting[4] = "";
	struct pollfd polled = {fd, POLLIN, 0};
	return poll(&polled, 1, (int)(timeout_seconds * 1000)) > 0 &&
	       read(fd, greeting, sizeof(greeting) - 1) == 3 && strcmp(greeting, "220") == 0;
}

static bool answers(const struct addrinfo *address, double timeout_seconds)
{
	auto_close int fd =
		socket(address->ai_family, address->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return false;
	struct pollfd polled = {fd, POLLOUT, 0};
	if (connect(fd, address->ai_addr, address->ai_addrlen) < 0 &&
	    (errno != EINPROGRESS || poll(&polled, 1, (int)(timeout_seconds * 1000)) <= 0))
		return false;
	return greets(fd, timeout_seconds);
}

int mail_probe(const struct policy_mail *policy, struct error *err)
{
	auto_free char *server = NULL;
	if (parse_server(policy->server, &server, err) < 0)
		return -1;
	char *port = strrchr(server, ':');
	*port++ = '\0';
	struct addrinfo wanted = {.ai_socktype = SOCK_STREAM};
	struct addrinfo *addresses;
	int fault = getaddrinfo(server, port, &wanted, &addresses);
	if (fault)
		return error_set(err, ERROR_PEER, "mail server %s: %s", server,
				 gai_strerror(fault));
	bool answered = false;
	for (const struct addrinfo *address = addresses; address && !answered;
	     address = address->ai_next)
		answered = answers(address, (double)policy->timeout_seconds);
	freeaddrinfo(addresses);
	if (!answered)
		return error_set(err, ERROR_PEER, "mail server %s, port %s, does not answer",
				 server, port);
	return 0;
}
