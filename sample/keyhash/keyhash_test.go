package keyhash_test

import (
	"strings"
	"testing"

	"github.com/keyheat/keyheat/sample/keyhash"
)

// TestHashes: the value is fixed, since hashes that are stored must be found again; the
// expected one is of `printf Suser | openssl dgst -sha256 -hmac 0123456789abcdef`.
func TestHashes(t *testing.T) {
	t.Parallel()
	h := keyhash.New([]byte("0123456789abcdef"))
	first := h.Hide("S", "user")
	if first != "~88xTfnPINi2jXoatoo_v0A" || h.Hide("S", "user") != first || len(first) != keyhash.Length {
		t.Errorf("the hash of user is %s", first)
	}
	if h.Hide("N", "user") == first || keyhash.New([]byte("0123456789abcdeg")).Hide("S", "user") == first {
		t.Error("neither the kind nor the key change a hash")
	}
	for text, at := range map[string]int{
		first: 0, "user#" + first: 5, first + first: 0, "~" + first: 1, "": -1, "~": -1, "user~42": -1,
		first[:keyhash.Length-1]: -1, strings.Replace(first, first[5:6], "#", 1): -1,
	} {
		if got := keyhash.Find(text); got != at {
			t.Errorf("in %q a hash begins at %d, want %d", text, got, at)
		}
	}
}
