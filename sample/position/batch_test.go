package position_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/keyhash"
	"github.com/keyheat/keyheat/sample/position"
)

// TestBatchFindsAsOneByOne: whatever keys share a batch, and came before them, each has the
// position that it has alone.
func TestBatchFindsAsOneByOne(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(28, 1))
	keys := []sample.Key{
		{}, {Type: "SN", Text: "a#1"}, {Type: sample.TypeNumber, Text: "no number"}, {Type: sample.TypeBinary, Text: "no base64!"},
		sample.KeyString(keyhash.New([]byte("0123456789abcdef")).Hide("S", "jane")),
	}
	for _, v := range vectors(t) {
		keys = append(keys, sample.Key{Type: v.Type, Text: v.Text})
	}
	for length := range 130 {
		keys = append(keys, sample.KeyString(strings.Repeat("é#k7", length)[:length]), sample.Key{Type: sample.TypeNumber, Text: fmt.Sprint(length * 977)})
	}
	var b position.Batch
	for range 2_000 {
		var want []position.Position
		for n := random.IntN(position.BatchSize + 1); b.Len() < n; {
			k := keys[random.IntN(len(keys))]
			at, known := position.Find(k)
			if b.Add(k) != known {
				t.Fatalf("%s %q: known is %v alone", k.Type, k.Text, known)
			}
			if known {
				want = append(want, at)
			}
		}
		if random.IntN(10) == 0 {
			b.Clear()
			want = nil
		}
		if got := b.Find(); fmt.Sprint(got) != fmt.Sprint(want) || b.Len() != 0 {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
}

// TestBatchWithoutVectors repeats it as on a processor without AVX2.
func TestBatchWithoutVectors(t *testing.T) {
	t.Parallel()
	again := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestBatchFindsAsOneByOne$", "-test.v") //nolint:gosec // this test
	again.Env = append(os.Environ(), "GODEBUG=cpu.avx2=off")
	if out, err := again.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: TestBatchFindsAsOneByOne") {
		t.Errorf("%v\n%s", err, out)
	}
}

func BenchmarkBatch(b *testing.B) {
	var batch position.Batch
	key := sample.KeyString("customer#1234567")
	for b.Loop() {
		if batch.Add(key); batch.Len() == position.BatchSize {
			batch.Find()
		}
	}
}
