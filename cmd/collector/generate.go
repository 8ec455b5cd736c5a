package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/cli/terminal"
	"github.com/keyheat/keyheat/internal/generate"
	"github.com/keyheat/keyheat/internal/settings/format"
	"github.com/keyheat/keyheat/sample"
)

// generated are the flags of generate.
type generated struct {
	traffic      generate.Config
	start, trace string
	hot, rolling []string

	perSecond int

	out, topic  string
	brokers     []string
	partitionBy string
	format      string
	realTime    bool
}

func generateCommand() *cobra.Command {
	g := generated{traffic: generate.Default(time.Time{}, time.Minute)}
	c := &cobra.Command{
		Use:   "generate",
		Short: "Generate seeded traffic, or replay a key trace, into a file or Kafka",
		Long: "Writes samples of synthetic DynamoDB traffic: hot keys among many keys under a Zipf law.\n" +
			"Equal flags with an equal --start give equal samples, byte for byte. With --trace it\n" +
			"replays a recorded key trace instead. Delivery to Kafka is at least once.",
		Example: "  collector generate --duration 10m --out samples.ndjson.zst\n" +
			"  collector generate --brokers localhost:9092 --topic samples --pace --hot orders:OPEN:wcu=4000,after=10s,for=30s",
		Args: cobra.NoArgs,
	}
	g.addFlags(c)
	c.RunE = func(c *cobra.Command, _ []string) error { return g.run(c) }
	return c
}

func (g *generated) addFlags(c *cobra.Command) {
	f, t := c.Flags(), &g.traffic
	f.StringVar(&g.out, "out", generate.Stdout, "the `file` to write NDJSON to; .gz and .zst are compressed")
	f.StringSliceVar(&g.brokers, "brokers", nil, "host:port of Kafka's brokers, instead of a file")
	f.StringVar(&g.topic, "topic", "", "the Kafka topic; it must exist")
	f.StringVar(&g.partitionBy, "partition-by", string(generate.ByKey), "key keeps a key's samples in one partition, random spreads them")
	f.StringVar(&g.format, "format", string(format.Keyheat), "the format of messages: keyheat, with one sample each, or keyheat-protobuf, with many")
	f.BoolVar(&g.realTime, "pace", false, "generate in real time instead of as fast as possible")

	f.Uint64Var(&t.Seed, "seed", t.Seed, "the seed of all randomness")
	f.StringVar(&g.start, "start", "", "event `time` of the first sample, RFC 3339 (default now)")
	f.DurationVar(&t.Duration, "duration", t.Duration, "how much event time to fill")
	f.Float64Var(&t.Rate, "rate", t.Rate, "share of the requests that are sampled, above 0 up to 1")
	f.StringSliceVar(&t.Background.Tables, "tables", t.Background.Tables, "tables of the background traffic")
	f.Int64Var(&t.Background.Requests, "requests", t.Background.Requests, "background requests a second, over all tables")
	f.IntVar(&t.Background.Keys, "keys", t.Background.Keys, "partition keys of each background table")
	f.StringArrayVar(&g.hot, "hot", nil, "a hot key as `TABLE[/INDEX]:KEY:LOAD`, with a load such as wcu=N,rcu=N,after=D,for=D; replaces the default ones")
	f.StringArrayVar(&g.rolling, "rolling", nil, "a key named after today, or this hour, as `TABLE:wcu=N[,hourly]`; replaces the default one")
	f.StringVar(&g.trace, "trace", "", "a zstd-compressed key trace `file` to replay instead of synthetic traffic")
	f.IntVar(&g.perSecond, "per-second", 200_000, "accesses of the trace in one second of event time")
	c.MarkFlagsRequiredTogether("brokers", "topic")
	c.MarkFlagsMutuallyExclusive("out", "brokers")
	for _, synthetic := range []string{"duration", "rate", "tables", "requests", "keys", "hot", "rolling"} {
		c.MarkFlagsMutuallyExclusive("trace", synthetic)
	}
}

func (g *generated) run(c *cobra.Command) (err error) {
	if err := g.complete(c); err != nil {
		return cli.Wrong(err)
	}
	records, done, err := g.records()
	if err != nil {
		return cli.Wrong(err)
	}
	defer func() { err = errors.Join(err, done()) }()
	to, err := g.open(c.OutOrStdout())
	if err != nil {
		return cli.Wrong(err)
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	options := generate.CopyOptions{RealTime: g.realTime}
	if terminal.Is(c.ErrOrStderr()) {
		options.Progress = c.ErrOrStderr()
	}
	return g.copy(c.Context(), records, to, options)
}

func (g *generated) copy(ctx context.Context, records iter.Seq2[sample.Record, error], to generate.Sink, o generate.CopyOptions) error {
	if _, err := generate.Copy(ctx, records, to, o); err != nil {
		return fmt.Errorf("generate: %w", err)
	}
	return nil
}

// complete parses the flags that are more than a number.
func (g *generated) complete(c *cobra.Command) error {
	g.traffic.Start = time.Now().Truncate(time.Millisecond)
	if g.start != "" {
		start, err := time.Parse(time.RFC3339Nano, g.start)
		if err != nil {
			return fmt.Errorf("--start %q: write RFC 3339, such as 2026-11-21T09:00:00Z", g.start)
		}
		g.traffic.Start = start
	}
	if c.Flags().Changed("hot") || c.Flags().Changed("rolling") {
		g.traffic.Hot, g.traffic.Rolling = nil, nil
	}
	for _, text := range g.hot {
		key, err := parseHot(text)
		if err != nil {
			return fmt.Errorf("--hot %q: %w", text, err)
		}
		g.traffic.Hot = append(g.traffic.Hot, key)
	}
	for _, text := range g.rolling {
		key, err := parseRolling(text)
		if err != nil {
			return fmt.Errorf("--rolling %q: %w", text, err)
		}
		g.traffic.Rolling = append(g.traffic.Rolling, key)
	}
	return nil
}

// records returns the samples to write, and a function that closes their source.
func (g *generated) records() (_ iter.Seq2[sample.Record, error], done func() error, _ error) {
	if g.trace == "" {
		made, err := generate.Records(g.traffic)
		return withoutErrors(made), func() error { return nil }, err
	}
	file, err := os.Open(g.trace)
	if err != nil {
		return nil, nil, fmt.Errorf("--trace: %w", err)
	}
	laid, err := generate.ReadTrace(file, generate.TraceConfig{
		Start: g.traffic.Start, PerSecond: g.perSecond, Seed: g.traffic.Seed,
	})
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return laid, file.Close, nil
}

// withoutErrors adapts records that cannot fail to an iterator with errors.
func withoutErrors(records iter.Seq[sample.Record]) iter.Seq2[sample.Record, error] {
	return func(yield func(sample.Record, error) bool) {
		for r := range records {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// open returns where the samples go.
func (g *generated) open(stdout io.Writer) (generate.Sink, error) {
	to := generate.KafkaOptions{Brokers: g.brokers, Topic: g.topic, By: generate.Partitioning(g.partitionBy), Seed: g.traffic.Seed}
	switch f := format.Format(g.format); {
	case f != format.Keyheat && f != format.Protobuf:
		return nil, fmt.Errorf("--format %q: give %s or %s", g.format, format.Keyheat, format.Protobuf)
	case f == format.Protobuf && len(g.brokers) == 0:
		return nil, fmt.Errorf("--format %s is for Kafka: give --brokers and --topic", format.Protobuf)
	case f == format.Protobuf:
		return generate.NewBatches(to)
	case len(g.brokers) > 0:
		return generate.NewKafka(to)
	}
	return generate.CreateFile(g.out, stdout)
}
