package streamstest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/streamstest"
	"github.com/keyheat/keyheat/internal/testsupport/streamstest/model"
)

// item is an order with these attributes, name and text by turns.
func item(pairs ...string) model.Item {
	i := model.Item{"pk": model.S("a"), "sk": model.N("1")}
	for ; len(pairs) > 0; pairs = pairs[2:] {
		i[pairs[0]] = model.S(pairs[1])
	}
	return i
}

// TestCharges restates the Developer Guide: "DynamoDB read and write operations"
// for the table, "Using global secondary indexes", write capacity units, for the
// indexes, and "Using time to live" for what is free.
func TestCharges(t *testing.T) {
	t.Parallel()
	kb := func(n float64) string { return strings.Repeat("x", int(n*1024)) }
	for _, c := range []struct {
		story    string
		old, new model.Item
		expired  bool
		want     string
	}{
		{"a new item", nil, item(), false, "1"},
		{"an update of 3.2 KB to 0.9 KB takes the larger", item("x", kb(3.2)), item("x", kb(0.9)), false, "4"},
		{"a delete of 1.6 KB", item("x", kb(1.6)), nil, false, "2"},
		{"a delete by time to live is free, also on indexes", item("x", kb(1.6), "status", "open"), nil, true, "0, by-status[open] -0"},
		{"an entry appears", item(), item("status", "open"), false, "1, by-status[open] 1"},
		{"an entry disappears", item("status", "open"), item(), false, "1, by-status[open] -1"},
		{"an index key changes: a delete and a put, each on its own key", item("status", "open", "x", kb(2)), item("status", "done"), false,
			"3, by-status[open] -3, by-status[done] 1"},
		{"a projected attribute changes", item("status", "open", "x", "1"), item("status", "open", "x", kb(1.5)), false, "2, by-status[open] 2"},
		{"an attribute changes that is not projected", item("day", "mon", "shop", "1", "x", "1"), item("day", "mon", "shop", "1", "x", kb(5)), false, "6"},
		{"one part of a key of two changes", item("day", "mon", "shop", "1"), item("day", "mon", "shop", "2"), false,
			"1, by-day[mon 1] -1, by-day[mon 2] 1"},
		{"a key of two parts lacks one", item(), item("day", "mon"), false, "1"},
		{"an empty string is no key", item(), item("status", ""), false, "1"},
	} {
		w := model.Write{Key: item().Only("pk", "sk"), Old: c.old, New: c.new, Expired: c.expired}
		if got := bill(orders.Charges(w)); got != c.want {
			t.Errorf("%s: %s, want %s", c.story, got, c.want)
		}
	}
}

func bill(charges []model.Charge) string {
	var all []string
	for _, c := range charges {
		line := fmt.Sprint(c.Units)
		if c.Index != "" {
			var key []string
			for _, name := range []string{"status", "day", "shop"} {
				if v, ok := c.Key[name]; ok {
					key = append(key, *v.S)
				}
			}
			if c.Delete {
				line = "-" + line
			}
			line = fmt.Sprintf("%s%v %s", c.Index, key, line)
		}
		all = append(all, line)
	}
	return strings.Join(all, ", ")
}

// TestAPartitionIsFull writes 3 KB items as fast as it can for three seconds.
func TestAPartitionIsFull(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := setup(t, streamstest.Options{PartitionWrites: 1000})
		large := strings.Repeat("x", 2500)
		for range 3 {
			for i := range 400 {
				_ = w.table.Put(model.Item{"pk": model.S("hot"), "sk": model.N(fmt.Sprint(i)), "x": model.S(large + fmt.Sprint(time.Now().Unix()))})
			}
			w.put("cold", int(time.Now().Unix()))
			time.Sleep(time.Second)
		}
		if got := len(w.table.Written()); got != 3*334 {
			t.Errorf("%d writes went through, want 3 × 333 hot ones and 3 cold ones", got)
		}
		if got := w.table.Refused(); got != 3*67 {
			t.Errorf("%d writes were refused, want 201", got)
		}
	})
}

// TestRefusalsCarryTheirReason looks at what the SDK makes of a full partition.
func TestRefusalsCarryTheirReason(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		capacity *model.Throughput
		status   string
		want     string
	}{
		"on demand":   {nil, "", "ThrottlingException TableWriteKeyRangeThroughputExceeded arn:aws:dynamodb:eu-west-1:000000000000:table/orders"},
		"provisioned": {&model.Throughput{Write: 5}, "", "ProvisionedThroughputExceededException TableWriteKeyRangeThroughputExceeded arn:aws:dynamodb:eu-west-1:000000000000:table/orders"},
		"index":       {nil, "open", "ThrottlingException IndexWriteKeyRangeThroughputExceeded arn:aws:dynamodb:eu-west-1:000000000000:table/orders/index/by-status"},
	} {
		fake := streamstest.New(streamstest.Options{PartitionWrites: 2})
		schema := orders
		schema.Provisioned = c.capacity
		fake.CreateTable(schema)
		client := dynamodb.NewFromConfig(fake.Config("writer"), func(o *dynamodb.Options) {
			o.Retryer = retry.AddWithMaxAttempts(retry.NewStandard(), 1)
		})
		var err error
		for i := 0; err == nil && i < 100; i++ {
			in := map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "a"}, "sk": &types.AttributeValueMemberN{Value: fmt.Sprint(i)}}
			if c.status != "" {
				in["pk"] = &types.AttributeValueMemberS{Value: fmt.Sprint(i)}
				in["status"] = &types.AttributeValueMemberS{Value: c.status}
			}
			_, err = client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("orders"), Item: in})
		}
		if got := reasonOf(err); got != c.want {
			t.Errorf("%s: %s (%v), want %s", name, got, err, c.want)
		}
	}
}

// TestNumbersHaveOneSpelling: DynamoDB returns numbers without redundant
// zeros, so that a write of another spelling changes nothing.
func TestNumbersHaveOneSpelling(t *testing.T) {
	t.Parallel()
	w := setup(t, streamstest.Options{})
	for spelling, want := range map[string]string{
		"1": "1", "01.00": "1", "+1e0": "1", "-0": "0", "0.00420e5": "420", "1.5e20": "150000000000000000000", "-12.50": "-12.5", "5e-3": "0.005",
	} {
		must.Succeed(t, w.table.Put(model.Item{"pk": model.S("a"), "sk": model.N("0"), "n": model.N(spelling), "of": model.S(spelling)}))
		all := w.table.Written()
		if got := *all[len(all)-1].New["n"].N; got != want {
			t.Errorf("%s is kept as %s, want %s", spelling, got, want)
		}
	}
}

// TestSequenceNumbers must be compared by length and then as text.
func TestSequenceNumbers(t *testing.T) {
	t.Parallel()
	w := setup(t, streamstest.Options{})
	for i := range 40 {
		w.put("a", i)
	}
	lengths := map[int]bool{}
	all := w.table.Written()
	for i := range all {
		lengths[len(all[i].Sequence)] = true
		if i > 0 && (len(all[i].Sequence) < len(all[i-1].Sequence) || len(all[i].Sequence) == len(all[i-1].Sequence) && all[i].Sequence <= all[i-1].Sequence) {
			t.Errorf("%s after %s", all[i].Sequence, all[i-1].Sequence)
		}
	}
	if !lengths[39] || !lengths[40] || len(lengths) != 2 {
		t.Errorf("sequence numbers of %v digits", lengths)
	}
}

// TestOneLineageWhateverHappens draws splits, rolls and the time between, and
// holds what is read to what was written.
func TestOneLineageWhateverHappens(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		w := setup(t, streamstest.Options{
			NoRates: true, EmptyPages: 0.2, Shards: rapid.IntRange(1, 4).Draw(r, "shards"), PageRecords: rapid.IntRange(1, 20).Draw(r, "page"),
		})
		for i, step := range rapid.SliceOfN(rapid.IntRange(0, 9), 1, 60).Draw(r, "steps") {
			open := w.table.OpenShards()
			switch step {
			case 0:
				w.table.Split(open[i%len(open)])
			case 1:
				w.table.Roll(open[i%len(open)])
			case 2:
				w.fake.Advance(time.Hour / 4) // 60 of them are less than a day
			default:
				w.put(fmt.Sprint("item", i%7), 0, "n", fmt.Sprint(i))
			}
		}
		shards, _ := w.describe(nil, 3)
		if got, want := numbers(w.lineage(shards)), len(w.table.Written()); got != want {
			r.Fatalf("%d records read, %d written", got, want)
		}
	})
}

func TestSchemasAreChecked(t *testing.T) {
	t.Parallel()
	fake := streamstest.New(streamstest.Options{})
	for _, s := range []model.Schema{
		{}, {Name: "t"}, {Name: "t", Key: model.Key{Partition: []string{"a", "b"}}},
		{Name: "t", Key: model.Key{Partition: []string{"a"}}, Indexes: []model.Index{{Name: "x"}}},
		{Name: "t", Key: model.Key{Partition: []string{"a"}}, Indexes: []model.Index{{Name: "x", Key: model.Key{Partition: []string{"b"}}, Projection: "SOME"}}},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%+v was taken", s)
				}
			}()
			fake.CreateTable(s)
		}()
	}
	table := fake.CreateTable(orders)
	for _, wrong := range []model.Item{
		{"pk": model.S("a")}, {"pk": model.S(""), "sk": model.N("1")}, {"pk": model.S("a"), "sk": model.S("1")},
		item("status", ""),
	} {
		if err := table.Put(wrong); err == nil {
			t.Errorf("%v was written", wrong)
		}
	}
	if err := table.Update(item().Only("pk", "sk"), model.Item{"pk": model.S("b")}); err == nil {
		t.Error("a key was updated")
	}
	if fake.Table("orders") != table || !slices.Equal(table.Schema().Key.Names(), []string{"pk", "sk"}) {
		t.Error("the table is not found")
	}
	fake.DropTable("orders")
	if fake.Table("orders") != nil {
		t.Error("the table is still there")
	}
}
