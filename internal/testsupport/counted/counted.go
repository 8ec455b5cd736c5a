// Package counted tells what collectors have stored. It is for tests only.
package counted

import (
	"testing"

	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

// Requests returns how many requests the deltas of a store have.
func Requests(t *testing.T, st *store.Store) (n int64) {
	t.Helper()
	snap, err := st.Read(t.Context(), nil, store.ReadLimit{Deltas: 1 << 30, Bytes: 1 << 30})
	must.Succeed(t, err)
	for _, row := range snap.Deltas {
		var d sketch.Delta
		must.Succeed(t, d.UnmarshalBinary(row.Body))
		for _, w := range d.Windows {
			n += w.Total.Requests
		}
	}
	return n
}
