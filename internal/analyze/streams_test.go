package analyze_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/analyze"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/format"
)

// shop writes changes to a table of orders, {id, customer, status, note}, with
// an index on the status, and reckons with whole numbers what they cost. It
// shares no code with the product.
type shop struct {
	lines         []string
	table, status map[string]map[int]int // units by key and second
}

func newShop() *shop {
	return &shop{table: map[string]map[int]int{}, status: map[string]map[int]int{}}
}

func charge(units map[string]map[int]int, key string, second, size int) {
	if units[key] == nil {
		units[key] = map[int]int{}
	}
	units[key][second] += (size + 1023) / 1024
}

// order is an order's image and its size in bytes.
func order(id, customer, status string, note int) (image string, size int) {
	image = fmt.Sprintf(`{"customer":{"S":%q},"id":{"S":%q},"status":{"S":%q},"note":{"S":%q}}`,
		customer, id, status, strings.Repeat("n", note))
	return image, len("customer") + len(customer) + len("id") + len(id) + len("status") + len(status) + len("note") + note
}

// update changes one order's status and note; an empty status before is a new
// order.
func (s *shop) update(second int, id, customer, before, after string, noteBefore, noteAfter int) {
	old, oldSize := order(id, customer, before, noteBefore)
	image, size := order(id, customer, after, noteAfter)
	event, images := "MODIFY", fmt.Sprintf(`"OldImage":%s,"NewImage":%s`, old, image)
	if before == "" {
		event, images, oldSize = "INSERT", `"NewImage":`+image, 0
	}
	s.lines = append(s.lines, fmt.Sprintf(
		`{"eventID":"e%d","eventName":%q,"tableName":"orders","dynamodb":{"ApproximateCreationDateTime":%d,"Keys":{"customer":{"S":%q},"id":{"S":%q}},%s}}`,
		len(s.lines), event, noon.Add(time.Duration(second)*time.Second).Unix(), customer, id, images))
	charge(s.table, customer, second, max(oldSize, size))
	// The index projects its keys only: the note is not in it.
	entry := len("customer") + len(customer) + len("id") + len(id) + len("status")
	switch {
	case before == "":
		charge(s.status, after, second, entry+len(after))
	case before != after:
		charge(s.status, before, second, entry+len(before))
		charge(s.status, after, second, entry+len(after))
	}
}

// busyShop has a customer whose orders are large, and a status in which every
// new order begins.
func busyShop() *shop {
	s, rng := newShop(), rand.New(rand.NewPCG(5, 5))
	for second := range 12 {
		for i := range 1300 {
			id := fmt.Sprintf("o-%d-%d", second, i)
			customer := fmt.Sprint("c", rng.IntN(4000))
			s.update(second, id, customer, "", "open", 0, rng.IntN(200))
			if i%10 == 0 {
				s.update(second, id, customer, "open", "paid", 10, 10)
			}
			if i%4 == 0 { // changes nothing in the index
				s.update(second, id, "big", "open", "open", 5000, 200)
			}
		}
	}
	return s
}

func total(units map[string]map[int]int) (sum int) {
	for _, seconds := range units {
		for _, n := range seconds {
			sum += n
		}
	}
	return sum
}

func peak(seconds map[int]int) (most, over int) {
	for _, n := range seconds {
		most = max(most, n)
		if n > 1000 {
			over++
		}
	}
	return most, over
}

var orders = format.Tables{"orders": {Schema: sample.Schema{
	KeySchema: sample.Keys("customer", "id"),
	Indexes: map[string]sample.IndexSchema{
		"by-status": {KeySchema: sample.Keys("status"), Projection: sample.ProjectKeysOnly},
	},
}}}

func TestStreamRecordsShowTheHotTableKeyAndTheHotIndexKey(t *testing.T) {
	t.Parallel()
	s := busyShop()
	r, err := analyze.Files(t.Context(), analyze.Options{
		Paths: []string{"-"}, In: strings.NewReader(strings.Join(s.lines, "\n")), Tables: orders,
	})
	must(t, err)
	if len(r.Samples.Bad) > 0 {
		t.Errorf("bad samples %v", r.Samples.Bad)
	}
	want := map[string]map[int]int{"orders//big": s.table["big"], "orders/by-status/open": s.status["open"]}
	for _, f := range r.Findings {
		where := f.Table + "/" + f.Index + "/" + string(f.Key)
		most, over := peak(want[where])
		if f.Subject == detect.KeyReads || most == 0 {
			t.Errorf("a finding of %s on %s, which is not hot", f.About(), where)
			continue
		}
		if got := f.Peak.WCU; got.Value != float64(most) || got.Low > float64(most) || got.High < float64(most) || f.SecondsOver() != over {
			t.Errorf("%s: %+v in %d seconds, want %d in %d", where, got, f.SecondsOver(), most, over)
		}
		delete(want, where)
	}
	if len(want) > 0 {
		t.Errorf("not found: %v", want)
	}
	for _, table := range r.Tables {
		units := map[string]int{"": total(s.table), "by-status": total(s.status)}[table.Index]
		if table.WCU != float64(units) || table.RCU != 0 {
			t.Errorf("%s/%s: %g write units, want %d", table.Table, table.Index, table.WCU, units)
		}
	}
}

func TestALambdaEventIsAFile(t *testing.T) {
	t.Parallel()
	s := newShop()
	s.update(0, "a", "ann", "", "open", 0, 3000)
	s.update(0, "a", "ann", "open", "paid", 3000, 10)
	text := `{"Records":[` + strings.Join(s.lines, ",") + `]}`
	var pretty bytes.Buffer
	must(t, json.Indent(&pretty, []byte(text), "", "  "))
	for _, form := range []string{text, pretty.String(), "[" + strings.Join(s.lines, ",\n") + "]"} {
		r, err := analyze.Files(t.Context(), analyze.Options{Paths: []string{"-"}, In: strings.NewReader(form), Tables: orders})
		must(t, err)
		if r.Samples.Good != 5 || len(r.Samples.Bad) > 0 || r.Tables[0].WCU+r.Tables[1].WCU != 3+3+1+1+1 {
			t.Errorf("%+v in %.40q", r, form)
		}
	}
}

// Without the schema the sort key cannot be told, and the result says what to
// do.
func TestAMissingSchemaIsSaid(t *testing.T) {
	t.Parallel()
	s := newShop()
	s.update(0, "a", "ann", "", "open", 0, 0)
	text := run(t, s.lines[0], analyze.FormatTable)
	for _, want := range []string{"1 bad (key_schema_not_configured)", "tables: {orders: {partition_key: customer, sort_key: id}}"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

func TestCloudTrailShowsTheHotReadKey(t *testing.T) {
	t.Parallel()
	var lines []string
	for i := range 8000 {
		lines = append(lines, fmt.Sprintf(`{"eventTime":%q,"eventSource":"dynamodb.amazonaws.com","eventName":"GetItem",`+
			`"requestParameters":{"tableName":"orders","key":{"id":"hot"},"consistentRead":true}}`,
			noon.Add(time.Duration(i%2)*time.Second).Format(time.RFC3339)))
	}
	lines = append(lines, strings.Replace(lines[0], "GetItem", "Query", 1))
	r := result(t, strings.Join(lines, "\n"))
	if len(r.Findings) != 1 || r.Findings[0].Key != "hot" || r.Findings[0].Peak.RCU.Value != 4000 {
		t.Errorf("%+v", r.Findings)
	}
	if r.Samples.Good != 8000 || r.Samples.Bad[sample.RejectReason("query_without_key")] != 1 {
		t.Errorf("%+v", r.Samples)
	}
}
