/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bisect/search.h"

#include "sentinel/base/cleanup.h"
#include "sentinel/base/text.h"

static bool sides_agree(const struct commit_graph *graph, const struct search_evidence *evidence,
			size_t culprit)
{
	for (size_t i = 0; i < evidence->same_count; i++)
		if (commit_graph_contains(graph, evidence->same[i][0], culprit) !=
		    commit_graph_contains(graph, evidence->same[i][1], culprit))
			return false;
	return true;
}

size_t search_candidates(const struct commit_graph *graph, const struct search_evidence *evidence,
			 bool *ret_candidate)
{
	size_t last = commit_graph_count(graph) - 1;
	size_t count = 0;
	for (size_t commit = 0; commit <= last; commit++) {
		bool possible = !evidence->prior || evidence->prior[commit] > 0;
		ret_candidate[commit] = commit > 0 && !evidence->excluded[commit] && possible &&
					commit_graph_contains(graph, last, commit) &&
					sides_agree(graph, evidence, commit);
		count += ret_candidate[commit];
	}
	return count;
}

void search_images(const struct commit_graph *graph, const struct search_evidence *evidence,
		   size_t *ret_image)
{
	size_t count = commit_graph_count(graph);
	for (size_t commit = 0; commit < count; commit++)
		ret_image[commit] = commit;
	for (size_t i = 0; i < evidence->same_count; i++) {
		size_t a = ret_image[evidence->same[i][0]];
		size_t b = ret_image[evidence->same[i][1]];
		size_t from = a > b ? a : b;
		size_t to = a > b ? b : a;
		for (size_t commit = from; commit < count && from != to; commit++)
			if (ret_image[commit] == from)
				ret_image[commit] = to;
	}
}
