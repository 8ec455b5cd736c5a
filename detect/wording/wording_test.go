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

// TestShares: a share is written with its bounds, and tells nothing where these are far apart.
func TestShares(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		part  detect.Part
		want  string
		tells bool
	}{
		{detect.Part{Low: 0.62, High: 0.71}, "62 to 71%", true},
		{detect.Part{Low: 0.25, High: 0.44}, "25 to 44%", true},
		{detect.Part{Low: 0.01, High: 0.04}, "1 to 4%", true},
		{detect.Part{Low: 0.62, High: 0.625}, "62%", true},
		{detect.Part{Low: 0.03, High: 0.22}, "3 to 22%", false},
		{detect.Part{Low: 0.001, High: 0.22}, "0 to 22%", false},
		{detect.Part{Low: 0.1, High: 1}, "10 to 100%", false},
	} {
		if got, tells := wording.Between(c.part), wording.Tells(c.part); got != c.want || tells != c.tells {
			t.Errorf("%+v is written as %q and tells %t, want %q and %t", c.part, got, tells, c.want, c.tells)
		}
	}
}

// TestMeanSizesAreRound: a mean of the requests that were looked at is not exact to the byte.
func TestMeanSizesAreRound(t *testing.T) {
	t.Parallel()
	for bytes, want := range map[float64]string{
		100: "about 100 bytes", 1023: "about 1,000 bytes", 1024: "about 1 KB", 4500: "about 4.4 KB", 267_264: "about 260 KB", 300 << 10: "about 300 KB",
	} {
		if got := wording.Size(bytes); got != want {
			t.Errorf("%g bytes are written as %q, want %q", bytes, got, want)
		}
	}
}
