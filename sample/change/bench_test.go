package change_test

import (
	"strings"
	"testing"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/change"
)

// counter is a handler that only counts.
type counter struct{ records, bad int }

func (t *counter) Record(*sample.Record)           { t.records++ }
func (t *counter) Bad(sample.RejectReason, []byte) { t.bad++ }

// BenchmarkDecode reads an update of an item of 0.5 KB, with one index.
func BenchmarkDecode(b *testing.B) {
	image := strings.Replace(sized(512), "{", `{"n":{"N":"1"},"m":{"M":{"a":{"L":[{"BOOL":true}]}}},`, 1)
	message := []byte(record("MODIFY", `{"id":{"S":"1"}}`, image, strings.Replace(image, `"1"},"m"`, `"2"},"m"`, 1)))
	d := change.NewDecoder(sample.Schemas{"orders": {Indexes: map[string]sample.IndexSchema{"by-date": {KeySchema: sample.Keys("n")}}}})
	t := &counter{}
	b.SetBytes(int64(len(message)))
	b.ReportAllocs()
	for b.Loop() {
		d.Decode(message, 0, t)
	}
	if t.bad > 0 || t.records != 3*b.N {
		b.Fatalf("%d samples of %d records, %d bad", t.records, b.N, t.bad)
	}
}

// Broken lines must not be read again and again: a megabyte of them would then be hundreds
// of gigabytes, and this test would not end.
func TestHostileMessagesTakeLinearTime(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"{\n", "[\n", "[{\n", "{\"a\":\"\n", "{[]\n", "[1,\n", "\"\n", "{\"Records\":[\n", "{}}\n", "7\n"} {
		k := &counter{}
		change.NewDecoder(nil).Decode([]byte(strings.Repeat(line, 1<<20/len(line))), 0, k)
		if k.bad == 0 {
			t.Errorf("%q again and again has none that is bad", line)
		}
	}
}
