package streamstest

import (
	"maps"
	"time"
)

// Write is one change of a table: an entry of the oracle. What changed nothing,
// or was refused, is none.
type Write struct {
	// Time is when it was written, to the nanosecond.
	Time time.Time
	// Key is the item's; Old and New are the item before and after, nil where it
	// was not there.
	Key, Old, New Item
	// Expired says that time to live deleted it.
	Expired bool
	// Stream, Shard and Sequence say where the stream has it; empty when the
	// table had none at the time.
	Stream, Shard, Sequence string
}

// Written lists every change of the table since it was made, in order.
func (t *Table) Written() []Write {
	t.fake.mu.Lock()
	defer t.fake.mu.Unlock()
	return append([]Write(nil), t.written...)
}

// Refused is how many writes were throttled.
func (t *Table) Refused() int {
	t.fake.mu.Lock()
	defer t.fake.mu.Unlock()
	return t.refused
}

// Put writes an item over whatever had its key.
func (t *Table) Put(i Item) error {
	t.fake.mu.Lock()
	defer t.fake.mu.Unlock()
	return t.put(t.fake.now(), i)
}

// PutAt is Put at another time than now. Each call's must not lie before the last
// one's, nor before the stream's oldest open shard. A time to come is also when
// the stream begins to show it.
func (t *Table) PutAt(at time.Time, i Item) error {
	t.fake.mu.Lock()
	defer t.fake.mu.Unlock()
	return t.put(at, i)
}

func (t *Table) put(at time.Time, i Item) error {
	i = i.normal()
	key, err := t.schema.keyOf(i)
	if err != nil {
		return err
	}
	return t.write(at, key, i, false)
}

// Update sets and removes attributes of the item with that key, which it makes
// when there is none.
func (t *Table) Update(key, set Item, remove ...string) error {
	t.fake.mu.Lock()
	defer t.fake.mu.Unlock()
	return t.update(key.normal(), set.normal(), remove)
}

func (t *Table) update(key, set Item, remove []string) error {
	key, err := t.schema.keyOf(key)
	if err != nil {
		return err
	}
	next := t.items[string(encode(key))].clone()
	if next == nil {
		next = key.clone()
	}
	maps.Copy(next, set)
	for _, name := range remove {
		delete(next, name)
	}
	if !next.Only(t.schema.Key.Names()...).equal(key) {
		return refuse(codeInvalid, "One or more parameter values were invalid: Cannot update attribute. This attribute is part of the key")
	}
	return t.write(t.fake.now(), key, next, false)
}

// Delete deletes the item with that key. One that is not there costs a unit and
// leaves no record.
func (t *Table) Delete(key Item) error { return t.remove(key, false) }

// Expire deletes the item with that key as time to live does: at no cost, in
// the name of the service.
func (t *Table) Expire(key Item) error { return t.remove(key, true) }

func (t *Table) remove(key Item, expired bool) error {
	t.fake.mu.Lock()
	defer t.fake.mu.Unlock()
	key, err := t.schema.keyOf(key.normal())
	if err != nil {
		return err
	}
	return t.write(t.fake.now(), key, nil, expired)
}

// write puts next in the place of the item with that key.
func (t *Table) write(at time.Time, key, next Item, expired bool) error {
	if t.stream != nil {
		t.stream.settle(t.fake.now())
	}
	if err := t.schema.checkIndexKeys(next); err != nil {
		return err
	}
	id := string(encode(key))
	w := Write{Time: at, Key: key, Old: t.items[id], New: next, Expired: expired}
	if err := t.spend(&w); err != nil {
		t.refused++
		return err
	}
	if w.Old.equal(w.New) {
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
