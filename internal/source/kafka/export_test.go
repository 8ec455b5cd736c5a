package kafka

import "github.com/keyheat/keyheat/internal/source"

// TestPart is a requested partition.
type TestPart struct {
	Topic     string
	ID        [16]byte
	Partition int32
}

// ParseParts returns the records of each part of a fetch response.
func ParseParts(body []byte, version int16, asked []TestPart) (records [][]byte, err error) {
	r := new(fetchRequest)
	for _, a := range asked {
		r.parts = append(r.parts, fetchPart{topic: a.Topic, id: a.ID, partition: a.Partition})
	}
	all, err := r.parse(body, version)
	for _, p := range all {
		records = append(records, p.RecordBatches)
	}
	return records, err
}

// Memory exports the source's budget, so that tests can compete for it.
func (k *Source) Memory() *source.Budget { return k.memory }
