package streamstest

import (
	"fmt"
	"maps"
	"time"

	"github.com/keyheat/keyheat/internal/testsupport/streamstest/model"
)

// Written lists every change of the table since it was made, in order.
func (t *Table) Written() []model.Write {
	t.fake.mu.Lock()
	defer t.fake.mu.Unlock()
	return append([]model.Write(nil), t.written...)
}

// Refused is how many writes were throttled.
func (t *Table) Refused() int {
	t.fake.mu.Lock()
	defer t.fake.mu.Unlock()
	return t.refused
}

// Put writes an item over whatever had its key.
func (t *Table) Put(i model.Item) error {
	t.fake.mu.Lock()
	defer t.fake.mu.Unlock()
	return t.put(t.fake.now(), i)
}

// PutAt is Put at another time than now. Each call's must not lie before the last
// one's, nor before the stream's oldest open shard. A time to come is also when
// the stream begins to show it.
func (t *Table) PutAt(at time.Time, i model.Item) error {
	t.fake.mu.Lock()
	defer t.fake.mu.Unlock()
	return t.put(at, i)
}

func (t *Table) put(at time.Time, i model.Item) error {
	i = i.Normal()
	key, err := t.keyOf(i)
	if err != nil {
		return err
	}
	return t.write(at, key, i, false)
}

// keyOf returns the key of an item, or the refusal of one without a valid key.
func (t *Table) keyOf(i model.Item) (model.Item, error) {
	key, err := t.schema.KeyOf(i)
	if err != nil {
		return nil, refuse(codeInvalid, "One or more parameter values were invalid: %v", err)
	}
	return key, nil
}

// Update sets and removes attributes of the item with that key, which it makes
// when there is none.
func (t *Table) Update(key, set model.Item, remove ...string) error {
	t.fake.mu.Lock()
	defer t.fake.mu.Unlock()
	return t.update(key.Normal(), set.Normal(), remove)
}

func (t *Table) update(key, set model.Item, remove []string) error {
	key, err := t.keyOf(key)
	if err != nil {
		return err
	}
	next := t.items[string(model.Encode(key))].Clone()
	if next == nil {
		next = key.Clone()
	}
	maps.Copy(next, set)
	for _, name := range remove {
		delete(next, name)
	}
	if !next.Only(t.schema.Key.Names()...).Equal(key) {
		return refuse(codeInvalid, "One or more parameter values were invalid: Cannot update attribute. This attribute is part of the key")
	}
	return t.write(t.fake.now(), key, next, false)
}

// Delete deletes the item with that key. One that is not there costs a unit and
// leaves no record.
func (t *Table) Delete(key model.Item) error { return t.remove(key, false) }

// Expire deletes the item with that key as time to live does: at no cost, in
// the name of the service.
func (t *Table) Expire(key model.Item) error { return t.remove(key, true) }

func (t *Table) remove(key model.Item, expired bool) error {
	t.fake.mu.Lock()
	defer t.fake.mu.Unlock()
	key, err := t.keyOf(key.Normal())
	if err != nil {
		return err
	}
	return t.write(t.fake.now(), key, nil, expired)
}

// write puts next in the place of the item with that key.
func (t *Table) write(at time.Time, key, next model.Item, expired bool) error {
	if t.stream != nil {
		t.stream.settle(t.fake.now())
	}
	if err := t.schema.CheckIndexKeys(next); err != nil {
		return refuse(codeInvalid, "One or more parameter values were invalid: %v", err)
	}
	id := string(model.Encode(key))
	w := model.Write{Time: at, Key: key, Old: t.items[id], New: next, Expired: expired}
	if err := t.spend(&w); err != nil {
		t.refused++
		return err
	}
	if w.Old.Equal(w.New) {
		return nil
	}
	if next == nil {
		delete(t.items, id)
	} else {
		t.items[id] = next
	}
	if t.streaming() {
		t.stream.append(&w, t.schema.Key)
	}
	t.written = append(t.written, w)
	return nil
}

// spending is what one key has taken of its simulated partition in a second.
type spending struct {
	second int64
	units  float64
}

// spend takes a write's cost from the partition of each key that it touches,
// all or nothing. A partition of DynamoDB takes 1,000 write units a second
// (Guide, "Designing partition keys"); here each key value has one for itself,
// as a hot key has once DynamoDB has split for heat.
func (t *Table) spend(w *model.Write) error {
	limit := t.fake.options.PartitionWrites
	if limit <= 0 {
		return nil
	}
	second := w.Time.Unix()
	asked := map[string]float64{}
	for _, c := range t.schema.Charges(*w) {
		id := c.Index + "/" + string(model.Encode(c.Key))
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
