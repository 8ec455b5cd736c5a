package catalog_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"go.uber.org/goleak"

	"github.com/keyheat/keyheat/internal/aws/catalog"
	"github.com/keyheat/keyheat/internal/testsupport/streamstest"
	"github.com/keyheat/keyheat/internal/testsupport/streamstest/model"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/change"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// orders is provisioned, and has an index of each kind.
var orders = model.Schema{
	Name: "orders", Key: model.Key{Partition: []string{"customer"}, Sort: []string{"id"}},
	Provisioned: &model.Throughput{Read: 300, Write: 200},
	Indexes: []model.Index{
		{Name: "by-place", Key: model.Key{Partition: []string{"country", "city"}, Sort: []string{"street", "number"}},
			Projection: "INCLUDE", Include: []string{"total"}, Provisioned: &model.Throughput{Read: 30, Write: 20}},
		{Name: "by-date", Key: model.Key{Partition: []string{"customer"}, Sort: []string{"date"}}, Local: true},
	},
}

// kept are the facts that a catalog stored.
type kept struct {
	sync.Mutex
	facts map[string]string
	err   error
}

func (k *kept) keep(_ context.Context, of sample.Target, facts []byte) error {
	k.Lock()
	defer k.Unlock()
	if k.facts == nil {
		k.facts = map[string]string{}
	}
	k.facts[of.Name()] = string(facts)
	return k.err
}

// reasons are what a decoder says of a message: the tables and indexes of its
// samples, and why others are bad.
type reasons []string

func (r *reasons) Record(s *sample.Record)                  { *r = append(*r, s.Table+"/"+s.Index) }
func (r *reasons) Bad(reason sample.RejectReason, _ []byte) { *r = append(*r, string(reason)) }

const put = `{"eventName":"INSERT","tableName":"orders","dynamodb":{"ApproximateCreationDateTime":1763692032,
	"Keys":{"customer":{"S":"a"},"id":{"S":"1"}},
	"NewImage":{"customer":{"S":"a"},"id":{"S":"1"},"status":{"S":"OPEN"},"country":{"S":"CH"},"city":{"S":"x"},"street":{"S":"y"},"number":{"S":"z"}}}}`

// running runs a catalog in a bubble until the test's end.
func running(fake *streamstest.Fake, configured sample.Schemas, k *kept) (*catalog.Catalog, func()) {
	c := catalog.New(dynamodb.NewFromConfig(fake.Config("a")), []string{"orders"}, configured, k.keep, quiet)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = c.Run(ctx) }()
	synctest.Wait()
	return c, func() { cancel(); <-done }
}

func decoded(d *catalog.Decoder) string {
	var r reasons
	d.Decode([]byte(put), 0, &r)
	return strings.Join(r, " ")
}

func TestFactsAreWhatDescribeTableSays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fake := streamstest.New(streamstest.Options{})
		fake.CreateTable(orders).EnableStream(streamstest.NewAndOldImages)
		var k kept
		c, stop := running(fake, nil, &k)
		defer stop()
		want := `{"billing":"PROVISIONED","wcu":200,"rcu":300,"lsis":["by-date"],"pk":["customer"],"sk":["id"],` +
			`"stream":"NEW_AND_OLD_IMAGES","indexes":{"by-place":{"pk":["country","city"],"sk":["street","number"],"wcu":20,"rcu":30}}}`
		if k.facts["000000000000/eu-west-1/orders"] != want {
			t.Errorf("facts\n got %s\nwant %s", k.facts["000000000000/eu-west-1/orders"], want)
		}
		if err := c.Check("orders"); err != nil || len(c.Ready()) > 0 {
			t.Errorf("known: %v, ready: %q", err, c.Ready())
		}
		if c.Check("users") == nil {
			t.Error("a table that was not asked for is known")
		}
	})
}

// An index that is added is seen by decoders that exist, some minutes later.
func TestAddedIndexIsSeen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fake := streamstest.New(streamstest.Options{})
		table := fake.CreateTable(orders)
		var k kept
		c, stop := running(fake, nil, &k)
		defer stop()
		d := c.Decoder("orders")
		if got := decoded(d); got != "orders/ orders/by-place" {
			t.Errorf("samples %q", got)
		}
		table.AddIndex(model.Index{Name: "by-status", Key: model.Key{Partition: []string{"status"}}})
		time.Sleep(6 * time.Minute)
		if got := decoded(d); got != "orders/ orders/by-place orders/by-status" {
			t.Errorf("samples %q with a new index", got)
		}
		fake.Deny("DescribeTable") // what is known stays known
		time.Sleep(time.Hour)
		if got := decoded(d); got != "orders/ orders/by-place orders/by-status" || len(c.Ready()) > 0 {
			t.Errorf("samples %q, ready %q", got, c.Ready())
		}
	})
}

// Where DescribeTable is denied the configuration serves; without it the
// catalog is not ready, until it is allowed.
func TestDeniedDescribeTable(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fake := streamstest.New(streamstest.Options{})
		fake.CreateTable(orders)
		fake.Deny("DescribeTable")
		var k kept
		written, stop := running(fake, sample.Schemas{"orders": {KeySchema: sample.Keys("customer", "id")}}, &k)
		if got := decoded(written.Decoder("orders")); got != "orders/" || len(written.Ready()) > 0 || len(k.facts) > 0 {
			t.Errorf("samples %q, ready %q, facts %v", got, written.Ready(), k.facts)
		}
		stop()
		c, stop := running(fake, nil, &k)
		defer stop()
		d := c.Decoder("orders")
		want := "orders: DescribeTable is denied: allow dynamodb:DescribeTable on the table to this role, or write its keys under tables.orders"
		if got := strings.Join(c.Ready(), "\n"); got != want {
			t.Errorf("ready\n got %q\nwant %q", got, want)
		}
		if got := decoded(d); got != string(change.RejectKeySchema) {
			t.Errorf("samples %q of an unknown table", got)
		}
		fake.Allow("DescribeTable")
		time.Sleep(time.Minute)
		if got := decoded(d); got != "orders/ orders/by-place" || len(c.Ready()) > 0 {
			t.Errorf("samples %q, ready %q", got, c.Ready())
		}
	})
}

// A store that is away costs the facts for a while, and nothing else.
func TestFactsThatCannotBeKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fake := streamstest.New(streamstest.Options{})
		fake.CreateTable(orders)
		k := kept{err: errors.New("the store is away")}
		c, stop := running(fake, nil, &k)
		defer stop()
		if len(c.Ready()) > 0 {
			t.Errorf("not ready: %q", c.Ready())
		}
		k.Lock()
		k.facts, k.err = nil, nil
		k.Unlock()
		time.Sleep(time.Minute)
		k.Lock()
		defer k.Unlock()
		if len(k.facts) != 1 {
			t.Error("the facts were not kept when the store was back")
		}
	})
}

func TestTableThatIsNotThere(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var k kept
		c, stop := running(streamstest.New(streamstest.Options{}), nil, &k)
		defer stop()
		if got := strings.Join(c.Ready(), ""); got != "orders: there is no such table in this account and region: correct its name, AWS_REGION or the credentials, or create it" {
			t.Errorf("ready %q", got)
		}
	})
}
