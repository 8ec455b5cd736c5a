package keyheatjson_test

import (
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/keyheatjson"
)

// recorder is a handler that keeps samples.
type recorder struct {
	records []sample.Record
	bad     []badSample
}

type badSample struct {
	Reason  sample.RejectReason
	Excerpt string
}

func (k *recorder) Record(r *sample.Record) { k.records = append(k.records, r.Clone()) }

func (k *recorder) Bad(reason sample.RejectReason, excerpt []byte) {
	k.bad = append(k.bad, badSample{reason, string(excerpt)})
}

// decode returns the samples of one message.
func decode(message string, at int64) *recorder {
	k := &recorder{}
	keyheatjson.NewDecoder().Decode([]byte(message), at, k)
	return k
}
