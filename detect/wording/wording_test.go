package wording_test

import (
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/wording"
)

// TestKeysAreOnlyRead: whoever writes keys cannot steer a terminal, a page's
// direction of text, or what stands beside them.
func TestKeysAreOnlyRead(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{
		"merchant#7": "merchant#7", "": "", "naïve 鍵 🔥": "naïve 鍵 🔥", `say "hi"`: `say "hi"`,
		"a\x1b[2Jb": `a\x1b[2Jb`, "a\u009b2Jb": `a\u009b2Jb`, "a\x1b]8;;http://x\x07b": `a\x1b]8;;http://x\ab`,
		"a\nb\tc\r": `a\nb\tc\r`, "a\u202eb": `a\u202eb`, "a\u2066b": `a\u2066b`, "a\xffb": `a\xffb`, "a\x00b": `a\x00b`, `a\b`: `a\\b`,
	} {
		if got := wording.Printable(key); got != want {
			t.Errorf("%q is written as %q, want %q", key, got, want)
		}
		if got := wording.Quote(key); got != "“"+want+"”" {
			t.Errorf("%q is quoted as %q", key, got)
		}
	}
}

// TestLeaves: equal shards are not parts of a partition, of which one is the fullest.
func TestLeaves(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]detect.Step{
		"550 WCU a shard, 55% of the limit":               {Action: detect.ActionShard, Effort: detect.EffortKeys, After: detect.NewAfter(detect.HotKeyWrite, 550, 550)},
		"550 WCU a part, 55% of the limit":                {Action: detect.ActionRename, Effort: detect.EffortCode, After: detect.NewAfter(detect.HotKeyWrite, 550, 550)},
		"500 to 700 WCU a shard, 50% to 70% of the limit": {Action: detect.ActionShard, Effort: detect.EffortKeys, After: detect.NewAfter(detect.HotKeyWrite, 500, 700)},
		"7.2 WCU on the fullest key, 0.7% of the limit; what a partition has depends on how many keys share it": {Action: detect.ActionShuffle, Effort: detect.EffortSetting, After: detect.NewAfter(detect.HotKeyWrite, 7.2, 7.2)},
		"550 WCU on average on the fullest part, 55% of the limit":                                              {Action: detect.ActionWait, Effort: detect.EffortNone, After: detect.NewAfter(detect.HotKeyWrite, 550, 550)},
		"cannot be proven from the samples: that is not known":                                                  {Action: detect.ActionShard, Effort: detect.EffortKeys, Basis: "that is not known"},
	} {
		if got := wording.Leaves(&s); got != want {
			t.Errorf("it leaves %q, want %q", got, want)
		}
	}
}
