package streamstest

import "github.com/keyheat/keyheat/internal/testsupport/streamstest/model"

// scanRequest is what a parallel Scan asks. The fake answers with no item: it knows where
// keys lie, and refuses a start key of another segment.
type scanRequest struct {
	TableName         string
	ExclusiveStartKey model.Item
	TotalSegments     uint64
	Segment           uint64
}

func (f *Fake) serveScan(in scanRequest, call *Call) (any, error) {
	t, err := f.named(in.TableName, call)
	if err != nil {
		return nil, err
	}
	key := model.Item{}
	for _, name := range t.schema.Key.Partition {
		key[name] = in.ExclusiveStartKey[name]
	}
	if f.place(key)/(1<<63/in.TotalSegments*2) != in.Segment {
		return nil, refuse(codeInvalid, "The provided starting key is invalid: Invalid ExclusiveStartKey. Please use ExclusiveStartKey with correct Segment. TotalSegments: %d Segment: %d", in.TotalSegments, in.Segment)
	}
	return map[string]any{"Count": 0, "ScannedCount": 0, "ConsumedCapacity": map[string]any{"TableName": in.TableName, "CapacityUnits": 0.5}}, nil
}
