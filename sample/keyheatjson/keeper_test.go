package keyheatjson_test

import (
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/keyheatjson"
)

// keeper is a handler that keeps what it is told.
type keeper struct {
	records []sample.Record
	bad     []badSample
}

type badSample struct {
	Reason  sample.Reason
	Excerpt string
}

func (k *keeper) Record(r *sample.Record) { k.records = append(k.records, r.Clone()) }

func (k *keeper) Bad(reason sample.Reason, excerpt []byte) {
	k.bad = append(k.bad, badSample{reason, string(excerpt)})
}

// decode is what one message holds.
func decode(message string, at int64) *keeper {
	k := &keeper{}
	keyheatjson.NewDecoder().Decode([]byte(message), at, k)
	return k
}
