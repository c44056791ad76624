/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The mirror of source_tree: where it comes from, how it is made, and how it is kept fresh. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "builder/source_tree_internal.h"
#include "sentinel/base/cleanup.h"
#include "sentinel/base/clock.h"
#include "sentinel/base/file.h"
#include "sentinel/base/interrupt.h"
#include "sentinel/base/log.h"
#include "sentinel/base/text.h"

#define PROGRESS_PERIOD_SECONDS 10.0
#define ALTERNATES_LIMIT_BYTES 65536

/* The mirror is ours alone: nobody's hooks, filters or line ends, and readable by libgit2 1.5. */
static const struct {
	const char *key;
	const char *value;
} mirror_settings[] = {
	{"core.hooksPath", "/dev/null"},
	{"core.filemode", "true"},
	{"core.symlinks", "true"},
	{"core.ignorecase", "false"},
	{"core.autocrlf", "false"},
	{"core.bare", "true"},
	{"gc.auto", "0"},
	{"maintenance.auto", "false"},
	{"commitGraph.generationVersion", "1"},
};

static const char *const mirror_refspecs[] = {"+refs/heads/*:refs/heads/*",
					      "+refs/tags/*:refs/tags/*"};

static int refuse_url(const struct source_tree *tree, const char *reason, struct error *err)
{
	auto_free char *shown = text_one_line(tree->url_shown, 300);
	return error_set(err, ERROR_USAGE,
			 "tree \"%s\": url \"%s\" %s; write a path, file://, https:// or ssh://",
			 tree->name, shown, reason);
}

char *source_tree_show_url(const char *url)
{
	const char *scheme = strstr(url, "://");
	if (!scheme)
		return text_copy(url);
	const char *host = scheme + 3;
	size_t length = strcspn(host, "/");
	const char *at = memrchr(host, '@', length);
	return text_format("%.*s%s", (int)(host - url), url, at ? at + 1 : host);
}

/* Sets url_shown and, when the URL means a folder of this machine, local_path. */
static int understand_url(struct source_tree *tree, struct error *err)
{
	const char *url = tree->url;
	const char *scheme_end = strstr(url, "://");
	tree->url_shown = source_tree_show_url(url);
	for (const char *byte = url; *byte; byte++)
		if (iscntrl((unsigned char)*byte))
			return refuse_url(tree, "holds a control character", err);
	if (!url[0])
		return refuse_url(tree, "is empty", err);
	if (url[0] == '-')
		return refuse_url(tree, "starts with \"-\"", err);
	if (text_starts_with(url, "https://") || text_starts_with(url, "ssh://"))
		return 0;
	if (text_starts_with(url, "file:///")) {
		tree->local_path = text_copy(url + strlen("file://"));
		return 0;
	}
	if (scheme_end || strstr(url, "::"))
		return refuse_url(tree, "has a scheme that is not supported", err);
	/* "host:path" is git's short form of ssh. */
	if (url[strcspn(url, ":/")] != ':')
		tree->local_path = text_copy(url);
	return 0;
}

static bool looks_like_repository(const char *path)
{
	auto_free char *git = text_format("%s/.git", path);
	auto_free char *objects = text_format("%s/objects", path);
	return file_exists(git) || file_is_folder(objects);
}

static int explain_unopenable(const struct source_tree *tree, struct error *err)
{
	const char *path = tree->local_path;
	struct stat status;
	if (stat(path, &status) < 0)
		return error_errno(err, ERROR_USAGE, "tree \"%s\": url %s", tree->name, path);
	if (!looks_like_repository(path))
		return error_set(err, ERROR_USAGE, "tree \"%s\": url %s is not a git repository",
				 tree->name, path);
	if (status.st_uid != geteuid())
		return error_set(err, ERROR_USAGE,
				 "tree \"%s\": %s belongs to user %u, not to you (user %u); if you "
				 "trust it: git config --global --add safe.directory %s",
				 tree->name, path, (unsigned int)status.st_uid,
				 (unsigned int)geteuid(), path);
	return git_fault(err, ERROR_USAGE, "tree \"%s\": cannot use repository %s", tree->name,
			 path);
}

/* The folder of objects that the mirror borrows from a repository on this machine. */
static int find_local_objects(const struct source_tree *tree, char **ret_objects, struct error *err)
{
	auto_git_repository git_repository *source = NULL;
	int code = git_repository_open_ext(&source, tree->local_path, GIT_REPOSITORY_OPEN_NO_SEARCH,
					   NULL);
	if (code < 0)
		return explain_unopenable(tree, err);
	if (git_repository_is_shallow(source))
		return error_set(err, ERROR_USAGE,
				 "tree \"%s\": %s is a shallow clone, without the history that a "
				 "bisection needs; run \"git fetch --unshallow\" there",
				 tree->name, tree->local_path);
	*ret_objects = text_format("%sobjects", git_repository_commondir(source));
	return 0;
}

static int write_alternates(const struct source_tree *tree, struct error *err)
{
	auto_free char *path = text_format("%s/objects/info/alternates", tree->mirror_path);
	if (!tree->local_path) {
		if (unlink(path) < 0 && errno != ENOENT)
			return error_errno(err, ERROR_SYSTEM, "cannot remove %s", path);
		return 0;
	}
	auto_free char *objects = NULL;
	if (find_local_objects(tree, &objects, err) < 0)
		return -1;
	auto_free char *wanted = text_format("%s\n", objects);
	auto_free char *present = NULL;
	if (file_exists(path) && file_read(path, ALTERNATES_LIMIT_BYTES, &present, NULL, err) < 0)
		return -1;
	if (present && strcmp(present, wanted) == 0)
		return 0;
	return file_write_durable(path, wanted, strlen(wanted), err);
}

static int configure(git_repository *repository, struct error *err)
{
	auto_git_config git_config *config = NULL;
	int code = git_repository_config(&config, repository);
	for (size_t i = 0; code == 0 && i < array_length(mirror_settings); i++)
		code = git_config_set_string(config, mirror_settings[i].key,
					     mirror_settings[i].value);
	for (size_t i = 0; code == 0 && i < array_length(mirror_refspecs); i++)
		code = git_config_set_multivar(config, "remote.origin.fetch", "^$",
					       mirror_refspecs[i]);
	if (code < 0)
		return git_fault(err, ERROR_SYSTEM, "cannot configure the mirror");
	return 0;
}

/* Made under another name, so that a mirror that exists is complete. */
static int create_mirror(const struct source_tree *tree, struct error *err)
{
	auto_free char *fresh = text_format("%s.new", tree->mirror_path);
	auto_git_repository git_repository *repository = NULL;
	if (file_remove_tree(fresh, err) < 0)
		return -1;
	if (git_repository_init(&repository, fresh, 1) < 0)
		return git_fault(err, ERROR_SYSTEM, "cannot create %s", fresh);
	if (configure(repository, err) < 0)
		return -1;
	return file_rename_durable(fresh, tree->mirror_path, err);
}

/* The policy may have another URL or branch than last time. */
static int follow_policy(const struct source_tree *tree, struct error *err)
{
	auto_free char *head = text_format("refs/heads/%s", tree->branch);
	auto_git_config git_config *config = NULL;
	git_buf present = {0};
	int code = git_repository_config(&config, tree->repository);
	const char *url = tree->local_path ? tree->local_path : tree->url;
	bool same = code == 0 &&
		    git_config_get_string_buf(&present, config, "remote.origin.url") == 0 &&
		    strcmp(present.ptr, url) == 0;
	git_buf_dispose(&present);
	if (code == 0 && !same)
		code = git_config_set_string(config, "remote.origin.url", url);
	if (code == 0)
		code = git_repository_set_head(tree->repository, head);
	if (code < 0)
		return git_fault(err, ERROR_USAGE, "tree \"%s\": cannot follow branch \"%s\" of %s",
				 tree->name, tree->branch, tree->url_shown);
	return 0;
}

int mirror_open(struct source_tree *tree, struct error *err)
{
	if (understand_url(tree, err) < 0)
		return -1;
	if (!file_exists(tree->mirror_path)) {
		auto_free char *objects = NULL;
		if (tree->local_path && find_local_objects(tree, &objects, err) < 0)
			return -1;
		if (create_mirror(tree, err) < 0)
			return -1;
	}
	if (write_alternates(tree, err) < 0)
		return -1;
	if (git_repository_open_bare(&tree->repository, tree->mirror_path) < 0 ||
	    git_repository_set_workdir(tree->repository, tree->work_path, 0) < 0)
		return git_fault(err, ERROR_STATE,
				 "%s is damaged; remove it and it will be fetched again",
				 tree->mirror_path);
	return follow_policy(tree, err);
}

struct fetch_state {
	const struct source_tree *tree;
	double next_notice;
	bool credentials_tried;
};

static int on_sideband(const char *text, int length, void *payload)
{
	(void)text;
	(void)length;
	(void)payload;
	return interrupt_requested() ? -1 : 0;
}

static int on_transfer(const git_indexer_progress *progress, void *payload)
{
	struct fetch_state *state = payload;
	double now = clock_monotonic_seconds();
	if (now >= state->next_notice) {
		log_notice("fetching %s: %u of %u objects", state->tree->name,
			   progress->received_objects, progress->total_objects);
		state->next_notice = now + PROGRESS_PERIOD_SECONDS;
	}
	return interrupt_requested() ? -1 : 0;
}

/* Only the ssh agent is asked, once: a watchman has nobody to type a password. */
static int on_credentials(git_credential **ret_credential, const char *url, const char *user,
			  unsigned int allowed, void *payload)
{
	(void)url;
	struct fetch_state *state = payload;
	if (!(allowed & GIT_CREDENTIAL_SSH_KEY) || state->credentials_tried) {
		git_error_set_str(GIT_ERROR_NET, "the server wants credentials; only keys of a "
						 "running ssh-agent are offered");
		return GIT_EAUTH;
	}
	state->credentials_tried = true;
	return git_credential_ssh_key_from_agent(ret_credential, user ? user : "git");
}

/* Pruned before the update: a branch "a" that became "a/b" would be in the way. */
static int run_fetch(git_remote *remote, const git_fetch_options *options)
{
	int code = git_remote_connect(remote, GIT_DIRECTION_FETCH, &options->callbacks,
				      &options->proxy_opts, NULL);
	if (code == 0)
		code = git_remote_download(remote, NULL, options);
	if (code == 0)
		code = git_remote_prune(remote, &options->callbacks);
	if (code == 0)
		code = git_remote_update_tips(remote, &options->callbacks, 0,
					      GIT_REMOTE_DOWNLOAD_TAGS_NONE, NULL);
	return code;
}

int source_tree_head(struct source_tree *tree, char ret_id[static OBJECT_ID_SIZE],
		     struct error *err)
{
	/* By its full name: a tag may be called like the branch. */
	auto_free char *name = text_format("refs/heads/%s", tree->branch);
	if (source_tree_resolve(tree, name, ret_id, NULL) == 0)
		return 0;
	char other[OBJECT_ID_SIZE];
	if (source_tree_resolve(tree, tree->branch, other, err) < 0)
		return -1;
	return error_set(err, ERROR_USAGE, "\"%s\" is a tag or a commit, and not a branch",
			 tree->branch);
}

static int check_branch(struct source_tree *tree, struct error *err)
{
	char id[OBJECT_ID_SIZE];
	if (source_tree_head(tree, id, err) < 0)
		return error_prefix(err, "tree \"%s\": branch", tree->name);
	return 0;
}

int source_tree_fetch(struct source_tree *tree, struct error *err)
{
	struct fetch_state state = {
		.tree = tree, .next_notice = clock_monotonic_seconds() + PROGRESS_PERIOD_SECONDS};
	git_fetch_options options;
	git_fetch_options_init(&options, GIT_FETCH_OPTIONS_VERSION);
	options.download_tags = GIT_REMOTE_DOWNLOAD_TAGS_NONE;
	options.proxy_opts.type = GIT_PROXY_AUTO;
	options.callbacks.sideband_progress = on_sideband;
	options.callbacks.transfer_progress = on_transfer;
	options.callbacks.credentials = on_credentials;
	options.callbacks.payload = &state;
	auto_git_remote git_remote *remote = NULL;
	int code = git_remote_lookup(&remote, tree->repository, "origin");
	if (code == 0)
		code = run_fetch(remote, &options);
	if (interrupt_check(err) < 0)
		return -1;
	if (code < 0)
		return git_fault(err, ERROR_PEER, "cannot fetch %s", tree->url_shown);
	return check_branch(tree, err);
}
