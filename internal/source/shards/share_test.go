package shards_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/keyheat/keyheat/internal/source/shards"
	"github.com/keyheat/keyheat/internal/source/shards/streams"
	"github.com/keyheat/keyheat/store"
)

// owned parses shards from "owner owner -", where - is a free shard.
func owned(text string) (all []store.Shard) {
	for i, owner := range strings.Fields(text) {
		all = append(all, store.Shard{Name: fmt.Sprintf("s%02d", i), Owner: strings.Trim(owner, "-")})
	}
	return all
}

func TestSharesOfOneRound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		story, shards, members string
		keep, take             string
	}{
		{"alone it takes everything", "- - -", "a", "", "s00 s01 s02"},
		{"what it has it requests again, in case it does not read it", "a a -", "a", "s00 s01", "s00 s01 s02"},
		{"of two the first takes the odd one", "- - -", "a b", "", "s00 s01"},
		{"and leaves the rest to the other", "b - -", "a b", "", "s01 s02"},
		{"one more than its share it keeps", "a a a b b -", "a b c", "s00 s01 s02", "s00 s01 s02"},
		{"two more it gives up", "a a a a - -", "a b c", "s00 s01", ""},
		{"nobody is robbed", "b b b b", "a b", "", ""},
		{"more members than shards", "b -", "0 1 a b", "", ""},
		{"no member, not even itself", "a -", "b", "s00", "s00"},
	} {
		keep, take := shards.Share(owned(c.shards), "a", strings.Fields(c.members))
		if strings.Join(keep, " ") != c.keep || strings.Join(take, " ") != c.take {
			t.Errorf("%s: keeps %v and takes %v", c.story, keep, take)
		}
	}
}

// TestSharesComeToAgree: from any owners, after some rounds one member reads each shard,
// and no member has many more than another.
func TestSharesComeToAgree(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var members []string
		for i := range rapid.IntRange(1, 8).Draw(rt, "members") {
			members = append(members, fmt.Sprint("m", i))
		}
		owners := append([]string{""}, members...)
		all := make([]store.Shard, rapid.IntRange(0, 60).Draw(rt, "shards"))
		for i := range all {
			all[i] = store.Shard{Name: fmt.Sprintf("s%02d", i), Owner: rapid.SampledFrom(owners).Draw(rt, "owner")}
		}
		for range 4 {
			for _, me := range members {
				keep, take := shards.Share(all, me, members)
				for i, h := range all {
					switch {
					case h.Owner == me && !slices.Contains(keep, h.Name):
						all[i].Owner = ""
					case h.Owner == "" && slices.Contains(take, h.Name):
						all[i].Owner = me
					}
				}
			}
		}
		counts := map[string]int{}
		for _, h := range all {
			counts[h.Owner]++
		}
		quota := len(all) / len(members)
		for _, m := range members {
			if n := counts[m]; n > quota+1+max(1, (quota+1)/10) {
				rt.Errorf("%s has %d of %d shards", m, n, len(all))
			}
		}
		if counts[""] > 0 {
			rt.Errorf("%d shards are nobody's", counts[""])
		}
	})
}

// TestReadableShards lists the shards that may be read now.
func TestReadableShards(t *testing.T) {
	t.Parallel()
	arn := func(table, label string) string { return "arn:aws:dynamodb:r:1:table/" + table + "/stream/" + label }
	open := []store.Shard{
		{Name: "a/1/x", Stream: arn("a", "2026-01-01T00:00:00.000"), Ready: true},
		{Name: "a/1/y", Stream: arn("a", "2026-01-01T00:00:00.000")},              // waits for its parent
		{Name: "a/2/z", Stream: arn("a", "2026-02-01T00:00:00.000"), Ready: true}, // waits for the older stream
		{Name: "b/3/w", Stream: arn("b", "2026-03-01T00:00:00.000"), Ready: true},
	}
	var names []string
	for _, h := range shards.Readable(open, streams.Log{}) {
		names = append(names, h.Name)
	}
	if !slices.Equal(names, []string{"a/1/x", "b/3/w"}) {
		t.Errorf("readable are %v", names)
	}
}

func TestConfigIsChecked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		config shards.Config
		fault  string
	}{
		{shards.Config{Tables: []string{"orders", "b-c.d_e"}}, ""},
		{shards.Config{}, "no table: name at least one"},
		{shards.Config{Tables: []string{"orders", "orders"}}, "a table is named twice"},
		{shards.Config{Tables: []string{"arn:aws:dynamodb:r:1:table/a"}}, "write its name alone"},
		{shards.Config{Tables: []string{"ab"}}, "3 to 255 letters"},
	} {
		err := c.config.Validate()
		if c.fault == "" && err != nil || c.fault != "" && (err == nil || !strings.Contains(err.Error(), c.fault)) {
			t.Errorf("%+v: %v, want %q", c.config.Tables, err, c.fault)
		}
	}
}
