package rollup_test

import (
	"testing"

	"github.com/keyheat/keyheat/rollup"
)

// TestEachLevelIsWhole: a level has a name, words and a retention, and is made of whole
// roll-ups of the level before it, which are kept until it is over.
func TestEachLevelIsWhole(t *testing.T) {
	t.Parallel()
	for i, l := range rollup.Table {
		if l.Name == "" || l.Words == "" || l.Level.String() != l.Words {
			t.Errorf("level %d is named %q, in words %q", l.Level, l.Name, l.Words)
		}
		if keep := rollup.Retention()[int64(l.Level)]; keep < 2*l.Level.Duration() {
			t.Errorf("level %s is kept for %s", l.Name, keep)
		}
		if below := l.Level.PartLevel(); l.Level%below != 0 || i > 0 && rollup.Table[i-1].Keep < 2*l.Level.Duration() {
			t.Errorf("level %s is not made of whole roll-ups of %s", l.Name, below)
		}
	}
}
