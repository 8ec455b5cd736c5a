package change_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/change"
)

// recorder is a handler that keeps samples.
type recorder struct {
	records []sample.Record
	bad     []sample.RejectReason
}

func (k *recorder) Record(r *sample.Record) { k.records = append(k.records, r.Clone()) }

func (k *recorder) Bad(reason sample.RejectReason, _ []byte) { k.bad = append(k.bad, reason) }

// reports formats each sample in a line: target, key and operation, units.
func (k *recorder) reports() string {
	var all []string
	for _, r := range k.records {
		all = append(all, fmt.Sprintf("%s %s/%s %s %g", r.Index, r.PK, r.SK, r.Op, float64(r.WCU)/1000))
	}
	for _, reason := range k.bad {
		all = append(all, "bad "+string(reason))
	}
	return strings.Join(all, "; ")
}

func decode(tables sample.Schemas, message string, at int64) *recorder {
	k := &recorder{}
	change.NewDecoder(tables).Decode([]byte(message), at, k)
	return k
}

// item returns an item of DynamoDB JSON.
func item(t *testing.T, text string) change.Item {
	t.Helper()
	var i change.Item
	if err := json.Unmarshal([]byte(text), &i); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return i
}

// sized returns an item of the attributes "id" and "body" that has
// so many bytes in all.
func sized(n int) string {
	return fmt.Sprintf(`{"id":{"S":"1"},"body":{"S":%q}}`, strings.Repeat("x", n-len("id1body")))
}

// record returns a stream record of the table t.
func record(event, keys, before, after string) string {
	var images []string
	for _, image := range [][2]string{{"Keys", keys}, {"OldImage", before}, {"NewImage", after}} {
		if image[1] != "" {
			images = append(images, fmt.Sprintf("%q:%s", image[0], image[1]))
		}
	}
	return fmt.Sprintf(`{"eventName":%q,"tableName":"orders","dynamodb":{"ApproximateCreationDateTime":1763692032,%s}}`,
		event, strings.Join(images, ","))
}

func sameReasons(t *testing.T, got []sample.RejectReason, want ...sample.RejectReason) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("bad samples %v, want %v", got, want)
	}
}
