package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"
)

// AWS returns what the SDK finds by itself: the region, the endpoint and the
// credentials.
func AWS(ctx context.Context) (aws.Config, error) {
	c, err := awsconfig.LoadDefaultConfig(ctx)
	switch {
	case err != nil:
		return c, fmt.Errorf("load the AWS SDK's settings: %w", err)
	case c.Region == "":
		return c, errors.New("no AWS region: set AWS_REGION, or region in the SDK's profile")
	}
	return c, nil
}
