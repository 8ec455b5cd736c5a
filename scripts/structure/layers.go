package main

import (
	"fmt"
	"slices"
	"strings"
)

// layer is a group of packages, each with what stands below it.
type layer struct {
	name  string
	roots []string
	// either lets a parent know the packages below its path, as one that is made
	// of them. Else only a child knows its parent, which holds the vocabulary; a
	// package may know its own internal/ in any case.
	either bool
	// siblings may import each other, as far as Go allows it. Else an import
	// between packages of the layer, neither below the other's path, has to be
	// declared.
	siblings bool
}

// layers from the bottom to the top: a package imports what is below it. A
// package belongs to the layer with the longest matching root.
var layers = []layer{
	{name: "decimals", roots: []string{"sample/internal/decimal"}},
	{name: "data", roots: []string{"sample", "shardkey"}},
	{name: "sketch", roots: []string{"sketch"}},
	{name: "judgement", roots: []string{"detect"}, siblings: true},
	{name: "tools", roots: []string{
		"docs", "internal/alert/grouping", "internal/alert/routing", "internal/aws/awserror", "internal/daemon/buildinfo", "internal/settings/config", "internal/keys/erase", "internal/daemon/health", "internal/judge/heat", "internal/analyze/intake", "internal/keys/keypolicy", "store/lineage", "internal/daemon/loopback", "internal/daemon/metrics", "internal/settings/options", "internal/analyze/packed", "internal/daemon/retry", "internal/alert/silence", "internal/cli/terminal",
	}},
	{name: "store", roots: []string{"store", "migrations"}},
	{name: "adapters", roots: []string{"internal"}, either: true},
	{name: "wiring", roots: []string{"internal/cli", "internal/demo", "internal/analyze/tableinsights", "internal/analyze/tablestream"}},
	{name: "programs", roots: []string{"cmd", "deploy", "e2e", "scripts"}},
	// On top, so that nothing but tests can know it: imports of tests are free.
	{name: "test support", roots: []string{"internal/testsupport", "store/storetest"}, either: true, siblings: true},
}

// edge is an import within a layer that is allowed, and why.
type edge struct{ from, to, why string }

// declared are the imports between packages of one layer. What is not here, two
// packages of a layer share through a layer below, or cmd joins them.
var declared = []edge{
	{"sample/change", "sample/internal/frame", "stream records arrive in the frames that all AWS JSON has"},
	{"sample/keyheatjson", "sample/internal/frame", "what is bad is cut, and escapes are read, alike in every form"},
	{"sample/samplepb", "sample/internal/frame", "what is bad is cut alike in every form"},
	{"sample/kafkasink", "sample/samplepb", "the sink writes both forms"},
	{"sample/cloudtrail", "sample/internal/frame", "so do CloudTrail's events"},
	{"sample/cloudtrail", "sample/change", "an event shows an item in the same JSON as a stream record"},
	{"sample/mapped", "sample/internal/frame", "what stands in lines, arrays and wrappers is found alike in every form"},
	{"sample/mapped", "sample/keyheatjson", "what is mapped is checked as Keyheat JSON is"},
	{"sample/awssdk", "sample/keyhash", "an application may hide keys itself, in the same form"},
	{"sketch/internal/resend", "sketch/internal/heavy", "the callers who sent most are kept as all heavy texts are"},
	{"internal/keys/erase", "internal/judge/heat", "a key is taken out of roll-ups too"},
	{"internal/alert/grouping", "internal/alert/routing", "routes say what is grouped by what"},
	{"internal/alert/silence", "internal/alert/routing", "a silence chooses incidents by what routes do"},
	{"internal/analyze/intake", "internal/keys/keypolicy", "where keys are hidden, what is wrong with a line is shown without them"},
	{"internal/cli/terminal", "internal/daemon/retry", "a line is drawn again after a pause"},
	{"store", "migrations", "Migrate applies them"},
	{"internal/analyze", "internal/settings/format", "files hold samples of any form"},
	{"internal/analyze", "internal/source", "analyze reads files without a collector"},
	{"internal/analyze", "internal/source/files", "and knows the reader of files itself"},
	{"internal/analyze", "internal/report", "what is found in files is a report too"},
	{"internal/source/kafka", "internal/source/memory", "partitions share a budget of what they read"},
	{"internal/source/shards", "internal/source/memory", "shards share a budget of what they read"},
	{"internal/source/kafka/recordbatch", "internal/source/memory", "a large record is decompressed into a buffer of it"},
	{"internal/source/kafka/sharing", "internal/source/kafka/wire", "what members tell each other is of the fields of responses"},
	{"internal/collect", "internal/source", "a collector is the sink that a source fills: source holds their contract"},
	{"internal/alert/receiver", "internal/alert/notify", "notify is the contract that receivers fulfil"},
	{"internal/settings/tables", "internal/settings/format", "what is written about a table is what its decoders need"},
	{"internal/web", "internal/daemon/admin", "who adds a silence on a page is who was let in there"},
	{"internal/web/keychart", "internal/web/heatmap", "a key's chart is the row of a heatmap"},
	{"internal/web/fleet", "internal/web/heatmap", "what was not counted is known there"},
	{"internal/web/overview", "internal/web/cursor", "a list's places are written alike everywhere"},
	{"internal/web/fleet", "internal/web/cursor", "a list's places are written alike everywhere"},
	{"internal/web", "internal/report", "a stored report is rendered when somebody asks for it"},
	{"internal/judge/verdict", "internal/judge/fold", "a verdict is over folded seconds"},
}

// layerProblems reports imports that run upward, or across without being
// declared, and declarations that nothing needs.
func layerProblems(m *module) []problem {
	var all []problem
	needed := make(map[edge]bool)
	known := make(map[string]bool)
	for _, p := range m.packages {
		known[p.path] = true
		from := layerOf(p.path)
		if from < 0 {
			all = append(all, problem{p.path, "stands in no layer: add it to scripts/structure/layers.go"})
			continue
		}
		for _, imported := range p.imports {
			to := layerOf(imported)
			if i := slices.IndexFunc(declared, func(e edge) bool { return e.from == p.path && e.to == imported }); i >= 0 {
				needed[declared[i]] = true
				if from == to {
					continue
				}
			}
			if what := judge(from, to, p.path, imported); what != "" {
				all = append(all, problem{p.path, what})
			}
		}
	}
	for _, e := range declared {
		if !needed[e] && known[e.from] && known[e.to] {
			all = append(all, problem{"scripts/structure/layers.go", fmt.Sprintf("%s does not import %s: take the declaration out", e.from, e.to)})
		}
	}
	return all
}

// judge returns what is wrong with an import, empty when nothing is.
func judge(from, to int, importer, imported string) string {
	switch {
	case to > from:
		return fmt.Sprintf("imports %s: %s must not know %s above it", imported, layers[from].name, layers[to].name)
	case to < from, within(importer, imported), within(imported, importer+"/internal"):
		return ""
	case within(imported, importer) && layers[from].either:
		return ""
	case within(imported, importer):
		return fmt.Sprintf("imports %s: a package must not know those below its own path", imported)
	case layers[from].siblings:
		return ""
	}
	return fmt.Sprintf("imports %s: two of the %s must not know each other; move what they share down, or declare it in scripts/structure/layers.go", imported, layers[from].name)
}

// layerOf is the layer of a package, -1 for none.
func layerOf(path string) int {
	at, longest := -1, 0
	for i, l := range layers {
		for _, root := range l.roots {
			if within(path, root) && len(root) > longest {
				at, longest = i, len(root)
			}
		}
	}
	return at
}

// within reports whether a path is a root or below it.
func within(path, root string) bool {
	return path == root || strings.HasPrefix(path, root+"/")
}
