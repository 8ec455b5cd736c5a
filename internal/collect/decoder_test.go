package collect_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/collect"
	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/change"
	"github.com/keyheat/keyheat/sample/keyheatjson"
)

// Each partition has the decoder that the configuration makes for its name.
func TestEachPartitionHasItsDecoder(t *testing.T) {
	t.Parallel()
	c := config()
	c.Decoder = func(partition string) collect.Decoder {
		if strings.HasPrefix(partition, "changes/") {
			return change.NewDecoder(sample.Schemas{"carts": {
				Indexes: map[string]sample.IndexSchema{"by-status": {KeySchema: sample.Keys("s")}},
			}})
		}
		return keyheatjson.NewDecoder()
	}
	record := func(table, keys string) source.Message {
		return source.Message{Time: noon.UnixMilli(), Value: []byte(`{"eventName":"INSERT","tableName":"` + table +
			`","dynamodb":{"Keys":` + keys + `,"NewImage":{"id":{"S":"a"},"s":{"S":"open"}}}}`)}
	}
	bubble(t, c, func(t *testing.T, c *collect.Collector, m *memory) {
		changes := claim(t, c, "changes/0")
		must(t, changes.Fold(t.Context(), source.Batch{Next: "2", Time: noon.UnixMilli(), Messages: slices.Values([]source.Message{
			record("carts", `{"id":{"S":"a"}}`), record("lines", `{"id":{"S":"a"},"n":{"N":"1"}}`),
		})}))
		must(t, claim(t, c, "samples/0").Fold(t.Context(), at(noon, "1")))
		pass(time.Second)
		l := counted(t, m)
		// The cart is one request on the table and one on its index.
		if l.requests[second{"carts", noon.Unix()}] != 2 || l.requests[second{"orders", noon.Unix()}] != 1 || l.bad["key_schema_not_configured"] != 1 {
			t.Errorf("counted %v, bad %v", l.requests, l.bad)
		}
	})
}
