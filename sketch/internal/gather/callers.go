package gather

import (
	"github.com/zeebo/xxh3"

	"github.com/keyheat/keyheat/sample"
)

// Callers gather the callers that requests without a key named, by table number.
type Callers map[uint16]*TableCallers

// TableCallers are the weights of the callers' writes and reads.
type TableCallers struct{ Writers, Readers HeavyTexts[struct{}] }

// Add counts a record. A table keeps at most `most` callers of each kind.
func (c Callers) Add(table uint16, seed uint64, r *sample.Record, most int) {
	t := c[table]
	if t == nil {
		t = &TableCallers{Writers: HeavyTexts[struct{}]{Most: most}, Readers: HeavyTexts[struct{}]{Most: most}}
		c[table] = t
	}
	read, write := r.Load()
	hash := xxh3.HashStringSeed(r.Caller, seed)
	t.Writers.Add(hash, r.Caller, uint64(write))
	t.Readers.Add(hash, r.Caller, uint64(read))
}
