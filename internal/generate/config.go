// Package generate makes synthetic DynamoDB traffic as samples, in the order
// of event time: many keys under a Zipf law, and in them, planted, the
// hot keys that Keyheat is to find. It serves load tests, and users who want to
// see a finding before they connect real traffic. [Copy] writes the samples to a [Sink], as fast
// as possible or in real time.
//
// All of it follows from a Config: the same Config gives the same records,
// byte for byte. (Between processor architectures the Zipf law may round
// differently.) Requests of one kind are spaced evenly, so a planted load is
// exact in every whole second from its beginning; sampling then keeps each
// request with the probability Rate, independently.
package generate

import (
	"errors"
	"fmt"
	"time"

	"github.com/keyheat/keyheat/sample"
)

// Config describes generated traffic.
type Config struct {
	// Seed decides everything that is drawn at random.
	Seed uint64
	// Start is the event time of the first request, in whole milliseconds.
	Start    time.Time
	Duration time.Duration
	// Rate is the share of requests that are sampled, in (0,1].
	Rate       float64
	Background Background
	// Hot are keys with a load of their own.
	Hot []HotKey
	// Callers are the services that send the requests, each as often as it is in the list;
	// none without one.
	Callers []string
}

// Background is many keys, the i-th most frequent of them having a share
// proportional to 1/i^Exponent of its table's requests.
type Background struct {
	// Tables share the requests evenly.
	Tables []string
	// Names begin the keys of each table: merchant makes merchant#1. The default is id.
	Names []string
	// Requests is how many requests are made in each second, over all tables.
	Requests int64
	// Keys is how many keys each table has, up to MaxKeys.
	Keys int
	// Exponent is Zipf's, 0 for keys of equal frequency.
	Exponent float64
	// Reads is the share of requests that read, in [0,1].
	Reads float64
}

// HotKey is a key with a planted load.
type HotKey struct {
	// Table and Index are where the key is; without an Index, in the table.
	Table, Index string
	PK           string
	// Layout, if set, names the key after the time of each request, in package time's notation
	// and UTC, in place of PK: every day, or every hour, has a new hot key.
	Layout string
	// WCU and RCU are the load in whole units a second. Each write is an
	// UpdateItem of one unit, each read a Query of one: strongly consistent, or,
	// on an Index, eventually.
	WCU, RCU int64
	// Rising makes each write one of a new item, whose sort key rises with time. So does a
	// Layout.
	Rising bool
	// Item, if set, is the sort key of an item of so many Bytes: each read is a GetItem of it.
	Item  string
	Bytes int64
	// After is when the load begins, from Start. For is how long it lasts, 0
	// until the end.
	After, For time.Duration
}

// maxKeys bounds the keys of a background table; each takes eight bytes.
const maxKeys = 10_000_000

// maxPerSecond bounds each kind of request, so that event time stays exact.
const maxPerSecond = 1_000_000_000

// Default is traffic with something to find: about 2,000 requests a second on three
// tables without a hot key among them, a key hot by writes, one hot by reads,
// a hot key of an index, and today's date.
func Default(start time.Time, d time.Duration) Config {
	return Config{
		Seed: 1, Start: start, Duration: d, Rate: 1,
		Background: Background{
			Tables:   []string{"orders", "customers", "events"},
			Requests: 2000, Keys: 100_000, Exponent: 1.01, Reads: 0.7,
		},
		Hot: []HotKey{
			{Table: "orders", PK: "merchant#7", WCU: 1500},
			{Table: "customers", PK: "settings#global", RCU: 4000},
			{Table: "orders", Index: "by-status", PK: "OPEN", WCU: 1200},
			{Table: "events", Layout: time.DateOnly, WCU: 1100},
		},
	}
}

func (c *Config) validate() error {
	switch {
	case c.Start.IsZero():
		return errors.New("start is missing: give the event time of the first request")
	case c.Duration <= 0:
		return fmt.Errorf("duration is %s: give how much event time to fill", c.Duration)
	case !(c.Rate >= sample.MinRate && c.Rate <= 1):
		return fmt.Errorf("sampling rate is %g: give a share in (0,1], 1 for every request", c.Rate)
	}
	if err := c.Background.validate(); err != nil {
		return fmt.Errorf("background: %w", err)
	}
	for i, h := range c.Hot {
		if err := h.validate(); err != nil {
			return fmt.Errorf("hot key %d: %w", i+1, err)
		}
	}
	return nil
}

func (b *Background) validate() error {
	switch {
	case b.Requests == 0:
		return nil
	case len(b.Tables) == 0:
		return errors.New("no tables: name at least one, or make 0 requests a second")
	case b.Keys < 1 || b.Keys > maxKeys:
		return fmt.Errorf("%d keys a table: give 1 to %d", b.Keys, maxKeys)
	}
	err := checkPerSecond("requests", b.Requests)
	for _, table := range b.Tables {
		err = errors.Join(err, checkName("table", table))
	}
	return err
}

func (h *HotKey) validate() error {
	switch {
	case h.PK == "" && h.Layout == "":
		return errors.New("no pk: give the key")
	case h.WCU == 0 && h.RCU == 0:
		return errors.New("no load: give write or read units a second")
	case h.After < 0 || h.For < 0:
		return errors.New("negative time: give how long after the start it begins, and how long it lasts")
	}
	err := errors.Join(checkName("table", h.Table), checkPerSecond("write units", h.WCU), checkPerSecond("read units", h.RCU))
	if h.Index != "" {
		err = errors.Join(err, checkName("index", h.Index))
	}
	return err
}

func checkName(what, name string) error {
	if name == "" || !sample.IsName(name) {
		return fmt.Errorf("%s %.300q: a name has %s", what, name, sample.NameRule)
	}
	return nil
}

func checkPerSecond(what string, n int64) error {
	if n < 0 || n > maxPerSecond {
		return fmt.Errorf("%d %s a second: give 0 to %d", n, what, int64(maxPerSecond))
	}
	return nil
}
