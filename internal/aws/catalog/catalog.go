// Package catalog asks DynamoDB for descriptions of tables: their key attributes, the
// global indexes that take part in a write, and the capacity facts that the verdict
// needs. It repeats this at intervals, because an index may be added, and its load counts
// from then on. Once, when asked, it checks where DynamoDB places the keys of a table.
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

	"github.com/keyheat/keyheat/internal/daemon"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/change"
)

const (
	// refreshInterval is how often a known table is described again.
	refreshInterval = 5 * time.Minute
	// describeTimeout bounds one description, the SDK's own retries included.
	describeTimeout = 15 * time.Second
)

// putFacts stores the facts of a table, as the JSON of detect.TableFacts.
type putFacts func(ctx context.Context, of sample.Target, facts []byte) error

// Catalog holds the schemas of tables. It is safe for use by many goroutines.
type Catalog struct {
	api        API
	put        putFacts
	log        *slog.Logger
	configured sample.Schemas
	tables     map[string]*entry
}

type entry struct {
	schema atomic.Pointer[sample.Schema] // nil while it is not known
	mu     sync.Mutex
	wrong  error
}

// New returns a catalog of these tables, that knows nothing yet. configured are
// the schemas that the operator wrote; they serve where DescribeTable is denied.
func New(api API, tables []string, configured sample.Schemas, put putFacts, log *slog.Logger) *Catalog {
	c := &Catalog{api: api, put: put, log: log, configured: configured, tables: make(map[string]*entry)}
	for _, t := range tables {
		c.tables[t] = &entry{wrong: errors.New("its key schema is not known yet")}
	}
	return c
}

// Run describes the tables until ctx ends: often while something is wrong, and
// else every few minutes.
func (c *Catalog) Run(ctx context.Context) error {
	var all sync.WaitGroup
	for name, e := range c.tables {
		all.Go(func() { c.follow(ctx, name, e) })
	}
	all.Wait()
	return nil
}

// follow describes one table until ctx ends.
func (c *Catalog) follow(ctx context.Context, table string, e *entry) {
	failing := daemon.NewBackOff(time.Second, 30*time.Second)
	for ctx.Err() == nil {
		wait := refreshInterval
		if err := c.refresh(ctx, table, e); err != nil && ctx.Err() == nil {
			c.log.Warn("describe a table", "table", table, "error", err)
			wait = failing.NextBackOff()
		} else {
			failing.Reset()
		}
		daemon.Pause(ctx, wait)
	}
}

// refresh describes a table once. A known schema stays when a later call fails.
func (c *Catalog) refresh(ctx context.Context, table string, e *entry) error {
	ctx, cancel := context.WithTimeout(ctx, describeTimeout)
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
		return fmt.Errorf("encode the facts: %w", err)
	}
	if err := c.put(ctx, described.Target, facts); err != nil {
		return fmt.Errorf("store the facts: %w", err)
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

// Check returns why the records of a table cannot be understood; nil when they can.
func (c *Catalog) Check(table string) error {
	e := c.tables[table]
	if e == nil {
		return errors.New("it is not one of the tables to read")
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.wrong
}

// Ready returns a sentence with the cause for each unknown table.
func (c *Catalog) Ready() []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(c.tables)) {
		if err := c.Check(name); err != nil {
			out = append(out, name+": "+err.Error())
		}
	}
	return out
}

// Decoder decodes the stream records of one table by its description at that moment. It
// is for one goroutine.
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
		e = &entry{} // its records are bad samples
	}
	return &Decoder{table: table, entry: e, decoder: change.NewDecoder(nil)}
}

// Decode passes a message's samples to the handler.
func (d *Decoder) Decode(message []byte, at int64, h sample.Handler) {
	if s := d.entry.schema.Load(); s != d.schema {
		d.schema, d.decoder = s, change.NewDecoder(sample.Schemas{d.table: *s})
	}
	d.decoder.Decode(message, at, h)
}
