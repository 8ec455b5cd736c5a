package sketch

import (
	"testing"

	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/sketch/internal/front"
)

// Frame and Unframe let a fuzzer write contents that the checksum would hide
// from it.
func Frame(t testing.TB, contents []byte, version byte) []byte {
	w := writer{bytes: contents, version: version}
	body, err := w.frame(kindDelta)
	must.Succeed(t, err)
	return body
}

// Unframe is the inverse of Frame.
func Unframe(t testing.TB, body []byte) []byte {
	r, err := unframe(kindDelta, body)
	must.Succeed(t, err)
	return r.rest
}

// InsertHash counts a hash in registers as a shard does, and returns the registers.
func InsertHash(hashes ...uint64) []byte {
	var d front.Minute
	for _, hash := range hashes {
		d.Insert(hash)
	}
	return d.CountedRegisters()
}
