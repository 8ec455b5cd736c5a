// Package catalog knows tables by asking DynamoDB for their descriptions: which
// attributes are keys, which global indexes take part in a write, and what the
// verdict needs to know of capacity. It looks again now and then, because an
// index may be added, and its load is to be seen from then on.
package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/change"
)

const (
	// lookEvery is how often a known table is looked at again.
	lookEvery = 5 * time.Minute
	// lookTimeout bounds one look, the SDK's own retries included.
	lookTimeout = 15 * time.Second
)

// Keep stores the facts of a table, as the JSON of detect.TableFacts.
type Keep func(ctx context.Context, table string, facts []byte) error

// Catalog holds the schemas of tables. It is safe for use by many goroutines.
type Catalog struct {
	api        API
	keep       Keep
	log        *slog.Logger
	configured sample.Schemas
	tables     map[string]*entry
}

// entry is one table.
type entry struct {
	schema atomic.Pointer[sample.Schema] // nil while it is not known
	mu     sync.Mutex
	wrong  error
}

// New returns a catalog of these tables, that knows nothing yet. configured are
// the schemas that the operator wrote; they serve where DescribeTable is denied.
func New(api API, tables []string, configured sample.Schemas, keep Keep, log *slog.Logger) *Catalog {
	c := &Catalog{api: api, keep: keep, log: log, configured: configured, tables: make(map[string]*entry)}
	for _, t := range tables {
		c.tables[t] = &entry{wrong: errors.New("its key schema is not known yet")}
	}
	return c
}

// Run looks at the tables until ctx ends: often while something is wrong, and
// now and then for ever.
func (c *Catalog) Run(ctx context.Context) error {
	var all sync.WaitGroup
	for name, e := range c.tables {
		all.Go(func() { c.follow(ctx, name, e) })
	}
	all.Wait()
	return nil
}

// follow looks at one table until ctx ends.
func (c *Catalog) follow(ctx context.Context, table string, e *entry) {
	retry := backoff.NewExponentialBackOff()
	retry.InitialInterval, retry.MaxInterval = time.Second, 30*time.Second
	for ctx.Err() == nil {
		wait := lookEvery
		if err := c.look(ctx, table, e); err != nil && ctx.Err() == nil {
			c.log.Warn("look at a table", "table", table, "error", err)
			wait = retry.NextBackOff()
		} else {
			retry.Reset()
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
	}
}

// look asks for a table once. A schema that is known stays when a later look
// fails.
func (c *Catalog) look(ctx context.Context, table string, e *entry) error {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	described, err := Describe(ctx, c.api, table)
	if err != nil {
		schema, written := c.configured[table]
		if written && errors.Is(err, ErrDenied) {
			e.set(&schema)
			return nil
		}
		if errors.Is(err, ErrDenied) {
			err = fmt.Errorf("%w, or write its keys under tables.%s", err, table)
		}
		e.fail(err)
		return err
	}
	e.set(&described.Schema)
	facts, err := json.Marshal(described.Facts)
	if err != nil {
		return fmt.Errorf("write the facts: %w", err)
	}
	if err := c.keep(ctx, table, facts); err != nil {
		return fmt.Errorf("keep the facts: %w", err)
	}
	return nil
}

func (e *entry) set(s *sample.Schema) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.wrong = nil
	e.schema.Store(s)
}

func (e *entry) fail(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.schema.Load() == nil {
		e.wrong = err
	}
}

// Known says why the records of a table cannot be understood; nil when they can.
func (c *Catalog) Known(table string) error {
	e := c.tables[table]
	if e == nil {
		return errors.New("it is not one of the tables to read")
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.wrong
}

// Ready says which tables are not known, and why, a sentence each.
func (c *Catalog) Ready() []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(c.tables)) {
		if err := c.Known(name); err != nil {
			out = append(out, name+": "+err.Error())
		}
	}
	return out
}

// Decoder decodes the stream records of one table by what is known of it at that
// moment. It is for one goroutine.
type Decoder struct {
	table   string
	entry   *entry
	schema  *sample.Schema // that of decoder
	decoder *change.Decoder
}

// Decoder returns a decoder of a table's stream records.
func (c *Catalog) Decoder(table string) *Decoder {
	e := c.tables[table]
	if e == nil {
		e = &entry{} // its records are refused, and counted
	}
	return &Decoder{table: table, entry: e, decoder: change.NewDecoder(nil)}
}

// Decode hands out what a message holds.
func (d *Decoder) Decode(message []byte, at int64, h sample.Handler) {
	if s := d.entry.schema.Load(); s != d.schema {
		d.schema, d.decoder = s, change.NewDecoder(sample.Schemas{d.table: *s})
	}
	d.decoder.Decode(message, at, h)
}
