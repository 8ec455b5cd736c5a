package main

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awscloudwatch "github.com/aws/aws-sdk-go-v2/service/cloudwatch"

	"github.com/keyheat/keyheat/internal/aws/cloudwatch"
	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/settings/config"
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

func regionClients(settings aws.Config) func(region string) *awscloudwatch.Client {
	return func(region string) *awscloudwatch.Client {
		return awscloudwatch.NewFromConfig(settings, func(o *awscloudwatch.Options) {
			if region != "" {
				o.Region = region
			}
		})
	}
}

func newCloudWatch(ctx context.Context, c *CloudWatch, d cli.Daemon, holder string) (*cloudwatch.Reader, error) {
	settings, err := cli.AWS(ctx)
	if err != nil {
		return nil, cli.Wrong(err)
	}
	clients := regionClients(settings)
	reader, err := cloudwatch.New(c.reader(), func(region string) cloudwatch.API { return clients(region) }, d.Store, holder, d.Log)
	return reader, cli.Wrong(err)
}

// probe checks that the role may read CloudWatch, and returns the cost.
func (c *CloudWatch) probe() cli.Probe {
	return cli.Probe{Name: "cloudwatch", Run: func(ctx context.Context) (string, error) {
		settings, err := cli.AWS(ctx)
		if err != nil {
			return "", err
		}
		if err := cloudwatch.Probe(ctx, regionClients(settings)("")); err != nil {
			return "", fmt.Errorf("read CloudWatch in %s: %w", settings.Region, err)
		}
		return fmt.Sprintf("CloudWatch can be read in %s: about $%.2f a month for each table and index, $%.2f a day more for a table while it has an open incident, $%.0f a month at most",
			settings.Region, c.reader().CostOf(), cloudwatch.CostOpen(), c.MonthlyCost), nil
	}}
}
