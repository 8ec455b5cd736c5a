package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"golang.org/x/sync/errgroup"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/catalog"
	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/collect"
	"github.com/keyheat/keyheat/internal/collect/registry"
	"github.com/keyheat/keyheat/internal/config"
	"github.com/keyheat/keyheat/internal/source/shards"
	"github.com/keyheat/keyheat/internal/source/shards/streams"
	"github.com/keyheat/keyheat/sample"
)

// Streams is which tables' DynamoDB Streams are read.
type Streams struct {
	Tables   []string      `yaml:"tables" help:"DynamoDB tables whose streams are read, instead of Kafka, from the oldest record"`
	Consumer string        `yaml:"consumer" help:"the name under which collectors share the shards; a new name reads everything again"`
	Lease    time.Duration `yaml:"lease" help:"how long a silent collector keeps its shards"`
}

// rounds is how often a lease is renewed within its duration, at least.
const rounds = 5

// source returns the configuration of internal/source/shards.
func (s *Streams) source() shards.Config {
	return shards.Config{Tables: s.Tables, Lease: s.Lease, Round: min(shards.DefaultRound, s.Lease/rounds)}
}

func (s *Streams) check(f *config.Faults) {
	if s.Lease < time.Second || s.Lease > 10*time.Minute {
		f.Addf("streams.lease", "%s: give 1s to 10m", s.Lease)
		return
	}
	if err := s.source().Validate(); err != nil {
		f.Addf("streams.tables", "%w", err)
	}
	if strings.TrimSpace(s.Consumer) == "" {
		f.Addf("streams.consumer", "no name: give one, such as keyheat")
	}
}

// wanted reports whether streams are to be read, and not Kafka.
func (s *Streams) wanted() bool { return len(s.Tables) > 0 }

// awsConfig returns what the SDK finds by itself: the region, the endpoint and the
// credentials.
func awsConfig(ctx context.Context) (aws.Config, error) {
	c, err := awsconfig.LoadDefaultConfig(ctx)
	switch {
	case err != nil:
		return c, fmt.Errorf("load the AWS SDK's settings: %w", err)
	case c.Region == "":
		return c, errors.New("no AWS region: set AWS_REGION, or region in the SDK's profile")
	}
	return c, nil
}

// runStreams reads DynamoDB Streams until ctx ends.
func runStreams(ctx context.Context, config *Config, d cli.Daemon) error {
	settings, err := awsConfig(ctx)
	if err != nil {
		return cli.Wrong(err)
	}
	keep := func(ctx context.Context, of sample.Target, facts []byte) error {
		return d.Store.PutTableFacts(ctx, of, facts)
	}
	tables := catalog.New(dynamodb.NewFromConfig(settings), config.Streams.Tables, config.Tables.Schemas(settings.Region), keep, d.Log)
	decoder := func(shard string) collect.Decoder { return tables.Decoder(shards.TableOf(shard)) }
	name := "dynamodb-streams:" + config.Streams.Consumer
	collector, err := newCollector(ctx, config, name, decoder, d)
	if err != nil {
		return err
	}
	from := config.Streams.source()
	from.Known = tables.Known
	source, err := streams.New(from, dynamodbstreams.NewFromConfig(settings), registry.New(d.Store, name, collector.Writer()), d.Log)
	if err != nil {
		return cli.Wrong(err)
	}
	d.Ops.Registry().MustRegister(collector, source)
	d.Ops.Ready("streams", source.Ready)
	d.Ops.Ready("tables", tables.Ready)
	d.Ops.Ready("collect", collector.Ready)
	return collectFrom(ctx, collector, source, func(g *errgroup.Group, ctx context.Context) {
		g.Go(func() error { return tables.Run(ctx) })
	})
}

// streamProbes check each table and the permissions that reading its stream needs,
// one at a time.
func (c *Config) streamProbes() []cli.Probe {
	settings, err := awsConfig(context.Background())
	if err != nil {
		return []cli.Probe{{Name: "aws", Run: func(context.Context) (string, error) { return "", err }}}
	}
	var all []cli.Probe
	for _, table := range c.Streams.Tables {
		all = append(all, c.tableProbes(settings, table)...)
	}
	return all
}

func (c *Config) tableProbes(settings aws.Config, table string) []cli.Probe {
	var described catalog.Table
	var failed error
	all := []cli.Probe{
		{Name: table, Run: func(ctx context.Context) (string, error) {
			described, failed = catalog.Describe(ctx, dynamodb.NewFromConfig(settings), table)
			if _, written := c.Tables.Schemas(settings.Region)[table]; errors.Is(failed, catalog.ErrDenied) && written {
				return fmt.Sprintf("%v; its keys are taken from tables.%s, and the verdict lacks its capacity", failed, table), nil
			}
			return describe(described), failed
		}},
		{Name: table, Run: func(context.Context) (string, error) {
			if failed != nil {
				return "", errors.New("its stream's view type is unknown without dynamodb:DescribeTable")
			}
			return view(described.Facts)
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

// describe describes a table in a sentence.
func describe(t catalog.Table) string {
	keys := "partition key " + strings.Join(t.Facts.PartitionKey, ", ")
	if len(t.Facts.SortKey) > 0 {
		keys += ", sort key " + strings.Join(t.Facts.SortKey, ", ")
	}
	return fmt.Sprintf("the table exists (%s), with the %s and %d global indexes",
		strings.ToLower(strings.ReplaceAll(t.Facts.Billing, "_", " ")), keys, len(t.Facts.Indexes))
}

// view describes what the stream's view type shows. One that shows less is a
// warning only, where no index needs more.
func view(f detect.TableFacts) (string, error) {
	loads := "the write units"
	if len(f.Indexes) > 0 {
		loads = "the write units, and the load on its global indexes,"
	}
	switch {
	case f.Stream == "NEW_AND_OLD_IMAGES":
		return "its stream shows new and old images: every write unit is known", nil
	case f.Stream == "":
		return "", errors.New("it has no enabled stream: enable one with NEW_AND_OLD_IMAGES")
	case f.Stream == "KEYS_ONLY":
		return lacking(f, "its stream shows keys only: writes are counted, %s are unknown; choose NEW_AND_OLD_IMAGES to see them", loads)
	case slices.Contains([]string{"NEW_IMAGE", "OLD_IMAGE"}, f.Stream):
		return lacking(f, "its stream shows one image only (%[2]s): %[1]s of updates are a lower bound; choose NEW_AND_OLD_IMAGES to see all of them", loads, f.Stream)
	}
	return "", fmt.Errorf("its stream has the unknown view type %q", f.Stream)
}

// lacking returns a warning, or an error where the table has indexes, which cannot
// be seen at all.
func lacking(f detect.TableFacts, format string, args ...any) (string, error) {
	text := fmt.Sprintf(format, args...)
	if len(f.Indexes) > 0 {
		return "", errors.New(text)
	}
	return text, nil
}
