package streams

import (
	"context"
	"errors"
	"fmt"

	"github.com/keyheat/keyheat/internal/source/shards"
)

// Probe makes each request of a stream's reader once, in the order of [Operations]. Each
// needs the result of the one before.
type Probe struct {
	log      Log
	table    string
	stream   string
	shard    string
	iterator string
}

// Operations returns the permissions needed to read a stream, in the order in which a Probe
// tries them. Their names are IAM's, without "dynamodb:".
func Operations() []string {
	return []string{operations.Streams, operations.Describe, operations.Open, operations.Read}
}

// NewProbe returns a probe of a table that has made no request yet.
func NewProbe(server DynamoDBStreams, table string) *Probe {
	return &Probe{log: Log{server}, table: table}
}

// Try tries one operation. Its error is a sentence with the fault and the remedy.
func (p *Probe) Try(ctx context.Context, operation string) error {
	ctx, cancel := context.WithTimeout(ctx, shards.Default().RequestTimeout)
	defer cancel()
	steps := []struct {
		operation string
		ready     bool
		run       func(context.Context) error
	}{
		{operations.Streams, true, p.list},
		{operations.Describe, p.stream != "", p.describe},
		{operations.Open, p.shard != "", p.open},
		{operations.Read, p.iterator != "", p.read},
	}
	for i, step := range steps {
		switch {
		case step.operation != operation:
			continue
		case !step.ready:
			return fmt.Errorf("dynamodb:%s cannot be tried before dynamodb:%s works", operation, steps[i-1].operation) //nolint:gosec // the first step is always ready
		}
		return step.run(ctx)
	}
	return fmt.Errorf("%s is not an operation of DynamoDB Streams", operation)
}

func (p *Probe) list(ctx context.Context) error {
	var all []string
	for cursor := ""; ; {
		page, next, err := p.log.Streams(ctx, p.table, cursor)
		if err != nil {
			return err
		}
		all = append(all, page...)
		if cursor = next; cursor == "" {
			break
		}
	}
	all = shards.OrderStreams(all, parts)
	if len(all) == 0 {
		return errors.New("the table has no stream: enable one with NEW_AND_OLD_IMAGES")
	}
	p.stream = all[len(all)-1]
	return nil
}

func (p *Probe) describe(ctx context.Context) error {
	d, err := p.log.Describe(ctx, p.stream, "", "")
	switch {
	case err != nil:
		return err
	case d.Disabled:
		return errors.New("the table's stream is disabled: enable one with NEW_AND_OLD_IMAGES")
	case len(d.Shards) == 0:
		return errors.New("the stream has no shard yet: try again in a minute")
	}
	p.shard = d.Shards[0].ID
	for _, h := range d.Shards { // an open shard is not trimmed meanwhile
		if h.Open {
			p.shard = h.ID
		}
	}
	return nil
}

func (p *Probe) open(ctx context.Context) (err error) {
	p.iterator, err = p.log.Open(ctx, p.stream, p.shard, shards.TrimHorizon)
	return err
}

func (p *Probe) read(ctx context.Context) error {
	_, err := p.log.Read(ctx, p.stream, p.iterator, traits.FewRecords, nil)
	return err
}
