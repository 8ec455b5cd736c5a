package main

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/collect"
	"github.com/keyheat/keyheat/internal/settings/config"
	"github.com/keyheat/keyheat/internal/settings/tables"
	"github.com/keyheat/keyheat/internal/source/kafka"
	"github.com/keyheat/keyheat/sample/format"
	"github.com/keyheat/keyheat/sketch"
)

// Config is everything that an operator may say about a collector.
type Config struct {
	Kafka   Kafka   `yaml:"kafka"`
	Streams Streams `yaml:"streams"`
	HTTP    HTTP    `yaml:"http"`
	tables.FileSection
	Keys    tables.Hashing `yaml:"keys"`
	Store   cli.Store      `yaml:"store"`
	Commit  Commit         `yaml:"commit"`
	Collect Collect        `yaml:"collect"`
	Admin   Admin          `yaml:"admin"`
	Web     cli.Web        `yaml:"web"`
	Log     cli.Log        `yaml:"log"`
}

// Commit is how often summaries are stored.
type Commit struct {
	Interval time.Duration `yaml:"interval" help:"the time between two commits of summaries and positions"`
}

// Collect bounds the memory of a collector.
type Collect struct {
	Memory config.Bytes `yaml:"memory" help:"memory for samples: fetched, decompressed, summarised and waiting to be stored. Each of Kafka, streams and HTTP that is read gets an equal part. Above it reading pauses. The process stays below 1.3 times this and 64MiB"`
	Tables int          `yaml:"tables" help:"the most tables and indexes that a sketch keeps apart between two commits. Tables in these settings, and the three quarters stored first, keep their places. New ones share the rest by user or topic"`
}

// Admin is where the operations server listens.
type Admin struct {
	Listen string   `yaml:"listen" help:"host:port of health, readiness and metrics"`
	Hosts  []string `yaml:"hosts" help:"names by which clients may call the server, beside localhost and IP addresses; another name gets a 421"`
}

func defaults() *Config {
	return &Config{
		Kafka:       Kafka{Group: "keyheat", Format: []string{string(format.Keyheat)}, MaxBatch: kafka.DefaultMaxBatchBytes},
		Streams:     Streams{Consumer: "keyheat"},
		FileSection: tables.DefaultFile(),
		Commit:      Commit{Interval: collect.Default().CommitInterval},
		Collect:     Collect{Memory: 128 << 20, Tables: sketch.DefaultTables},
		Admin:       Admin{Listen: "127.0.0.1:9461"},
		Log:         cli.DefaultLog(),
	}
}

// Check implements config.Checker.
func (c *Config) Check(f *config.Faults) {
	inputs := c.inputs()
	for _, i := range inputs {
		i.check(f)
	}
	c.FileSection.Check(f)
	c.CheckHiding(c.Keys, f)
	c.Store.Check(f)
	c.Collect.check(len(inputs), f)
	if c.Commit.Interval < 100*time.Millisecond || c.Commit.Interval > time.Minute {
		f.Addf("commit.interval", "%s: give 100ms to 1m", c.Commit.Interval)
	}
	c.Web.Check("admin.listen", c.Admin.Listen, f)
	c.checkSenders(f)
	c.Log.Check(f)
}

func (c *Collect) check(inputs int, f *config.Faults) {
	if err := (sketch.Config{Tables: c.Tables}).Validate(); c.Tables < 1 || err != nil {
		f.Addf("collect.tables", "%d: give 1 to 65535", c.Tables)
	}
	if least := inputs * 16; int(c.Memory) < least<<20 {
		f.Addf("collect.memory", "too little for one second of samples: give at least %dMiB", least)
	}
}

// sketchBytes is about the memory of one sketch's live seconds: see sketch.NewShard.
const sketchBytes = sketch.SecondsInRing * (sketch.DefaultCounterBytes + sketch.DefaultSets<<10)

// share divides the memory of one input, whose share is fixed: an input whose source or
// partitions hang holds no memory of the other. A sketch for each core takes its fixed
// size, at most a quarter of the share together. Half of the rest holds records that are
// read and not yet counted, the other half samples that wait to be stored. So neither
// blocks the other, and a full half pauses reading.
func (c *Config) share() (shards int, reading, pending int64) {
	live, all := int64(sketchBytes), int64(c.Collect.Memory)/int64(len(c.inputs()))
	shards = int(max(1, min(int64(runtime.GOMAXPROCS(0)), all/4/live)))
	rest := all - int64(shards)*live
	return shards, rest / 2, min(rest/2, collect.MaxPendingBytes)
}

// input is a section of the configuration that names a source.
type input interface {
	name() string
	// isConfigured reports whether it is to be read.
	isConfigured() bool
	check(f *config.Faults)
	// probes check the servers and rights that reading needs.
	probes(c *Config) []cli.Probe
	// open makes the reader. It sends no request yet.
	open(ctx context.Context, c *Config, d cli.Daemon) (*reading, error)
	// live reports whether a setting of next takes effect without a restart, beside the
	// settings of every input.
	live(path string, next *Config) bool
}

// inputs are the configured inputs: Kafka if there is none.
func (c *Config) inputs() (all []input) {
	for _, i := range []input{&c.Kafka, &c.Streams, &c.HTTP} {
		if i.isConfigured() {
			all = append(all, i)
		}
	}
	if len(all) == 0 {
		return []input{&c.Kafka}
	}
	return all
}

// live reports whether a setting takes effect in every input that it concerns: a section of
// one input concerns that one alone.
func (c *Config) live(path string, next *Config) bool {
	section, _, _ := strings.Cut(path, ".")
	inputs := c.inputs()
	for _, i := range inputs {
		if i.name() == section {
			return i.live(path, next)
		}
	}
	return !slices.ContainsFunc(inputs, func(i input) bool { return !i.live(path, next) })
}

// probes check the servers that a collector needs.
func (c *Config) probes() (all []cli.Probe) {
	for _, i := range c.inputs() {
		all = append(all, i.probes(c)...)
	}
	return append(all, c.Store.Probe())
}
