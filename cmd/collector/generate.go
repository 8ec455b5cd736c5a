package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/generate"
	"github.com/keyheat/keyheat/sample/awssdk"
	"github.com/keyheat/keyheat/sample/format"
	"github.com/keyheat/keyheat/sample/kafkasink"
)

// generated are the flags of generate.
type generated struct {
	traffic      generate.Config
	start        string
	hot, rolling []string

	topic, format string
	brokers       []string
	realTime      bool
}

func generateCommand() *cobra.Command {
	g := generated{traffic: generate.Default(time.Time{}, time.Minute)}
	c := &cobra.Command{
		Use:   "generate",
		Short: "Generate seeded traffic, as NDJSON or into Kafka",
		Long: "Writes samples of synthetic DynamoDB traffic: hot keys among many keys under a Zipf law.\n" +
			"They go to standard output, or into Kafka.\n" +
			"Equal flags with an equal --start give equal samples, byte for byte. Delivery to Kafka\n" +
			"is at least once.",
		Example: "  collector generate --duration 10m > samples.ndjson\n" +
			"  collector generate --brokers localhost:9092 --topic samples --pace --hot orders:OPEN:wcu=4000,after=10s,for=30s",
		Args: cobra.NoArgs,
	}
	g.addFlags(c)
	c.RunE = func(c *cobra.Command, _ []string) error { return g.run(c) }
	return c
}

func (g *generated) addFlags(c *cobra.Command) {
	f, t := c.Flags(), &g.traffic
	f.StringSliceVar(&g.brokers, "brokers", nil, "host:port of Kafka's brokers, instead of standard output")
	f.StringVar(&g.topic, "topic", "", "the Kafka topic; it must exist")
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
	c.MarkFlagsRequiredTogether("brokers", "topic")
}

func (g *generated) run(c *cobra.Command) (err error) {
	if err := g.complete(c); err != nil {
		return cli.Wrong(err)
	}
	records, err := generate.Records(g.traffic)
	if err != nil {
		return cli.Wrong(err)
	}
	var to generate.Sink
	switch f := format.Format(g.format); {
	case f != format.Keyheat && f != format.Protobuf:
		return cli.Wrong(fmt.Errorf("--format %q: give %s or %s", g.format, format.Keyheat, format.Protobuf))
	case len(g.brokers) > 0:
		topic := kafkasink.New(kafkasink.Options{Brokers: g.brokers, Topic: g.topic, Protobuf: f == format.Protobuf})
		defer func() { err = errors.Join(err, topic.Close()) }()
		to = topic
	case f == format.Protobuf:
		return cli.Wrong(fmt.Errorf("--format %s is for Kafka: give --brokers and --topic", format.Protobuf))
	default:
		to = awssdk.WriterSink(c.OutOrStdout())
	}
	if _, err := generate.Copy(c.Context(), records, to, g.realTime); err != nil {
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
		g.traffic.Hot = nil
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
		g.traffic.Hot = append(g.traffic.Hot, key)
	}
	return nil
}
