package streamstest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/keyheat/keyheat/internal/testsupport/streamstest/model"
)

type keyElement struct{ AttributeName, KeyType string }

// elements returns a key as DescribeTable shows it.
func elements(k model.Key) []keyElement {
	var all []keyElement
	for _, name := range k.Partition {
		all = append(all, keyElement{name, "HASH"})
	}
	for _, name := range k.Sort {
		all = append(all, keyElement{name, "RANGE"})
	}
	return all
}

type describeStream struct {
	StreamArn, ExclusiveStartShardId string
	Limit                            *int
	ShardFilter                      *struct{ Type, ShardId string }
}

type sequenceRange struct {
	StartingSequenceNumber string
	EndingSequenceNumber   string `json:",omitempty"`
}

type shardDescription struct {
	ShardId             string
	ParentShardId       string `json:",omitempty"`
	SequenceNumberRange sequenceRange
	rank                string
}

type streamDescription struct {
	StreamArn, StreamLabel, StreamStatus, StreamViewType, TableName string
	CreationRequestDateTime                                         float64
	KeySchema                                                       []keyElement
	Shards                                                          []shardDescription
	LastEvaluatedShardId                                            string `json:",omitempty"`
}

func (f *Fake) describeStream(in describeStream, call *Call) (any, error) {
	call.Stream = in.StreamArn
	s, err := f.stream(in.StreamArn)
	if err != nil {
		return nil, err
	}
	limit := f.options.PageShards
	if in.Limit != nil {
		if *in.Limit < 1 || *in.Limit > 100 {
			return nil, refuse(codeInvalid, "Limit must be between 1 and 100")
		}
		limit = min(limit, *in.Limit)
	}
	shown := s.shown(f.now())
	if in.ShardFilter != nil {
		if shown, err = s.children(shown, in.ShardFilter.Type, in.ShardFilter.ShardId); err != nil {
			return nil, err
		}
		call.Shard = in.ShardFilter.ShardId
	}
	d := streamDescription{
		StreamArn: s.arn, StreamLabel: s.label, StreamStatus: "ENABLED", StreamViewType: s.view, TableName: s.table,
		CreationRequestDateTime: seconds(s.created), KeySchema: elements(s.key), Shards: []shardDescription{},
	}
	if !s.disabled.IsZero() {
		d.StreamStatus = "DISABLED"
	}
	d.Shards, d.LastEvaluatedShardId = s.pageOf(shown, in.ExclusiveStartShardId, limit)
	return map[string]any{"StreamDescription": d}, nil
}

// shown are the shards that DescribeStream knows by now.
func (s *stream) shown(now time.Time) []shardDescription {
	visible := now.Add(-s.fake.options.Lag)
	var all []shardDescription
	for _, sh := range s.shards {
		if sh.parent != "" && sh.created.After(visible) {
			continue
		}
		d := shardDescription{ShardId: sh.id, ParentShardId: sh.parent, rank: sh.rank}
		d.SequenceNumberRange.StartingSequenceNumber = sequence(sh.start)
		if !sh.closed.IsZero() && !sh.closed.After(visible) {
			d.SequenceNumberRange.EndingSequenceNumber = sequence(sh.end)
		}
		all = append(all, d)
	}
	return all
}

// children are those of one shard. Of a shard that is gone, those that are left
// are still answered (assumed); one that never was is refused.
func (s *stream) children(shown []shardDescription, kind, parent string) ([]shardDescription, error) {
	if kind != "CHILD_SHARDS" {
		return nil, refuse(codeInvalid, "%q is no ShardFilter type", kind)
	}
	if !s.known[parent] {
		return nil, refuse(codeInvalid, "%q is no shard of stream %s", parent, s.arn)
	}
	return slices.DeleteFunc(shown, func(d shardDescription) bool { return d.ParentShardId != parent }), nil
}

// pageOf is the page behind a shard. Pages are in an order that says nothing,
// and stays: shards that come while somebody turns pages may lie before them.
func (s *stream) pageOf(shown []shardDescription, after string, limit int) (page []shardDescription, last string) {
	slices.SortFunc(shown, func(a, b shardDescription) int { return strings.Compare(a.rank, b.rank) })
	if after != "" {
		turned := s.rank(after)
		shown = slices.DeleteFunc(shown, func(d shardDescription) bool { return d.rank <= turned })
	}
	if len(shown) < limit {
		return shown, ""
	}
	// A page that is full says so, also when nothing follows.
	return shown[:limit], shown[limit-1].ShardId
}

// rank is a shard's place in the order of pages, also of one that is gone.
func (s *stream) rank(id string) string {
	return fmt.Sprintf("%08x %s", mix(s.label+id, 0), id)
}

type listStreams struct {
	TableName, ExclusiveStartStreamArn string
	Limit                              *int
}

type streamName struct{ StreamArn, StreamLabel, TableName string }

func (f *Fake) listStreams(in listStreams, call *Call) (any, error) {
	call.Table = in.TableName
	limit := 100
	if in.Limit != nil {
		if *in.Limit < 1 || *in.Limit > 100 {
			return nil, refuse(codeInvalid, "Limit must be between 1 and 100")
		}
		limit = *in.Limit
	}
	all := []streamName{}
	for _, s := range f.streams {
		if in.TableName == "" || in.TableName == s.table {
			all = append(all, streamName{s.arn, s.label, s.table})
		}
	}
	// In no promised order: not by time.
	order := func(arn string) uint64 { return hashOf(model.Item{"arn": model.S(arn)}) }
	slices.SortFunc(all, func(a, b streamName) int {
		if order(a.StreamArn) < order(b.StreamArn) {
			return -1
		}
		return 1
	})
	if in.ExclusiveStartStreamArn != "" {
		all = slices.DeleteFunc(all, func(n streamName) bool { return order(n.StreamArn) <= order(in.ExclusiveStartStreamArn) })
	}
	out := map[string]any{"Streams": all}
	if len(all) >= limit {
		out["Streams"], out["LastEvaluatedStreamArn"] = all[:limit], all[limit-1].StreamArn
	}
	return out, nil
}

func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }
