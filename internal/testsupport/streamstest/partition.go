package streamstest

import "fmt"

// spending is what one key has taken of its simulated partition in a second.
type spending struct {
	second int64
	units  float64
}

// spend takes a write's cost from the partition of each key that it touches,
// all or nothing. A partition of DynamoDB takes 1,000 write units a second
// (Guide, "Designing partition keys"); here each key value has one for itself,
// as a hot key has once DynamoDB has split for heat.
func (t *Table) spend(w *Write) error {
	limit := t.fake.options.PartitionWrites
	if limit <= 0 {
		return nil
	}
	second := w.Time.Unix()
	asked := map[string]float64{}
	for _, c := range t.schema.Charges(*w) {
		id := c.Index + "/" + string(encode(c.Key))
		asked[id] += c.Units
		if before := t.spent[id]; before.second == second && before.units+asked[id] > limit {
			return t.throttled(c.Index)
		}
	}
	for id, units := range asked {
		if before := t.spent[id]; before.second == second {
			units += before.units
		}
		t.spent[id] = spending{second, units}
	}
	return nil
}

// throttled is the refusal of a write to a full partition, in the class that
// the table's capacity mode has, with the reason that tells hot keys from
// starved tables (Guide, "Throttling in DynamoDB").
func (t *Table) throttled(index string) error {
	kind, arn := "Table", t.ARN()
	if index != "" {
		kind, arn = "Index", fmt.Sprintf("%s/index/%s", arn, index)
	}
	// The two classes spell the field differently.
	code, field := codeThrottling, "throttlingReasons"
	if t.schema.Provisioned != nil {
		code, field = codeThroughput, "ThrottlingReasons"
	}
	err := refuse(code, "Throughput exceeds the maximum of a partition for %s", arn)
	err.more = map[string]any{field: []map[string]string{{"reason": kind + "WriteKeyRangeThroughputExceeded", "resource": arn}}}
	return err
}
