package streamstest_test

import (
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/streamstest"
)

func childrenOf(shard string) *types.ShardFilter {
	return &types.ShardFilter{Type: types.ShardFilterTypeChildShards, ShardId: &shard}
}

func names(shards []types.Shard) []string {
	var all []string
	for _, s := range shards {
		all = append(all, *s.ShardId)
	}
	return all
}

func TestDescribeStreamInPages(t *testing.T) {
	t.Parallel()
	w := setup(t, streamstest.Options{NoRates: true})
	for range 249 {
		w.table.Roll(w.table.OpenShards()[0])
	}
	var made []string
	for _, s := range w.table.Shards() {
		made = append(made, s.ID)
	}
	for limit, pages := range map[int32]int{0: 3, 100: 3, 7: 36, 50: 6} { // 50 × 5, and an empty one
		shards, n := w.describe(nil, limit)
		listed := names(shards)
		if n != pages {
			t.Errorf("limit %d: %d pages, want %d", limit, n, pages)
		}
		if slices.Equal(listed, made) {
			t.Error("the shards came in the order in which they were made")
		}
		slices.Sort(listed)
		if want := slices.Sorted(slices.Values(made)); !slices.Equal(listed, want) {
			t.Errorf("limit %d: %d shards listed, %d are there", limit, len(listed), len(want))
		}
	}
	_, err := w.client.DescribeStream(t.Context(), &dynamodbstreams.DescribeStreamInput{StreamArn: &w.arn, Limit: aws.Int32(101)})
	w.is(err, "ValidationException")
	_, err = w.client.DescribeStream(t.Context(), &dynamodbstreams.DescribeStreamInput{StreamArn: aws.String(w.arn + "0")})
	w.is(err, "ResourceNotFoundException")
}

func TestChildShards(t *testing.T) {
	t.Parallel()
	w := setup(t, streamstest.Options{})
	root := w.table.OpenShards()[0]
	two := w.table.Split(root)
	one := w.table.Roll(two[0])
	for parent, want := range map[string][]string{root: two, two[0]: {one}, two[1]: nil} {
		shards, _ := w.describe(childrenOf(parent), 0)
		got := names(shards)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("children of %s: %v, want %v", parent, got, want)
		}
	}
	w.table.Vanish(root)
	if shards, _ := w.describe(childrenOf(root), 0); len(shards) != 2 {
		t.Errorf("a vanished parent has %d children", len(shards))
	}
	for _, wrong := range []*types.ShardFilter{childrenOf("shardId-0"), {Type: "ALL", ShardId: &root}} {
		_, err := w.client.DescribeStream(t.Context(), &dynamodbstreams.DescribeStreamInput{StreamArn: &w.arn, ShardFilter: wrong})
		w.is(err, "ValidationException")
	}
	if w.table.Split(root) != nil || w.table.Roll(root) != "" {
		t.Error("a closed shard was closed again")
	}
}

// TestDescribeStreamLags reads a parent to its end while nobody announces that it
// has one.
func TestDescribeStreamLags(t *testing.T) {
	t.Parallel()
	w := setup(t, streamstest.Options{Lag: 30 * time.Second})
	root := w.table.OpenShards()[0]
	w.put("a", 1)
	child := w.table.Roll(root)
	it := w.mustIterator(root, horizon, "")
	for it != "" {
		_, next, err := w.page(it)
		must.Succeed(t, err)
		it = next
	}
	if kids, _ := w.describe(childrenOf(root), 0); len(kids) != 0 {
		t.Errorf("children are shown at once: %v", names(kids))
	}
	shards, _ := w.describe(nil, 0)
	if len(shards) != 1 || shards[0].SequenceNumberRange.EndingSequenceNumber != nil {
		t.Errorf("%d shards shown, the first ends at %v", len(shards), shards[0].SequenceNumberRange.EndingSequenceNumber)
	}
	w.fake.Advance(31 * time.Second)
	shards, _ = w.describe(nil, 0)
	kids, _ := w.describe(childrenOf(root), 0)
	if len(shards) != 2 || len(kids) != 1 || *kids[0].ShardId != child {
		t.Errorf("after the lag: %v, children %v", names(shards), names(kids))
	}
	for _, s := range shards {
		if closed := s.SequenceNumberRange.EndingSequenceNumber != nil; closed != (*s.ShardId == root) {
			t.Errorf("%s: closed is %v", *s.ShardId, closed)
		}
	}
}

func TestDisabledAndEnabledAgain(t *testing.T) {
	t.Parallel()
	w := setup(t, streamstest.Options{})
	w.put("a", 1)
	w.table.DisableStream()
	w.put("a", 2) // nobody sees it
	old := w.arn
	w.arn = w.table.EnableStream(streamstest.KeysOnly)
	w.put("a", 3)
	if old == w.arn {
		t.Fatal("the ARN stayed")
	}
	list := func(limit int32) (arns []string) {
		in := &dynamodbstreams.ListStreamsInput{TableName: aws.String("orders"), Limit: &limit}
		for {
			out, err := w.client.ListStreams(t.Context(), in)
			must.Succeed(t, err)
			for _, s := range out.Streams {
				arns = append(arns, *s.StreamArn)
			}
			if in.ExclusiveStartStreamArn = out.LastEvaluatedStreamArn; in.ExclusiveStartStreamArn == nil {
				slices.Sort(arns)
				return arns
			}
		}
	}
	for _, limit := range []int32{1, 100} {
		if got := list(limit); !slices.Equal(got, []string{old, w.arn}) {
			t.Errorf("limit %d: %v", limit, got)
		}
	}
	if got := w.read(w.mustIterator(w.table.OpenShards()[0], horizon, "")); len(got) != 1 {
		t.Errorf("the new stream has %d records", len(got))
	}
	w.arn = old
	out, err := w.client.DescribeStream(t.Context(), &dynamodbstreams.DescribeStreamInput{StreamArn: &old})
	must.Succeed(t, err)
	d := out.StreamDescription
	if d.StreamStatus != types.StreamStatusDisabled || len(d.Shards) != 1 || d.Shards[0].SequenceNumberRange.EndingSequenceNumber == nil {
		t.Errorf("%+v", d)
	}
	if got := w.read(w.mustIterator(*d.Shards[0].ShardId, horizon, "")); len(got) != 1 {
		t.Errorf("the old stream has %d records left", len(got))
	}
	w.fake.Advance(25 * time.Hour)
	if got := list(100); len(got) != 1 || got[0] == old {
		t.Errorf("a day later: %v", got)
	}
	_, err = w.client.DescribeStream(t.Context(), &dynamodbstreams.DescribeStreamInput{StreamArn: &old})
	w.is(err, "ResourceNotFoundException")
}
