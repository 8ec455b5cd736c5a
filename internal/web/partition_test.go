package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect/partition"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/position"
	"github.com/keyheat/keyheat/store"
)

// addPartitions stores a map of the partitions of orders: of two, the first was split. One
// key contradicts.
func addPartitions(t *testing.T, s *store.Store) {
	t.Helper()
	delivered := map[string]*partition.Observed{}
	names := []string{"first", "left", "right", "last"}
	for _, name := range names {
		delivered[name] = &partition.Observed{}
	}
	keys := []string{hostile, "warm key"}
	for i := range 400 {
		keys = append(keys, fmt.Sprint("key#", i))
	}
	for _, key := range keys {
		p := position.String(key)
		switch p.Cell(2) {
		case 0:
			delivered["left"].Add(p)
		case 1:
			delivered["right"].Add(p)
		default:
			delivered["last"].Add(p)
		}
		if p.Cell(1) == 0 {
			delivered["first"].Add(p)
		}
	}
	at := time.Now().UTC()
	var listed []partition.Listed
	for _, name := range names {
		l := partition.Listed{Name: "orders/1/" + name, Stream: "orders/1", Open: name != "first", Ended: at.Add(-time.Hour), Observed: delivered[name]}
		if name == "left" || name == "right" {
			l.Parent = "orders/1/first"
		}
		listed = append(listed, l)
	}
	m := partition.New(false)
	m.Update(listed, at.Add(-time.Hour))
	m.Dissolve(at)
	m.Add("orders/1/left", position.Position(1)<<63, at)
	keepMap(t, s, m)
}

// storeMap stores a map that has just begun.
func storeMap(t *testing.T, s *store.Store, shards []partition.Listed) {
	t.Helper()
	m := partition.New(false)
	m.Update(shards, time.Now())
	keepMap(t, s, m)
}

func keepMap(t *testing.T, s *store.Store, m *partition.Map) {
	t.Helper()
	document, err := json.Marshal(m)
	must(t, err)
	l, ok, err := s.AcquireLease(t.Context(), "judge", "test", time.Minute)
	if err != nil || !ok {
		t.Fatalf("lease: %t, %v", ok, err)
	}
	must(t, s.Judge(t.Context(), l, store.Judgement{Maps: []store.TargetDocument{{Target: sample.Target{Table: "orders"}, Document: document}}}))
}

// TestPartitions: the page names each partition by its range, with the load of its keys, and
// says which one is full; the list leads to it.
func TestPartitions(t *testing.T) {
	t.Parallel()
	s, _ := filled(t)
	address := guard(t, s)
	if text, _ := get(t, address+"/partitions", http.StatusOK); !strings.Contains(text, "No partition of any table is known") {
		t.Errorf("an empty list: %s", text)
	}
	get(t, address+"/partitions?table=orders", http.StatusNotFound)
	storeMap(t, s, []partition.Listed{{Name: "orders/1/a", Open: true}, {Name: "orders/1/b", Open: true}})
	if text, _ := get(t, address+"/partitions?table=orders", http.StatusOK); strings.Contains(text, "class=\"ring\"") || strings.Contains(text, "partitions is full") || !strings.Contains(text, "the ranges are not claimed") {
		t.Errorf("while the map learns: %s", text)
	}
	addPartitions(t, s)
	const walk = "with up to 60% of one partition&#39;s limit. Shuffle the job&#39;s rows"
	if text, _ := get(t, address+"/partitions", http.StatusOK); !strings.Contains(text, "/partitions?table=orders") || !strings.Contains(text, walk) {
		t.Errorf("the list: %s", text)
	}
	if text, _ := get(t, address+"/table?table=orders", http.StatusOK); !strings.Contains(text, walk) {
		t.Errorf("the table: %s", text)
	}
	text, _ := get(t, address+"/partitions?table=orders", http.StatusOK)
	for _, want := range []string{
		"1 of 3 partitions is full", "warm key", "3,500 WCU/s", "–0xffff", "DynamoDB split", "Treat the ranges as possible only", walk,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q: %s", want, text)
		}
	}
	get(t, address+"/partitions?table=absent", http.StatusBadRequest)
	if text, _ := get(t, address+"/status", http.StatusOK); !strings.Contains(text, "Maps of partitions") || !strings.Contains(text, "Treat the ranges as possible only") {
		t.Errorf("the status page lacks the map: %s", text)
	}
	m := store.Judgement{Maps: []store.TargetDocument{{Target: sample.Target{Table: "orders"}, Document: []byte(`{"seen":1}`)}}}
	l, _, err := s.AcquireLease(t.Context(), "judge", "test", time.Minute)
	must(t, err)
	must(t, s.Judge(t.Context(), l, m))
	for _, path := range []string{"/status", "/partitions", "/heat?table=orders"} { // an unreadable map hides no page
		get(t, address+path, http.StatusOK)
	}
}
