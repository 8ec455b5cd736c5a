package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awscloudwatch "github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/keyheat/keyheat/internal/analyze/contributorinsights"
	"github.com/keyheat/keyheat/internal/aws/cloudwatch"
	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/settings/config"
	"github.com/keyheat/keyheat/internal/settings/tables"
	"github.com/keyheat/keyheat/sample"
)

// CloudWatch configures the reading of DynamoDB's own metrics.
type CloudWatch struct {
	Enabled     bool          `yaml:"enabled" help:"read DynamoDB's metrics from CloudWatch, which costs money: they show the coverage of the samples and all throttling"`
	Tables      []string      `yaml:"tables" help:"tables to read beside the sampled tables"`
	Every       time.Duration `yaml:"every" help:"the time between two readings of a table, 6 metrics each; with an open incident it is a minute, with 12 metrics"`
	MonthlyCost float64       `yaml:"monthly_cost" help:"budget for GetMetricData, in US dollars a month; beyond it readings are skipped"`
}

// Replacements implements config.Replacer.
func (CloudWatch) Replacements() map[string]string {
	return map[string]string{"publish": "scrape the reporter's /metrics with the CloudWatch agent or ADOT, or send incidents to a receiver of type sns"}
}

func defaultCloudWatch() CloudWatch {
	c := cloudwatch.Default()
	return CloudWatch{Every: c.Every, MonthlyCost: c.MonthlyCost}
}

func (c *CloudWatch) check(f *config.Faults) {
	if err := c.reader().Validate(); err != nil {
		f.Addf("cloudwatch", "%w", err)
	}
}

func (c *CloudWatch) reader() cloudwatch.Config {
	return cloudwatch.Config{Tables: c.Tables, Every: c.Every, MonthlyCost: c.MonthlyCost}
}

func awsProbe(name string, run func(ctx context.Context, settings aws.Config) (string, error)) cli.Probe {
	return cli.Probe{Name: name, Run: func(ctx context.Context) (string, error) {
		settings, err := cli.AWS(ctx)
		if err != nil {
			return "", err
		}
		return run(ctx, settings)
	}}
}

type clients func(region string) *awscloudwatch.Client

func regionClients(settings aws.Config) clients {
	return func(region string) *awscloudwatch.Client {
		return awscloudwatch.NewFromConfig(settings, func(o *awscloudwatch.Options) {
			if region != "" {
				o.Region = region
			}
		})
	}
}

// withClients opens a component with the clients of the environment's settings.
func withClients[C any](ctx context.Context, open func(clients) (C, error)) (component C, err error) {
	settings, err := cli.AWS(ctx)
	if err == nil {
		component, err = open(regionClients(settings))
	}
	return component, cli.Wrong(err)
}

func newCloudWatch(ctx context.Context, c *CloudWatch, d cli.Daemon, holder string) (*cloudwatch.Reader, error) {
	return withClients(ctx, func(clients clients) (*cloudwatch.Reader, error) {
		return cloudwatch.New(c.reader(), func(region string) cloudwatch.API { return clients(region) }, d.Store, holder, d.Log)
	})
}

// probe checks that the role may read CloudWatch, and returns the cost.
func (c *CloudWatch) probe() cli.Probe {
	return awsProbe("cloudwatch", func(ctx context.Context, settings aws.Config) (string, error) {
		if err := cloudwatch.Probe(ctx, regionClients(settings)("")); err != nil {
			return "", fmt.Errorf("read CloudWatch in %s: %w", settings.Region, err)
		}
		return fmt.Sprintf("CloudWatch can be read in %s: about $%.2f a month for each table and index, $%.2f a day more for a table while it has an open incident, $%.0f a month at most",
			settings.Region, c.reader().CostOf(), cloudwatch.CostOpen(), c.MonthlyCost), nil
	})
}

const maxInsightsProbes = 50

// insightsProbes describe Contributor Insights of each named table, and how to count
// throttled keys, which costs little. A reporter does not need it, so these probes never
// fail a check.
func (c *CloudWatch) insightsProbes(known tables.Tables) (probes []cli.Probe) {
	names := slices.Clone(c.Tables)
	for name := range known {
		if of, err := tables.ParseName(name); err == nil {
			names = append(names, of.Table)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	for _, name := range names[:min(len(names), maxInsightsProbes)] {
		probes = append(probes, awsProbe("insights", func(ctx context.Context, settings aws.Config) (string, error) {
			setup, err := contributorinsights.Describe(ctx, dynamodb.NewFromConfig(settings), sample.Target{Table: name})
			if err != nil {
				return fmt.Sprintf("%s in %s: what its Contributor Insights counts is not known: %v", name, settings.Region, err), nil
			}
			return fmt.Sprintf("%s in %s: %s", name, settings.Region, setup.Says()), nil
		}))
	}
	return probes
}
