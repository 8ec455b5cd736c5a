package files_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/keyheat/keyheat/internal/source/files"
)

// FuzzSplit cuts any text: it must end, move forwards, and never hand out more
// than a buffer. The buffer is small enough that megabytes are not needed.
func FuzzSplit(f *testing.F) {
	for _, seed := range []string{
		"{\"n\":1}\n{\"n\":2}\n", `[{"n":1},{"n":2}]`, "{\n\"n\":1\n}\n{\n\"n\":2\n}", `{"Records":[{"n":1}]}}`, "[[],[\n", ",{}]", "\ufeff[]\n[", "\"", `{"a":"\`, "]\n}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		next := files.Split(bytes.NewReader(text))
		last := int64(0)
		for {
			m, at, err := next()
			if errors.Is(err, io.EOF) {
				if at > int64(len(text)) {
					t.Fatalf("ended at %d of %d", at, len(text))
				}
				return
			}
			if err != nil || at <= last && m.Fault == "" || len(m.Value) == 0 || len(m.Value) > files.MaxSample {
				t.Fatalf("message of %d bytes, position %d after %d: %v", len(m.Value), at, last, err)
			}
			last = at
		}
	})
}
