package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"github.com/keyheat/keyheat/internal/aws/catalog"
	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/collect"
	"github.com/keyheat/keyheat/internal/settings/config"
	"github.com/keyheat/keyheat/internal/source/shards"
	"github.com/keyheat/keyheat/internal/source/shards/streams"
	"github.com/keyheat/keyheat/sample"
)

// Streams is the input of tables whose DynamoDB Streams are read.
type Streams struct {
	Tables   []string `yaml:"tables" help:"the DynamoDB tables whose streams are read, beside Kafka or alone, from the oldest record"`
	Consumer string   `yaml:"consumer" help:"the name under which collectors share the stream shards; a new name reads everything again"`
}

// source returns the configuration of internal/source/shards.
func (s *Streams) source() shards.Config { return shards.Config{Tables: s.Tables} }

func (s *Streams) check(f *config.Faults) {
	if err := s.source().Validate(); err != nil {
		f.Addf("streams.tables", "%w", err)
	}
	if strings.TrimSpace(s.Consumer) == "" {
		f.Addf("streams.consumer", "no name: give one, such as keyheat")
	}
}

func (s *Streams) name() string { return "streams" }

func (s *Streams) isConfigured() bool { return len(s.Tables) > 0 }

func (s *Streams) open(ctx context.Context, config *Config, d cli.Daemon) (*reading, error) {
	settings, err := cli.AWS(ctx)
	if err != nil {
		return nil, cli.Wrong(err)
	}
	keep := func(ctx context.Context, of sample.Target, facts []byte) error {
		return d.Store.PutTableFacts(ctx, of, facts)
	}
	tables := catalog.New(dynamodb.NewFromConfig(settings), s.Tables, config.Tables.Schemas(settings.Region), keep, d.Log)
	decoder := func(shard string) collect.Decoder { return tables.Decoder(shards.TableOf(shard)) }
	name := "dynamodb-streams:" + s.Consumer
	collector, err := newCollector(ctx, config, s, name, decoder, d)
	if err != nil {
		return nil, err
	}
	from := s.source()
	from.Name, from.Member, from.Known = name, collector.Writer(), tables.Check
	_, from.MemoryBytes, _ = config.share()
	source, err := streams.New(from, dynamodbstreams.NewFromConfig(settings), d.Store, d.Log)
	if err != nil {
		return nil, cli.Wrong(err)
	}
	d.Ops.Ready("streams", source.Ready)
	d.Ops.Ready("tables", tables.Ready)
	apply := func(next *Config) error {
		collector.Reconfigure(decoder, next.Hider(next.Keys), next.Tables.Targets())
		return nil
	}
	return &reading{collector: collector, from: source, metrics: source, beside: tables.Run, apply: apply}, nil
}

// live implements input. Of tables, only the hiding of keys is live: the keys that the
// catalog has looked up stay. A collector has no use for a suffix.
func (s *Streams) live(path string, _ *Config) bool {
	return strings.HasPrefix(path, "tables.") && slices.ContainsFunc([]string{".keys", ".positions", ".suffix"}, func(name string) bool {
		return strings.HasSuffix(path, name)
	})
}

// probes implements input: each table, and the permissions that reading its stream
// needs, one at a time.
func (s *Streams) probes(c *Config) []cli.Probe {
	settings, err := cli.AWS(context.Background())
	if err != nil {
		return []cli.Probe{{Name: "aws", Run: func(context.Context) (string, error) { return "", err }}}
	}
	var all []cli.Probe
	for _, table := range s.Tables {
		all = append(all, tableProbes(c, settings, table)...)
	}
	return all
}

func tableProbes(c *Config, settings aws.Config, table string) []cli.Probe {
	var described catalog.Table
	var failed error
	all := []cli.Probe{
		{Name: table, Run: func(ctx context.Context) (string, error) {
			described, failed = catalog.Describe(ctx, dynamodb.NewFromConfig(settings), table)
			if _, written := c.Tables.Schemas(settings.Region)[table]; errors.Is(failed, catalog.ErrDenied) && written {
				return fmt.Sprintf("%v; its keys are taken from tables.%s, and the verdict lacks its capacity", failed, table), nil
			}
			return described.String(), failed
		}},
		{Name: table, Run: func(context.Context) (string, error) {
			if failed != nil {
				return "", errors.New("its stream's view type is unknown without dynamodb:DescribeTable")
			}
			return described.StreamView()
		}},
	}
	probe := streams.NewProbe(dynamodbstreams.NewFromConfig(settings), table)
	for _, operation := range streams.Operations() {
		all = append(all, cli.Probe{Name: table, Run: func(ctx context.Context) (string, error) {
			return "dynamodb:" + operation + " is allowed", probe.Try(ctx, operation)
		}})
	}
	return all
}
