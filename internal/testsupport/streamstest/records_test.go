package streamstest_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/streamstest"
	"github.com/keyheat/keyheat/internal/testsupport/streamstest/model"
)

const horizon = types.ShardIteratorTypeTrimHorizon

// TestEveryRecordOnceAndInOrder writes to a hundred items while shards split
// and roll, then reads parents before children.
func TestEveryRecordOnceAndInOrder(t *testing.T) {
	t.Parallel()
	w := setup(t, streamstest.Options{EmptyPages: 0.3, PageRecords: 7, NoRates: true})
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 3000 {
		w.put(fmt.Sprint("item", random.IntN(100)), 0, "n", fmt.Sprint(i))
		if open := w.table.OpenShards(); i%150 == 0 {
			w.table.Split(open[random.IntN(len(open))])
		} else if i%100 == 0 {
			w.table.Roll(open[random.IntN(len(open))])
		}
	}
	shards, _ := w.describe(nil, 5)
	if len(shards) != 1+2*20+20 {
		t.Errorf("%d shards, want 61", len(shards))
	}
	if got, want := numbers(w.lineage(shards)), len(w.table.Written()); got != want {
		t.Errorf("%d records read, %d written", got, want)
	}
}

// lineage reads every shard after its parent, each to its end or, of open ones,
// to the last record, and returns the attribute n of each item as it went.
func (w *scenario) lineage(shards []types.Shard) map[string][]string {
	w.Helper()
	seen, done := map[string][]string{}, map[string]bool{"": true}
	for len(shards) > 0 {
		ready := slices.IndexFunc(shards, func(s types.Shard) bool { return done[aws.ToString(s.ParentShardId)] })
		if ready < 0 {
			w.Fatal("shards without their parents")
		}
		sh := shards[ready]
		shards, done[*sh.ShardId] = slices.Delete(shards, ready, ready+1), true
		it := w.mustIterator(*sh.ShardId, horizon, "")
		for empty := 0; it != "" && empty < 50; {
			records, next, err := w.page(it)
			if err != nil {
				w.Fatal(err)
			}
			empty++
			for _, r := range records {
				empty = 0
				pk := r.Dynamodb.Keys["pk"].(*types.AttributeValueMemberS).Value
				n := r.Dynamodb.NewImage["n"].(*types.AttributeValueMemberS).Value
				if before := seen[pk]; len(before) > 0 && len(n) <= len(before[len(before)-1]) && n <= before[len(before)-1] {
					w.Fatalf("item %s: %s came after %s", pk, n, before[len(before)-1])
				}
				seen[pk] = append(seen[pk], n)
			}
			it = next
		}
		if closed := sh.SequenceNumberRange.EndingSequenceNumber != nil; closed != (it == "") {
			w.Errorf("shard %s: closed is %v, and the last iterator was %q", *sh.ShardId, closed, it)
		}
	}
	return seen
}

func numbers(seen map[string][]string) (n int) {
	for _, all := range seen {
		n += len(all)
	}
	return n
}

func TestViews(t *testing.T) {
	t.Parallel()
	for view, want := range map[string][2]bool{
		streamstest.KeysOnly: {}, streamstest.NewImage: {true, false}, streamstest.OldImage: {false, true},
		streamstest.NewAndOldImages: {true, true},
	} {
		w := setup(t, streamstest.Options{})
		w.table.DisableStream()
		w.arn = w.table.EnableStream(view)
		w.put("a", 1, "x", "1")
		w.put("a", 1, "x", "2")
		got := w.read(w.mustIterator(w.table.OpenShards()[0], horizon, ""))
		if len(got) != 2 {
			t.Fatalf("%s: %d records", view, len(got))
		}
		second := got[1].Dynamodb
		if has := [2]bool{second.NewImage != nil, second.OldImage != nil}; has != want || len(second.Keys) != 2 || string(second.StreamViewType) != view {
			t.Errorf("%s: %+v", view, second)
		}
		if got[0].Dynamodb.OldImage != nil {
			t.Errorf("%s: an item that was not there has an image", view)
		}
	}
}

// TestEvents follows one item's life.
func TestEvents(t *testing.T) {
	t.Parallel()
	w := setup(t, streamstest.Options{})
	key := model.Item{"pk": model.S("a"), "sk": model.N("1.0")}
	steps := []error{
		w.table.Put(model.Item{"pk": model.S("a"), "sk": model.N("1"), "x": model.S("1")}),
		w.table.Put(model.Item{"pk": model.S("a"), "sk": model.N("1e0"), "x": model.S("1")}), // changes nothing
		w.table.Update(key, model.Item{"y": model.N("7")}, "x"),
		w.table.Delete(key),
		w.table.Delete(key), // changes nothing
		w.table.Update(key, model.Item{"y": model.N("8")}),
		w.table.Expire(key),
	}
	for i, err := range steps {
		if err != nil {
			t.Fatal(i, err)
		}
	}
	var story []string
	for _, r := range w.read(w.mustIterator(w.table.OpenShards()[0], horizon, "")) {
		line := fmt.Sprint(r.EventName, " ", len(r.Dynamodb.OldImage), "→", len(r.Dynamodb.NewImage))
		if id := r.UserIdentity; id != nil {
			line += " " + *id.Type + " " + *id.PrincipalId
		}
		story = append(story, line)
		if *r.EventSource != "aws:dynamodb" || *r.AwsRegion != "eu-west-1" || *r.EventID == "" || *r.EventVersion == "" {
			t.Errorf("%+v", r)
		}
	}
	want := "INSERT 0→3, MODIFY 3→3, REMOVE 3→0, INSERT 0→3, REMOVE 3→0 Service dynamodb.amazonaws.com"
	if got := strings.Join(story, ", "); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if n := len(w.table.Written()); n != 5 {
		t.Errorf("%d changes recorded", n)
	}
}

func TestTimesAreWholeSeconds(t *testing.T) {
	t.Parallel()
	w := setup(t, streamstest.Options{})
	w.fake.Advance(1234 * time.Millisecond)
	w.put("a", 1)
	r := w.read(w.mustIterator(w.table.OpenShards()[0], horizon, ""))[0]
	if got, want := *r.Dynamodb.ApproximateCreationDateTime, w.table.Written()[0].Time.Truncate(time.Second); !got.Equal(want) {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestPagesHaveABound(t *testing.T) {
	t.Parallel()
	w := setup(t, streamstest.Options{})
	for i := range 2100 {
		w.put("a", i)
	}
	large := strings.Repeat("x", 300<<10)
	for i := range 5 {
		w.put("b", i, "x", large)
	}
	var pages []int
	it := w.mustIterator(w.table.OpenShards()[0], horizon, "")
	for range 6 {
		records, next, err := w.page(it)
		must.Succeed(t, err)
		pages, it = append(pages, len(records)), next
	}
	if want := []int{1000, 1000, 103, 2, 0, 0}; !slices.Equal(pages, want) {
		t.Errorf("pages of %v, want %v", pages, want)
	}
	for limit, want := range map[int32]string{1001: "LimitExceededException", 0: "ValidationException"} {
		_, err := w.client.GetRecords(t.Context(), &dynamodbstreams.GetRecordsInput{ShardIterator: &it, Limit: &limit})
		w.is(err, want)
	}
}

// TestTheEndIsOnlyANullIterator finds both forms of an end, and empty pages
// that are none.
func TestTheEndIsOnlyANullIterator(t *testing.T) {
	t.Parallel()
	w := setup(t, streamstest.Options{EmptyPages: 0.5})
	ends, empty := map[bool]int{}, 0
	for range 30 {
		shard := w.table.OpenShards()[0]
		w.put("a", len(ends)+empty+w.fakeCalls())
		w.table.Roll(shard)
		for it := w.mustIterator(shard, horizon, ""); it != ""; {
			records, next, err := w.page(it)
			must.Succeed(t, err)
			if next == "" {
				ends[len(records) > 0]++
			} else if len(records) == 0 {
				empty++
			}
			it = next
		}
	}
	if ends[true] == 0 || ends[false] == 0 || empty == 0 {
		t.Errorf("ends with records %d, without %d, empty pages before %d", ends[true], ends[false], empty)
	}
}

func (w *scenario) fakeCalls() int { return len(w.fake.Calls("")) }

// TestRecordsTakeTheirTime: a shard that has closed does not end before its last
// record has been shown.
func TestRecordsTakeTheirTime(t *testing.T) {
	t.Parallel()
	w := setup(t, streamstest.Options{Delay: 2 * time.Second})
	shard := w.table.OpenShards()[0]
	w.put("a", 1)
	w.fake.Advance(time.Second)
	w.put("a", 2)
	w.table.Roll(shard)
	it := w.mustIterator(shard, horizon, "")
	for _, want := range []int{0, 1, 1} {
		records, next, err := w.page(it)
		if err != nil || len(records) != want || next == "" && want == 0 {
			t.Errorf("%d records (%v), want %d, and then %q", len(records), err, want, next)
		}
		it = next
		w.fake.Advance(time.Second)
	}
}
